package transport

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// ServeStdio serves one client over a pair of streams, with one message per line. The
// client writes its messages to the stream in, and reads the server's messages from the
// stream out. ServeStdio returns nil when in or ctx has ended, or when the running calls
// are done after Shutdown. If a write to out fails, ServeStdio returns its error. When in
// or ctx ends, running calls are cancelled, but other requests that were read are still
// answered.
//
// ServeStdio does not close the reader in. If ServeStdio returns before in ends, one
// goroutine is still reading; close in to end this goroutine. If the writer out has a
// method SetWriteDeadline, as a net.Conn has, ServeStdio disconnects a client that reads
// nothing for 30 s.
func (s *Server) ServeStdio(ctx context.Context, inputReader io.Reader, outWriter io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := &stdioClient{server: s, session: s.sessions.open(TransportStdio, stdioCredential(ctx)), outWriter: newLineWriter(outWriter)}
	c.readBarrier = readBarrier{requests: &c.session.requests, sendMessage: c.outWriter.writeMessage}
	defer s.sessions.closeSession(c.session.id)
	if err := s.library.RegisterSession(ctx, c.session.listener); err != nil {
		return err // this error is impossible, because the session ID is random
	}

	var forwarderGroup sync.WaitGroup
	forwarderGroup.Go(func() { c.forwardNotifications(ctx) })
	c.serveMessages(ctx, inputReader)
	// When in or ctx ends, the client's calls are cancelled, unless a Shutdown has begun,
	// which waits for running calls.
	select {
	case <-s.sessions.shutdownStarted:
	default:
		s.sessions.closeSession(c.session.id)
	}
	c.requests.Wait()
	stop()
	forwarderGroup.Wait()
	return c.outWriter.writeError()
}

func stdioCredential(ctx context.Context) Credential {
	if c := contextCredential(ctx); c != (Credential{}) {
		return c
	}
	return Credential{Kind: dispatch.CredentialStdio}
}

// stdioClient is one MCP client that is served by ServeStdio.
type stdioClient struct {
	server      *Server
	session     *session
	outWriter   *lineWriter
	readBarrier readBarrier
	requests    sync.WaitGroup
}

// readResult contains either a line that was read, or the error because of which no line
// was read.
type readResult struct {
	line []byte
	err  error
}

func (c *stdioClient) serveMessages(ctx context.Context, inputReader io.Reader) {
	lines := make(chan readResult)
	stopReading := make(chan struct{})
	defer close(stopReading)
	go readLines(newLineReader(inputReader, c.server.opts.MaxRequestBytes), lines, stopReading)
	for {
		select {
		case l := <-lines:
			var lineTooLongErr *lineTooLong
			switch {
			case l.err == nil:
				c.serveLine(ctx, l.line)
			case errors.As(l.err, &lineTooLongErr):
				_ = c.outWriter.writeMessage(rpcError(lineTooLongErr.id, wire.CodeInvalidRequest, c.server.tooLargeText()))
			default:
				return
			}
		case <-ctx.Done():
			return
		case <-c.outWriter.writeFailed:
			return
		case <-c.server.sessions.shutdownStarted:
			return
		}
	}
}

func readLines(r *lineReader, lines chan<- readResult, stopReading <-chan struct{}) {
	for {
		line, err := r.nextLine()
		select {
		case lines <- readResult{line, err}:
		case <-stopReading:
			return
		}
		if lineTooLongErr := (*lineTooLong)(nil); err != nil && !errors.As(err, &lineTooLongErr) {
			return
		}
	}
}

// A request that can be cancelled is registered before serveLine returns, so that a cancellation in the next line finds
// the request.
func (c *stdioClient) serveLine(ctx context.Context, line []byte) {
	m, ok := parseMessage(line)
	if !ok {
		code, errorText := invalidMessageText(line)
		_ = c.outWriter.writeMessage(rpcError(nil, code, errorText))
		return
	}
	if m.hasInvalidID() {
		_ = c.outWriter.writeMessage(rpcError(nil, wire.CodeInvalidRequest, invalidIDMessage))
		return
	}
	p, err := parseParams(m.Params)
	if err != nil && m.isForHandler() {
		_ = c.outWriter.writeMessage(rpcError(m.ID, wire.CodeInvalidParams, malformedParamsText(m, err)))
		return
	}
	if p.IsModern() {
		c.server.sessions.setClientName(c.session.id, p.Meta.ClientInfo)
		c.session.listener.setModernProtocol(m)
	}
	switch {
	case m.isAnswer():
		c.session.requests.handleAnswer(m)
	case m.Method == methodCancelled && !m.isRequest():
		if key, ok := requestKey(p.RequestID); ok {
			c.server.sessions.cancelTask(c.session, key, p.cancelReason())
		}
	case m.isForHandler() || m.Method == methodListen && m.isRequest():
		c.startRequest(ctx, line, m, &p)
	case m.isRequest() && m.Method != methodInitialize:
		c.requests.Go(func() { c.serveWithMCPGo(ctx, line, m) })
	default:
		// The stdio client handles notifications, initialize and invalid messages before
		// it reads the next line.
		c.serveWithMCPGo(ctx, line, m)
	}
}

