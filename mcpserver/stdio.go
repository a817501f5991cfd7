package mcpserver

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

// ServeStdio serves one client that writes messages as lines to in and reads
// them from out. It returns nil when in has ended, ctx has ended, or Shutdown
// was called and the running calls are done; the error of out otherwise. At the
// end of in and of ctx running calls are cancelled; other requests that were
// read are still answered.
//
// It does not close in. If it returns while in has not ended, one goroutine
// still waits for a read: close in to end it. If out has a SetWriteDeadline, as
// a net.Conn has, a client that reads nothing for 30 s counts as gone.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := &stdioClient{server: s, session: s.sessions.open(transportStdio, Credential{Via: dispatch.ViaStdio}), out: newLineWriter(out)}
	c.barrier = barrier{asks: &c.session.asks, send: c.out.message}
	defer s.sessions.close(c.session.id)
	if err := s.mcp.RegisterSession(ctx, c.session.listener); err != nil {
		return err // the id is random, so there is none yet
	}

	var forward sync.WaitGroup
	forward.Go(func() { c.forward(ctx) })
	c.loop(ctx, in)
	// Another request that was read may still be at work; calls must stop now,
	// unless the server wants to let them end.
	select {
	case <-s.sessions.closing:
	default:
		s.sessions.close(c.session.id)
	}
	c.requests.Wait()
	stop()
	forward.Wait()
	return c.out.failure()
}

// stdioClient is one client of ServeStdio.
type stdioClient struct {
	server   *Server
	session  *session
	out      *lineWriter
	barrier  barrier
	requests sync.WaitGroup // one for each request that is at work
}

// inLine is a line as it was read, or why there is none.
type inLine struct {
	line []byte
	err  error
}

// loop takes messages until there are no more or nobody wants answers.
func (c *stdioClient) loop(ctx context.Context, in io.Reader) {
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
				c.take(ctx, l.line)
			case errors.As(l.err, &tooLong):
				_ = c.out.message(rpcError(tooLong.id, wire.CodeInvalidRequest, c.server.tooLarge()))
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
		line, err := r.next()
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

// take begins to serve one message. What can be cancelled is noted before take
// returns, so that a cancel in the next line finds it.
func (c *stdioClient) take(ctx context.Context, line []byte) {
	m, ok := parseMessage(line)
	if !ok {
		code, text := nonsense(line)
		_ = c.out.message(rpcError(nil, code, text))
		return
	}
	if m.badID() {
		_ = c.out.message(rpcError(nil, wire.CodeInvalidRequest, badIDText))
		return
	}
	p, err := parseParams(m.Params)
	if err != nil && m.call() {
		_ = c.out.message(rpcError(m.ID, wire.CodeInvalidParams, malformed(m, err)))
		return
	}
	if p.modern() {
		c.server.sessions.describe(c.session.id, p.Meta.ClientInfo)
		c.session.listener.speaksModern(m)
	}
	switch {
	case m.answer():
		c.session.asks.answered(m)
	case m.Method == methodCancelled && !m.request():
		if key, ok := requestKey(p.RequestID); ok {
			c.server.sessions.cancel(c.session, key, p.reason())
		}
	case m.call() || m.Method == methodListen && m.request():
		c.start(ctx, line, m, &p)
	case m.request() && m.Method != methodInitialize:
		c.requests.Go(func() { c.handle(ctx, line, m) })
	default:
		// Notifications, initialize and nonsense are done at once, so that what
		// follows them finds them done.
		c.handle(ctx, line, m)
	}
}

// start begins a request that runs until it is done or cancelled.
func (c *stdioClient) start(ctx context.Context, line []byte, m message, p *params) {
	key, _ := requestKey(m.ID) // take has looked
	ctx, cancel := context.WithCancelCause(ctx)
	table := c.server.sessions
	switch err := table.begin(c.session, key, task{cancel: cancel, stream: m.Method == methodListen}); {
	case errors.Is(err, errDuplicateID):
		cancel(nil)
		_ = c.out.message(rpcError(m.ID, wire.CodeInvalidRequest, duplicateText))
		return
	case err != nil:
		cancel(nil)
		_ = c.out.message(rpcError(m.ID, wire.CodeInternal, stoppingText))
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

// call runs a tools/call or a prompts/get. A client that has cancelled it gets no answer.
func (c *stdioClient) call(ctx context.Context, key string, m message, p *params) {
	client := c.session.credential.client(c.session.public(), c.server.sessions.client(c.session).Name)
	var rep reply
	if p.modern() {
		rep = checkModern(p)
	}
	var last lastWritten
	if rep.code == 0 {
		send := func(message []byte) error {
			err := c.out.message(message)
			last.set(c.barrier.note(), time.Now())
			return err
		}
		q := request{method: m.Method, params: p, client: client, session: c.session, send: send}
		if p.modern() {
			q.held = q.mayHold()
		} else {
			q.elicit = c.session.elicitor(send)
		}
		rep = c.server.serve(ctx, q)
	}
	least := c.separate(ctx, &last, p.modern())
	c.server.sessions.release(c.session, key)
	if ctx.Err() != nil {
		rep.undelivered()
		return
	}
	err := c.out.padded(least, func(b *bufio.Writer) { rep.writeTo(b, m.ID, p.modern(), c.server.info) })
	if err != nil {
		rep.undelivered()
		c.server.opts.Log.Warn().Str("call", rep.callID).Str("client", client.String()).Err(err).Msg("result could not be delivered")
	}
}

// lastWritten is what a call has sent its client last. It is safe for concurrent
// use.
type lastWritten struct {
	mu     sync.Mutex // guards all below
	number uint64     // of the barrier; 0 if nothing was sent
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

// separate waits until the client has read the last progress of a call, as far as
// the server can find out. It returns the least length of the call's answer. A call
// without recent progress does not wait.
func (c *stdioClient) separate(ctx context.Context, last *lastWritten, modern bool) (least int) {
	number, at := last.get()
	switch {
	case number == 0 || time.Since(at) > progressRecent || ctx.Err() != nil:
		return 0
	case modern:
		keepApart(ctx, at)
	case !c.barrier.pass(ctx, number):
		return 0
	}
	return paddedBytes
}

// handle lets mcp-go serve a message and writes its answer, if there is one.
func (c *stdioClient) handle(ctx context.Context, line []byte, m message) {
	answer := c.server.ask(ctx, c.session, m, line)
	if answer == nil || errors.Is(context.Cause(ctx), errCancelled) {
		return
	}
	if list, ok := toolListOf(m.ID, answer); ok {
		_ = c.out.write(list.writeTo) // loop sees the failure
		return
	}
	c.send(answer)
}

// forward writes what the client is told without having asked (list_changed,
// resources that changed).
func (c *stdioClient) forward(ctx context.Context) {
	for ctx.Err() == nil {
		for _, n := range c.session.listener.next(ctx) {
			c.send(n)
		}
	}
}

// send writes a message of mcp-go.
func (c *stdioClient) send(message any) {
	b, err := json.Marshal(message)
	if err != nil {
		c.server.opts.Log.Error().Err(err).Msg("a message of mcp-go is no JSON")
		return
	}
	_ = c.out.message(b) // loop sees the failure
}
