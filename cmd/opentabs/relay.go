package main

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
)

// The times of a relay.
const (
	// startAfter is how long a lost server may take to come back before the
	// relay starts one: somebody may just be restarting it.
	startAfter = 500 * time.Millisecond
	// pollLeast and pollMost bound the time between two looks for a server
	// while nobody needs it.
	pollLeast = 50 * time.Millisecond
	pollMost  = 2 * time.Second
	// resumePatience is how long a new server may take to open the session anew.
	resumePatience = 5 * time.Second
	// lastWords is how long what a lost server wrote may take to arrive.
	lastWords = time.Second
	// endPatience is how long the server may take to end after the client has.
	endPatience = 5 * time.Second
	// failedFor is how long a failure to get a server is told again without a
	// new attempt.
	failedFor = 2 * time.Second
)

// session is a connection to the server.
type session interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// relayOptions are the relay's surroundings; all are required.
type relayOptions struct {
	in  io.Reader
	out io.Writer
	say func(format string, args ...any)
	// join opens a session with a server that runs, or returns
	// httpapi.ErrNoServer.
	join func(context.Context) (session, error)
	// start starts a server and returns when it can be joined.
	start func(context.Context) error
}

// relay passes lines between a client and the server, and carries the client's
// session over when the server is restarted.
//
// The goroutine of run reads the client's lines and writes to the server;
// another one for each connection writes the server's lines to the client.
type relay struct {
	relayOptions

	// The fields up to mu belong to the goroutine of run.
	link   *relayLink
	lostAt time.Time // when the last link was lost; zero before the first
	poll   time.Duration
	failed error // why the last attempt to get a server failed
	when   time.Time

	mu sync.Mutex // guards all below, and writes to out
	// memory is what a new server has to be told.
	memory sessionMemory
	broken error // the first error of a write to the client
}

// relayLink is one connection to the server.
type relayLink struct {
	conn session
	done chan struct{} // closed when its reader has ended
	// opened is closed when the server has answered the repeated initialize,
	// whose id is swallow; both are nil if nothing is repeated.
	opened  chan struct{}
	swallow string
	// ownID is the id of all requests that the relay makes by itself, whose
	// answers nobody waits for.
	ownID string
}

func newRelay(o relayOptions) *relay {
	return &relay{relayOptions: o, poll: pollLeast, memory: newSessionMemory()}
}

// run relays until the client ends its input or ctx ends, which are no errors.
func (r *relay) run(ctx context.Context) error {
	lines := make(chan []byte)
	gone := make(chan struct{})
	defer close(gone)
	go r.readClient(lines, gone)
	// The server is there before it is needed, so that browsers can connect.
	if err := r.connect(ctx, true); err != nil && ctx.Err() == nil {
		r.say("%s", home.Explain(err))
	}
	for ctx.Err() == nil {
		select {
		case line, ok := <-lines:
			if !ok {
				return r.finish(ctx)
			}
			r.fromClient(ctx, line)
		case <-r.linkDone():
			r.lost(ctx)
		case <-r.nextLook():
			// Nobody waits for a server, so none is started.
			if r.connect(ctx, false) != nil {
				r.poll = min(r.poll*2, pollMost)
			}
		case <-ctx.Done():
		}
		if err := r.writeError(); err != nil {
			return err
		}
	}
	if r.link != nil {
		_ = r.link.conn.Close()
	}
	return nil
}

// linkDone is closed when the link is lost, and nil while there is none.
func (r *relay) linkDone() <-chan struct{} {
	if r.link == nil {
		return nil
	}
	return r.link.done
}

// nextLook fires when it is time to look for a server again; it is nil while
// there is a link.
func (r *relay) nextLook() <-chan time.Time {
	if r.link != nil {
		return nil
	}
	return time.After(r.poll)
}

