package relay

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/rawjson"
)

const (
	// restartTimeout is how long the relay waits for a lost daemon to restart before the
	// relay itself starts a daemon.
	restartTimeout = 500 * time.Millisecond
	// minPollInterval and maxPollInterval limit the interval between two attempts to
	// connect to a daemon while the client has no open request.
	minPollInterval = 50 * time.Millisecond
	maxPollInterval = 2 * time.Second
	// resumeTimeout limits how long a new daemon may take to respond to the repeated
	// initialize request.
	resumeTimeout = 5 * time.Second
	// lastLinesTimeout limits how long the relay reads the last lines of a daemon after the
	// connection is lost.
	lastLinesTimeout = time.Second
	// sessionEndTimeout limits how long the daemon may take to end the session after the client
	// has closed its input.
	sessionEndTimeout = 5 * time.Second
	// connectErrLifetime is how long the error of a failed connection attempt is returned
	// without a new attempt.
	connectErrLifetime = 2 * time.Second
)

// Options are the options of [Run]. All fields except ClientToken are required.
type Options struct {
	Home *home.Home
	In   io.Reader
	Out  io.Writer
	// ClientToken is the token of the MCP client, or empty if the client has none.
	ClientToken string
	// Notef writes a notice for the user, usually to stderr.
	Notef func(format string, args ...any)
}

// Run connects an MCP client to the daemon until the client closes its input or ctx ends.
// Run returns nil if ctx ends, because a client normally closes stdin and then sends
// SIGTERM.
func Run(ctx context.Context, o Options) error {
	r := newRelay(relayEndpoints{
		inputReader: o.In, outWriter: o.Out, notef: o.Notef, startDaemon: o.Home.StartServer,
		connectToDaemon: func(ctx context.Context) (conn, error) {
			client, err := o.Home.Client(ctx)
			if err != nil {
				return nil, err
			}
			stdio, err := client.Stdio(ctx, o.ClientToken)
			if err != nil {
				return nil, err // returning stdio would convert a nil pointer to a non-nil conn
			}
			return stdio, nil
		},
	})
	return r.run(ctx)
}

// The type conn is a connection to the daemon whose write side can be closed separately.
type conn interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// relayEndpoints are the streams of a client, and the functions that connect to a daemon or
// start a daemon.
type relayEndpoints struct {
	inputReader     io.Reader
	outWriter       io.Writer
	notef           func(format string, args ...any)
	connectToDaemon func(context.Context) (conn, error)
	startDaemon     func(context.Context) error
}

// The type relay connects one client to a sequence of daemons.
type relay struct {
	relayEndpoints

	// Only the goroutine that executes relay.run uses the fields from link to
	// lastConnectErrAt.
	link             *daemonLink
	daemonLostAt     time.Time // daemonLostAt is the zero time before the first loss of the daemon
	pollInterval     time.Duration
	lastConnectErr   error
	lastConnectErrAt time.Time

	mu       sync.Mutex // the mutex guards all fields below, and writes to out
	session  sessionState
	writeErr error
}

// daemonLink is one connection to a daemon.
type daemonLink struct {
	conn conn
	done chan struct{}
	// The channel sessionResumed is closed when the daemon has responded to the repeated initialize
	// request, whose ID is resumeRequestID. The channel sessionResumed is nil if no initialize request is
	// repeated.
	sessionResumed  chan struct{}
	resumeRequestID string
	// relayRequestID is the ID of the relay's own requests.
	relayRequestID string
}

func newRelay(e relayEndpoints) *relay {
	return &relay{relayEndpoints: e, pollInterval: minPollInterval, session: newSessionState()}
}

func (r *relay) run(ctx context.Context) error {
	lines := make(chan []byte)
	readerDone := make(chan struct{})
	defer close(readerDone)
	go r.readClient(lines, readerDone)
	// The daemon starts before the client's first request, so that browsers can connect.
	if err := r.connect(ctx, true); err != nil && ctx.Err() == nil {
		r.notef("%s", home.ExplainError(err))
	}
	for ctx.Err() == nil {
		select {
		case line, ok := <-lines:
			if !ok {
				return r.finish(ctx)
			}
			r.forwardLine(ctx, line)
		case <-r.connectionDone():
			r.handleLostConnection(ctx)
		case <-r.nextPollTimer():
			// The client is idle, so the relay looks for a running daemon but does not
			// start one.
			if r.connect(ctx, false) != nil {
				r.pollInterval = min(r.pollInterval*2, maxPollInterval)
			}
		case <-ctx.Done():
		}
		if err := r.clientError(); err != nil {
			return err
		}
	}
	if r.link != nil {
		_ = r.link.conn.Close()
	}
	return nil
}

