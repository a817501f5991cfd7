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
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := &stdioClient{server: s, session: s.sessions.open(TransportStdio, stdioCredential(ctx)), out: newLineWriter(out)}
	c.readBarrier = readBarrier{requests: &c.session.requests, send: c.out.writeMessage}
	defer s.sessions.closeSession(c.session.id)
	if err := s.library.RegisterSession(ctx, c.session.listener); err != nil {
		return err // this error is impossible, because the session ID is random
	}

	var forwarder sync.WaitGroup
	forwarder.Go(func() { c.forwardNotifications(ctx) })
	c.serveMessages(ctx, in)
	// When in or ctx ends, the client's calls are cancelled, unless a Shutdown has begun,
	// which waits for running calls.
	select {
	case <-s.sessions.shutdownBegun:
	default:
		s.sessions.closeSession(c.session.id)
	}
	c.requests.Wait()
	stop()
	forwarder.Wait()
	return c.out.writeError()
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
	out         *lineWriter
	readBarrier readBarrier
	requests    sync.WaitGroup
}

// readResult contains either a line that was read, or the error because of which no line
// was read.
type readResult struct {
	line []byte
	err  error
}

func (c *stdioClient) serveMessages(ctx context.Context, in io.Reader) {
	lines := make(chan readResult)
	stopReading := make(chan struct{})
	defer close(stopReading)
	go readLines(newLineReader(in, c.server.opts.MaxRequestBytes), lines, stopReading)
	for {
		select {
		case l := <-lines:
			var tooLongErr *lineTooLong
			switch {
			case l.err == nil:
				c.serveLine(ctx, l.line)
			case errors.As(l.err, &tooLongErr):
				_ = c.out.writeMessage(rpcError(tooLongErr.id, wire.CodeInvalidRequest, c.server.tooLargeText()))
			default:
				return
			}
		case <-ctx.Done():
			return
		case <-c.out.writeFailed:
			return
		case <-c.server.sessions.shutdownBegun:
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
		if tooLongErr := (*lineTooLong)(nil); err != nil && !errors.As(err, &tooLongErr) {
			return
		}
	}
}

// A request that can be cancelled is registered before serveLine returns, so that a cancellation in the next line finds
// the request.
func (c *stdioClient) serveLine(ctx context.Context, line []byte) {
	m, ok := parseMessage(line)
	if !ok {
		code, text := invalidMessageText(line)
		_ = c.out.writeMessage(rpcError(nil, code, text))
		return
	}
	if m.hasInvalidID() {
		_ = c.out.writeMessage(rpcError(nil, wire.CodeInvalidRequest, badIDText))
		return
	}
	p, err := parseParams(m.Params)
	if err != nil && m.isForHandler() {
		_ = c.out.writeMessage(rpcError(m.ID, wire.CodeInvalidParams, malformedParamsText(m, err)))
		return
	}
	if p.IsModern() {
		c.server.sessions.setClientName(c.session.id, p.Meta.ClientInfo)
		c.session.listener.useModern(m)
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
		c.requests.Go(func() { c.passToLibrary(ctx, line, m) })
	default:
		// The stdio client handles notifications, initialize and invalid messages before
		// it reads the next line.
		c.passToLibrary(ctx, line, m)
	}
}

func (c *stdioClient) startRequest(ctx context.Context, line []byte, m message, p *Params) {
	key, _ := requestKey(m.ID) // serveLine rejects an invalid ID
	ctx, cancel := context.WithCancelCause(ctx)
	table := c.server.sessions
	switch err := table.beginTask(c.session, key, task{cancel: cancel, isStream: m.Method == methodListen}); {
	case errors.Is(err, errDuplicateID):
		cancel(nil)
		_ = c.out.writeMessage(rpcError(m.ID, wire.CodeInvalidRequest, duplicateIDText))
		return
	case err != nil:
		cancel(nil)
		_ = c.out.writeMessage(rpcError(m.ID, wire.CodeInternal, StoppingText))
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
		c.passToLibrary(ctx, line, m)
	})
}

func (c *stdioClient) serveCall(ctx context.Context, key string, m message, p *Params) {
	client := c.session.credential.dispatchClient(c.session.displayName, c.server.sessions.clientInfo(c.session).Name)
	var reply Reply
	var identity json.RawMessage
	if p.IsModern() {
		reply, identity = checkModernMeta(p), c.server.opts.Identity
	}
	var last lastWritten
	if reply == nil {
		send := func(message []byte) error {
			err := c.out.writeMessage(message)
			last.set(c.readBarrier.countWritten(), time.Now())
			return err
		}
		reply = c.server.handler.Serve(ctx, c.server.newRequest(c.session, m, p, client, send))
	}
	minLength := c.awaitProgressRead(ctx, &last, p.IsModern())
	c.server.sessions.releaseTask(c.session, key)
	if ctx.Err() != nil {
		reply.Undelivered()
		return
	}
	err := c.out.writePadded(minLength, func(b *bufio.Writer) { WriteAnswer(b, m.ID, reply, identity) })
	if err != nil {
		reply.Undelivered()
		c.server.opts.Log.Warn().Str("call", reply.CallID()).Str("client", client.String()).Err(err).Msg("result could not be delivered")
	}
}

// lastWritten records the number and the time of the last progress notification of a
// call. The methods of lastWritten are safe for concurrent use.
type lastWritten struct {
	mu        sync.Mutex // the mutex guards all fields below
	number    uint64     // the field number is what readBarrier.countWritten returned; 0 if no message was sent
	writtenAt time.Time
}

func (l *lastWritten) set(number uint64, writtenAt time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.number, l.writtenAt = number, writtenAt
}

func (l *lastWritten) get() (number uint64, writtenAt time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.number, l.writtenAt
}

// minLength is the minimum length, in bytes, to which awaitProgressRead's caller must pad the answer. Answers without
// recent progress are not delayed.
func (c *stdioClient) awaitProgressRead(ctx context.Context, last *lastWritten, isModern bool) (minLength int) {
	number, writtenAt := last.get()
	switch {
	case number == 0 || time.Since(writtenAt) > recentProgressTime || ctx.Err() != nil:
		return 0
	case isModern:
		waitMinSeparation(ctx, writtenAt)
	case !c.readBarrier.awaitRead(ctx, number):
		return 0
	}
	return paddedAnswerBytes
}

func (c *stdioClient) passToLibrary(ctx context.Context, line []byte, m message) {
	answer := c.server.passToLibrary(ctx, c.session, m, line)
	if answer == nil || errors.Is(context.Cause(ctx), ErrCancelled) {
		return
	}
	if list, ok := toToolList(m.ID, answer); ok {
		_ = c.out.write(list.writeTo) // serveMessages detects the failed write
		return
	}
	c.send(answer)
}

func (c *stdioClient) forwardNotifications(ctx context.Context) {
	for ctx.Err() == nil {
		for _, n := range c.session.listener.awaitNotifications(ctx) {
			c.send(n)
		}
	}
}

func (c *stdioClient) send(message any) {
	b, err := json.Marshal(message)
	if err != nil {
		c.server.opts.Log.Error().Err(err).Msg("a message of mcp-go is not JSON")
		return
	}
	_ = c.out.writeMessage(b) // serveMessages detects the failed write
}
