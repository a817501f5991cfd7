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

// ServeStdio serves one client that writes messages as lines to in and reads them from
// out. ServeStdio returns nil when in has ended, ctx has ended, or Shutdown was called
// and the running calls are done; the error of out otherwise. At the end of in and of
// ctx running calls are cancelled; other requests that were read are still answered.
//
// ServeStdio does not close in. If it returns before the end of in, one goroutine still
// waits for a read: close in to end it. If out has a SetWriteDeadline, as a net.Conn
// has, a client that reads nothing for 30 s counts as gone.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := &stdioClient{server: s, session: s.sessions.open(OverStdio, Credential{Via: dispatch.CredentialStdio}), out: newLineWriter(out)}
	c.barrier = barrier{requests: &c.session.requests, send: c.out.writeMessage}
	defer s.sessions.close(c.session.id)
	if err := s.mcp.RegisterSession(ctx, c.session.listener); err != nil {
		return err // the id is random, so there is none yet
	}

	var forward sync.WaitGroup
	forward.Go(func() { c.forward(ctx) })
	c.serveMessages(ctx, in)
	// Calls are cancelled now, except during Shutdown, which waits for them.
	select {
	case <-s.sessions.closing:
	default:
		s.sessions.close(c.session.id)
	}
	c.requests.Wait()
	stop()
	forward.Wait()
	return c.out.writeError()
}

// stdioClient is one client of ServeStdio.
type stdioClient struct {
	server   *Server
	session  *session
	out      *lineWriter
	barrier  barrier
	requests sync.WaitGroup // one for each running request
}

// inLine is a line or the error of reading it.
type inLine struct {
	line []byte
	err  error
}

// serveMessages serves messages until in or ctx ends, a write fails, or Shutdown begins.
func (c *stdioClient) serveMessages(ctx context.Context, in io.Reader) {
	lines := make(chan inLine)
	over := make(chan struct{})
	defer close(over)
	go readLines(newLineReader(in, c.server.opts.MaxRequestBytes), lines, over)
	for {
		select {
		case l := <-lines:
			var tooLong *lineTooLong
			switch {
			case l.err == nil:
				c.serveLine(ctx, l.line)
			case errors.As(l.err, &tooLong):
				_ = c.out.writeMessage(rpcError(tooLong.id, wire.CodeInvalidRequest, c.server.tooLarge()))
			default:
				return
			}
		case <-ctx.Done():
			return
		case <-c.out.failed:
			return
		case <-c.server.sessions.closing:
			return
		}
	}
}

// readLines sends the lines of r until it has ended or over is closed.
func readLines(r *lineReader, lines chan<- inLine, over <-chan struct{}) {
	for {
		line, err := r.nextLine()
		select {
		case lines <- inLine{line, err}:
		case <-over:
			return
		}
		if tooLong := (*lineTooLong)(nil); err != nil && !errors.As(err, &tooLong) {
			return
		}
	}
}

// serveLine starts to serve one message. A request that can be cancelled is
// registered before serveLine returns, so a cancellation in the next line finds it.
func (c *stdioClient) serveLine(ctx context.Context, line []byte) {
	m, ok := parseMessage(line)
	if !ok {
		code, text := invalidText(line)
		_ = c.out.writeMessage(rpcError(nil, code, text))
		return
	}
	if m.badID() {
		_ = c.out.writeMessage(rpcError(nil, wire.CodeInvalidRequest, badIDText))
		return
	}
	p, err := parseParams(m.Params)
	if err != nil && m.call() {
		_ = c.out.writeMessage(rpcError(m.ID, wire.CodeInvalidParams, malformedText(m, err)))
		return
	}
	if p.Modern() {
		c.server.sessions.setClientName(c.session.id, p.Meta.ClientInfo)
		c.session.listener.useModern(m)
	}
	switch {
	case m.answer():
		c.session.requests.handleAnswer(m)
	case m.Method == methodCancelled && !m.request():
		if key, ok := requestKey(p.RequestID); ok {
			c.server.sessions.cancel(c.session, key, p.cancelReason())
		}
	case m.call() || m.Method == methodListen && m.request():
		c.start(ctx, line, m, &p)
	case m.request() && m.Method != methodInitialize:
		c.requests.Go(func() { c.handle(ctx, line, m) })
	default:
		// Notifications, initialize and invalid messages are handled before the next
		// line is read.
		c.handle(ctx, line, m)
	}
}