func (r *relay) connectionDone() <-chan struct{} {
	if r.link == nil {
		return nil
	}
	return r.link.done
}

func (r *relay) nextPollTimer() <-chan time.Time {
	if r.link != nil {
		return nil
	}
	return time.After(r.pollInterval)
}

func (r *relay) readClient(lines chan<- []byte, readerDone <-chan struct{}) {
	defer close(lines)
	in := bufio.NewReaderSize(r.inputReader, 64<<10)
	for isFirstAttempt := true; ; isFirstAttempt = false {
		line, err := readLine(in)
		if isFirstAttempt { // shells of Windows write a byte order mark
			line = rawjson.TrimBOM(line)
		}
		if errors.Is(err, errLineTooLong) {
			r.writeClient(errorLine("null", fmt.Sprintf("the line has more than %d MiB: send less in one message", maxLineBytes>>20)))
			continue
		}
		if len(bytes.TrimSpace(line)) > 0 {
			select {
			case lines <- line:
			case <-readerDone:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *relay) forwardLine(ctx context.Context, line []byte) {
	m := parseMessage(line)
	select {
	case <-r.connectionDone():
		r.handleLostConnection(ctx)
	default:
	}
	if err := r.connect(ctx, m.expectsAnswer()); err != nil {
		switch {
		case ctx.Err() != nil:
		case m.expectsAnswer():
			r.refuseRequests(m.requests, err)
		default: // notifications about the session of the lost daemon are dropped
			r.recordSent(m, line)
		}
		return
	}
	if !r.writeDaemon(ctx, m, line) {
		r.forwardLine(ctx, line)
	}
}

// writeDaemon sends a line to the daemon. If the connection was lost before the daemon
// could read the line, writeDaemon returns false, and the caller can send the line again.
func (r *relay) writeDaemon(ctx context.Context, m rpcMessage, line []byte) bool {
	r.recordSent(m, line)
	n, err := r.link.conn.Write(line)
	if err == nil {
		return true
	}
	isUnsentRequest := n < len(line)-1 && m.expectsAnswer()
	if isUnsentRequest {
		r.mu.Lock()
		r.session.dropUnsentRequests(m)
		r.mu.Unlock()
	}
	r.handleLostConnection(ctx)
	return !isUnsentRequest
}

func (r *relay) recordSent(m rpcMessage, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.session.recordSent(m, line)
}

func (r *relay) refuseRequests(ids []string, err error) {
	reason := home.ExplainError(err)
	r.notef("%s", reason)
	for _, id := range ids {
		r.writeClient(errorLine(id, "opentabs has no server: "+reason))
	}
}

// After the loss of a daemon, handleLostConnection responds to open calls with an error, and repeats all other open requests on
// the next daemon.
func (r *relay) handleLostConnection(ctx context.Context) {
	// The daemon may have sent lines before it closed the connection, so wait until they
	// are read.
	select {
	case <-r.link.done:
	case <-time.After(lastLinesTimeout):
	}
	_ = r.link.conn.Close()
	<-r.link.done
	r.link, r.daemonLostAt, r.pollInterval, r.lastConnectErr = nil, time.Now(), minPollInterval, nil
	r.mu.Lock()
	daemonRequests := r.session.dropDaemonRequests()
	calls := r.session.dropCalls()
	hasOpenCalls := r.session.hasOpenRequests()
	r.mu.Unlock()
	for _, id := range daemonRequests {
		r.writeClient(cancelLine(id))
	}
	for _, id := range calls {
		r.writeClient(errorLine(id, "the opentabs server stopped or restarted while this call ran; its result is lost and it may have taken effect: check the page before you call again"))
	}
	r.notef("the server stopped; it starts again with the next request")
	if !hasOpenCalls {
		return
	}
	if err := r.connect(ctx, true); err != nil && ctx.Err() == nil {
		r.mu.Lock()
		ids := r.session.dropAllRequests()
		r.mu.Unlock()
		r.refuseRequests(ids, err)
	}
}

func (r *relay) connect(ctx context.Context, canStartDaemon bool) error {
	if r.link != nil {
		return nil
	}
	if r.lastConnectErr != nil && time.Since(r.lastConnectErrAt) < connectErrLifetime {
		return r.lastConnectErr
	}
	err := r.connectToRunning(ctx)
	if err == nil || !canStartDaemon || ctx.Err() != nil {
		return err
	}
	if errors.Is(err, httpapi.ErrNoServer) {
		err = r.connectOrStart(ctx)
	}
	if err != nil {
		r.lastConnectErr, r.lastConnectErrAt = err, time.Now()
	}
	return err
}

// connectOrStart waits up to restartTimeout for a daemon that restarts, and then starts a
// new daemon.
func (r *relay) connectOrStart(ctx context.Context) error {
	for time.Since(r.daemonLostAt) < restartTimeout {
		select {
		case <-time.After(minPollInterval):
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := r.connectToRunning(ctx); !errors.Is(err, httpapi.ErrNoServer) {
			return err
		}
	}
	if err := r.startDaemon(ctx); err != nil {
		return err
	}
	return r.connectToRunning(ctx)
}

func (r *relay) connectToRunning(ctx context.Context) error {
	c, err := r.connectToDaemon(ctx)
	if err != nil {
		return err
	}
	link := &daemonLink{conn: c, done: make(chan struct{}), relayRequestID: "relay-" + rand.Text()}
	r.mu.Lock()
	session := r.session.newSessionReplay()
	r.mu.Unlock()
	if session.initialize != nil {
		link.sessionResumed, link.resumeRequestID = make(chan struct{}), session.initializeID
	}
	go r.readDaemon(link)
	if err := link.resume(session); err != nil {
		_ = c.Close()
		<-link.done
		return fmt.Errorf("open the session on the new server: %w", err)
	}
	if session.initialized != nil {
		// After a restart, the new daemon may have other tools and prompts, and has none
		// of the calls of the old daemon.
		r.writeClient(listChangedLine("tools"))
		r.writeClient(listChangedLine("prompts"))
		for _, uri := range session.subscribedURIs {
			r.writeClient(updatedLine(uri))
		}
	}
	r.link, r.lastConnectErr = link, nil
	return nil
}

func (l *daemonLink) resume(session sessionReplay) error {
	if session.initialize != nil {
		if _, err := l.conn.Write(session.initialize); err != nil {
			return err
		}
		select {
		case <-l.sessionResumed:
		case <-l.done:
			return errors.New("the server stopped again")
		case <-time.After(resumeTimeout):
			return errors.New("the server does not respond")
		}
	}
	lines := [][]byte{session.initialized}
	for _, uri := range session.subscribedURIs {
		lines = append(lines, subscribeLine(l.relayRequestID, uri))
	}
	for _, line := range append(lines, session.requests...) {
		if line == nil {
			continue
		}
		if _, err := l.conn.Write(line); err != nil {
			return err
		}
	}
	return nil
}

func (r *relay) readDaemon(link *daemonLink) {
	defer close(link.done)
	in := bufio.NewReaderSize(link.conn, 256<<10)
	isResuming := link.sessionResumed != nil
	relayIDJSON := string(rawjson.Encode(link.relayRequestID))
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		m := parseMessage(line)
		if isResuming && len(m.responseLines) == 1 && m.responseLines[0] == link.resumeRequestID {
			isResuming = false
			close(link.sessionResumed)
			continue
		}
		if len(m.responseLines) == 1 && m.responseLines[0] == relayIDJSON {
			continue
		}
		r.mu.Lock()
		r.session.recordReceived(m, line)
		r.mu.Unlock()
		r.writeClient(line)
	}
}

func (r *relay) writeClient(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writeErr != nil {
		return
	}
	_, r.writeErr = r.outWriter.Write(line)
}

func (r *relay) clientError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writeErr != nil {
		return fmt.Errorf("write to the client: %w", r.writeErr)
	}
	return nil
}

func (r *relay) finish(ctx context.Context) error {
	if r.link == nil {
		return nil
	}
	defer r.link.conn.Close()
	if r.link.conn.CloseWrite() == nil {
		select {
		case <-r.link.done:
		case <-ctx.Done():
		case <-time.After(sessionEndTimeout):
		}
	}
	return r.clientError()
}