func (c *stdioClient) startRequest(ctx context.Context, line []byte, m rpcMessage, p *Params) {
	key, _ := requestKey(m.ID) // serveLine rejects an invalid ID
	ctx, cancel := context.WithCancelCause(ctx)
	table := c.server.sessions
	switch err := table.beginTask(c.session, key, task{cancel: cancel, isStream: m.Method == methodListen}); {
	case errors.Is(err, errDuplicateID):
		cancel(nil)
		_ = c.outWriter.writeMessage(rpcError(m.ID, wire.CodeInvalidRequest, duplicateIDMessage))
		return
	case err != nil:
		cancel(nil)
		_ = c.outWriter.writeMessage(rpcError(m.ID, wire.CodeInternal, ServerStoppingMessage))
		return
	}
	c.requests.Go(func() {
		defer table.finishTask()
		defer cancel(nil)
		if m.isForHandler() {
			c.serveCall(ctx, key, m, p)
			return
		}
		defer table.releaseTask(c.session, key)
		c.serveWithMCPGo(ctx, line, m)
	})
}

func (c *stdioClient) serveCall(ctx context.Context, key string, m rpcMessage, p *Params) {
	client := c.session.credential.dispatchClient(c.session.displayName, c.server.sessions.clientInfo(c.session).Name)
	var reply Reply
	var serverIdentity json.RawMessage
	if p.IsModern() {
		reply, serverIdentity = checkModernMeta(p), c.server.opts.Identity
	}
	var lastWrite lastProgressWrite
	if reply == nil {
		sendMessage := func(notificationJSON []byte) error {
			err := c.outWriter.writeMessage(notificationJSON)
			lastWrite.set(c.readBarrier.nextProgressNumber(), time.Now())
			return err
		}
		reply = c.server.handler.Serve(ctx, c.server.newRequest(c.session, m, p, client, sendMessage))
	}
	minLineBytes := c.awaitProgressRead(ctx, &lastWrite, p.IsModern())
	c.server.sessions.releaseTask(c.session, key)
	if ctx.Err() != nil {
		reply.HandleUndelivered()
		return
	}
	err := c.outWriter.writePadded(minLineBytes, func(b *bufio.Writer) { WriteAnswer(b, m.ID, reply, serverIdentity) })
	if err != nil {
		reply.HandleUndelivered()
		c.server.opts.Log.Warn().Str("call", reply.CallID()).Str("client", client.String()).Err(err).Msg("result could not be delivered")
	}
}

// lastProgressWrite records the number and the time of the last progress notification of a
// call. The methods of lastProgressWrite are safe for concurrent use.
type lastProgressWrite struct {
	mu             sync.Mutex // guards all fields below
	sequenceNumber uint64     // the number that readBarrier.nextProgressNumber returned; 0 if no message was sent
	writtenAt      time.Time
}

func (l *lastProgressWrite) set(sequenceNumber uint64, writtenAt time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sequenceNumber, l.writtenAt = sequenceNumber, writtenAt
}

func (l *lastProgressWrite) get() (sequenceNumber uint64, writtenAt time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sequenceNumber, l.writtenAt
}

// minLineBytes is the minimum length, in bytes, to which awaitProgressRead's caller must pad the answer. Answers without
// recent progress are not delayed.
func (c *stdioClient) awaitProgressRead(ctx context.Context, lastWrite *lastProgressWrite, isModern bool) (minLineBytes int) {
	sequenceNumber, writtenAt := lastWrite.get()
	switch {
	case sequenceNumber == 0 || time.Since(writtenAt) > recentProgressTime || ctx.Err() != nil:
		return 0
	case isModern:
		awaitProgressGap(ctx, writtenAt)
	case !c.readBarrier.awaitPingAnswer(ctx, sequenceNumber):
		return 0
	}
	return paddedAnswerBytes
}

func (c *stdioClient) serveWithMCPGo(ctx context.Context, line []byte, m rpcMessage) {
	response := c.server.serveWithMCPGo(ctx, c.session, m, line)
	if response == nil || errors.Is(context.Cause(ctx), ErrCancelled) {
		return
	}
	if tools, ok := toToolList(m.ID, response); ok {
		_ = c.outWriter.write(tools.writeTo) // serveMessages detects the failed write
		return
	}
	c.sendMessage(response)
}

func (c *stdioClient) forwardNotifications(ctx context.Context) {
	for ctx.Err() == nil {
		for _, n := range c.session.listener.awaitNotifications(ctx) {
			c.sendMessage(n)
		}
	}
}

func (c *stdioClient) sendMessage(message any) {
	b, err := json.Marshal(message)
	if err != nil {
		c.server.opts.Log.Error().Err(err).Msg("a message of mcp-go is not JSON")
		return
	}
	_ = c.outWriter.writeMessage(b) // serveMessages detects the failed write
}