// start starts a request that can be cancelled.
func (c *stdioClient) start(ctx context.Context, line []byte, m message, p *Params) {
	key, _ := requestKey(m.ID) // serveLine rejects a bad ID
	ctx, cancel := context.WithCancelCause(ctx)
	table := c.server.sessions
	switch err := table.begin(c.session, key, task{cancel: cancel, stream: m.Method == methodListen}); {
	case errors.Is(err, errDuplicateID):
		cancel(nil)
		_ = c.out.writeMessage(rpcError(m.ID, wire.CodeInvalidRequest, duplicateText))
		return
	case err != nil:
		cancel(nil)
		_ = c.out.writeMessage(rpcError(m.ID, wire.CodeInternal, StoppingText))
		return
	}
	c.requests.Go(func() {
		defer table.finish()
		defer cancel(nil)
		if m.call() {
			c.call(ctx, key, m, p)
			return
		}
		defer table.release(c.session, key)
		c.handle(ctx, line, m)
	})
}

// call serves a request for Handler. A client that has cancelled it gets no answer.
func (c *stdioClient) call(ctx context.Context, key string, m message, p *Params) {
	client := c.session.credential.dispatchClient(c.session.publicName(), c.server.sessions.clientInfo(c.session).Name)
	var rep Reply
	var identity json.RawMessage
	if p.Modern() {
		rep, identity = checkModern(p), c.server.opts.Identity
	}
	var last lastWritten
	if rep == nil {
		send := func(message []byte) error {
			err := c.out.writeMessage(message)
			last.set(c.barrier.countWritten(), time.Now())
			return err
		}
		rep = c.server.handler.Serve(ctx, c.server.request(c.session, m, p, client, send))
	}
	least := c.awaitProgressRead(ctx, &last, p.Modern())
	c.server.sessions.release(c.session, key)
	if ctx.Err() != nil {
		rep.Undelivered()
		return
	}
	err := c.out.writePadded(least, func(b *bufio.Writer) { WriteAnswer(b, m.ID, rep, identity) })
	if err != nil {
		rep.Undelivered()
		c.server.opts.Log.Warn().Str("call", rep.CallID()).Str("client", client.String()).Err(err).Msg("result could not be delivered")
	}
}

// lastWritten is the last message of a call before its answer. lastWritten is safe for
// concurrent use.
type lastWritten struct {
	mu     sync.Mutex // guards all fields below
	number uint64     // the barrier's number; 0 if no message was sent
	at     time.Time
}

func (l *lastWritten) set(number uint64, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.number, l.at = number, at
}

func (l *lastWritten) get() (number uint64, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.number, l.at
}

// awaitProgressRead waits until the client has read the last progress of a call, as far as the
// server can detect this. awaitProgressRead returns the least length of the call's answer. A
// call without recent progress does not wait.
func (c *stdioClient) awaitProgressRead(ctx context.Context, last *lastWritten, modern bool) (least int) {
	number, at := last.get()
	switch {
	case number == 0 || time.Since(at) > progressRecent || ctx.Err() != nil:
		return 0
	case modern:
		keepApart(ctx, at)
	case !c.barrier.awaitRead(ctx, number):
		return 0
	}
	return paddedBytes
}

// handle passes a message to mcp-go and writes the answer, if there is one.
func (c *stdioClient) handle(ctx context.Context, line []byte, m message) {
	answer := c.server.passToLibrary(ctx, c.session, m, line)
	if answer == nil || errors.Is(context.Cause(ctx), ErrCancelled) {
		return
	}
	if list, ok := toolListOf(m.ID, answer); ok {
		_ = c.out.write(list.writeTo) // loop detects the failure
		return
	}
	c.send(answer)
}

// forward sends the client its notifications (changed lists and resources, log
// messages).
func (c *stdioClient) forward(ctx context.Context) {
	for ctx.Err() == nil {
		for _, n := range c.session.listener.awaitNotifications(ctx) {
			c.send(n)
		}
	}
}

// send writes a message as JSON.
func (c *stdioClient) send(message any) {
	b, err := json.Marshal(message)
	if err != nil {
		c.server.opts.Log.Error().Err(err).Msg("a message of mcp-go is not JSON")
		return
	}
	_ = c.out.writeMessage(b) // loop detects the failure
}