// readClient hands the client's lines over until its input ends.
func (r *relay) readClient(lines chan<- []byte, gone <-chan struct{}) {
	defer close(lines)
	in := bufio.NewReaderSize(r.in, 64<<10)
	for first := true; ; first = false {
		line, err := boundedLine(in)
		if first { // Windows' shells write a byte order mark
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if errors.Is(err, errLineTooLong) {
			r.toClient(errorLine("null", fmt.Sprintf("the line has more than %d MiB: send less in one message", maxLineBytes>>20)))
			continue
		}
		if len(bytes.TrimSpace(line)) > 0 {
			select {
			case lines <- line:
			case <-gone:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// fromClient passes one line on to the server, which is joined or started if
// need be.
func (r *relay) fromClient(ctx context.Context, line []byte) {
	l := parseLine(line)
	select {
	case <-r.linkDone(): // lost, and not noticed yet
		r.lost(ctx)
	default:
	}
	if err := r.connect(ctx, l.wantsAnswer()); err != nil {
		switch {
		case ctx.Err() != nil:
		case l.wantsAnswer():
			r.refuse(l, err)
		default: // what is told to a server that is gone is of no use to the next
			r.remember(l, line)
		}
		return
	}
	if !r.write(ctx, l, line) {
		r.fromClient(ctx, line)
	}
}

// write sends a line to the server. It reports false if that has gone and
// cannot have read the line, so that the next one may have it.
func (r *relay) write(ctx context.Context, l rpcLine, line []byte) bool {
	r.remember(l, line)
	n, err := r.link.conn.Write(line)
	if err == nil {
		return true
	}
	again := n < len(line)-1 && l.wantsAnswer()
	if again {
		r.mu.Lock()
		r.memory.unsent(l)
		r.mu.Unlock()
	}
	r.lost(ctx)
	return !again
}

func (r *relay) remember(l rpcLine, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.memory.sent(l, line)
}

// refuse answers the requests of a line for which there is no server.
func (r *relay) refuse(l rpcLine, err error) {
	why := home.Explain(err)
	r.say("%s", why)
	for _, id := range l.requests {
		r.toClient(errorLine(id, "opentabs has no server: "+why))
	}
}

// lost ends the link. Calls that ran on it are answered; what can be asked again
// without harm is asked of the next server.
func (r *relay) lost(ctx context.Context) {
	// What the server wrote before it went may still be on its way.
	select {
	case <-r.link.done:
	case <-time.After(lastWords):
	}
	_ = r.link.conn.Close()
	<-r.link.done
	r.link, r.lostAt, r.poll, r.failed = nil, time.Now(), pollLeast, nil
	r.mu.Lock()
	asked := r.memory.takeBack()
	ended := r.memory.dropCalls()
	waiting := r.memory.waiting()
	r.mu.Unlock()
	for _, id := range asked {
		r.toClient([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id +
			`,"reason":"the opentabs server stopped or was restarted"}}` + "\n"))
	}
	for _, id := range ended {
		r.toClient(errorLine(id, "the opentabs server stopped or was restarted while this call ran; its result is lost and it may have taken effect: look, then call again"))
	}
	r.say("the server has gone; it is started again when it is needed")
	if !waiting {
		return
	}
	if err := r.connect(ctx, true); err != nil && ctx.Err() == nil {
		r.mu.Lock()
		ids := r.memory.dropAll()
		r.mu.Unlock()
		r.refuse(rpcLine{requests: ids}, err)
	}
}

// connect makes sure that there is a link. If there is no server it starts one,
// if start is set.
func (r *relay) connect(ctx context.Context, start bool) error {
	if r.link != nil {
		return nil
	}
	if r.failed != nil && time.Since(r.when) < failedFor {
		return r.failed
	}
	err := r.joinOnce(ctx)
	if err == nil || !start || ctx.Err() != nil {
		return err
	}
	if errors.Is(err, httpapi.ErrNoServer) {
		err = r.joinOrStart(ctx)
	}
	if err != nil {
		r.failed, r.when = err, time.Now()
	}
	return err
}

// joinOrStart gives a server that is being restarted a moment, then starts one.
func (r *relay) joinOrStart(ctx context.Context) error {
	for time.Since(r.lostAt) < startAfter {
		select {
		case <-time.After(pollLeast):
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := r.joinOnce(ctx); !errors.Is(err, httpapi.ErrNoServer) {
			return err
		}
	}
	if err := r.start(ctx); err != nil {
		return err
	}
	return r.joinOnce(ctx)
}

// joinOnce opens a link to a server that runs and carries the session over.
func (r *relay) joinOnce(ctx context.Context) error {
	conn, err := r.join(ctx)
	if err != nil {
		return err
	}
	link := &relayLink{conn: conn, done: make(chan struct{}), ownID: "relay-" + rand.Text()}
	r.mu.Lock()
	repeat := r.memory.repeat()
	r.mu.Unlock()
	if repeat.initialize != nil {
		link.opened, link.swallow = make(chan struct{}), repeat.initializeID
	}
	go r.readServer(link)
	if err := resume(link, repeat); err != nil {
		_ = conn.Close()
		<-link.done
		return fmt.Errorf("open the session with the new server: %w", err)
	}
	if repeat.initialized != nil {
		// The new server may have other tools and prompts.
		for _, list := range []string{"tools", "prompts"} {
			r.toClient([]byte(`{"jsonrpc":"2.0","method":"notifications/` + list + `/list_changed"}` + "\n"))
		}
		// Nor has it the calls of the one before.
		for _, uri := range repeat.subscribed {
			r.toClient(updatedLine(uri))
		}
	}
	r.link, r.failed = link, nil
	return nil
}

// resume tells a server what the one before it was told.
func resume(link *relayLink, repeat repetition) error {
	if repeat.initialize != nil {
		if _, err := link.conn.Write(repeat.initialize); err != nil {
			return err
		}
		select {
		case <-link.opened:
		case <-link.done:
			return errors.New("the server has gone again")
		case <-time.After(resumePatience):
			return errors.New("the server does not answer")
		}
	}
	lines := [][]byte{repeat.initialized}
	for _, uri := range repeat.subscribed {
		lines = append(lines, subscribeLine(link.ownID, uri))
	}
	for _, line := range append(lines, repeat.requests...) {
		if line == nil {
			continue
		}
		if _, err := link.conn.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// readServer passes the server's lines on to the client until the link ends.
func (r *relay) readServer(link *relayLink) {
	defer close(link.done)
	in := bufio.NewReaderSize(link.conn, 256<<10)
	resuming := link.opened != nil
	for {
		line, err := in.ReadBytes('\n')
		if err != nil { // what stands before it is a piece of a line
			return
		}
		l := parseLine(line)
		if resuming && len(l.answers) == 1 && l.answers[0] == link.swallow {
			resuming = false
			close(link.opened)
			continue
		}
		if len(l.answers) == 1 && l.answers[0] == string(mustQuote(link.ownID)) {
			continue
		}
		r.mu.Lock()
		r.memory.answered(l, line)
		r.mu.Unlock()
		r.toClient(line)
	}
}

// toClient writes a line to the client.
func (r *relay) toClient(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return
	}
	_, r.broken = r.out.Write(line)
}

func (r *relay) writeError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return fmt.Errorf("write to the client: %w", r.broken)
	}
	return nil
}

// finish tells the server that the client has ended and waits until all that
// is still owed has been written.
func (r *relay) finish(ctx context.Context) error {
	if r.link == nil {
		return nil
	}
	defer r.link.conn.Close()
	if r.link.conn.CloseWrite() == nil {
		select {
		case <-r.link.done:
		case <-ctx.Done():
		case <-time.After(endPatience):
		}
	}
	return r.writeError()
}
