package wsbridge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"

	"opentabs/wire"
)

const (
	// closeTimeout is how long a browser may take to answer a close frame.
	closeTimeout = time.Second
	// requestTimeout is how long a browser may take to answer a request of ours
	// that is not about a run.
	requestTimeout = 30 * time.Second
	// frameTimeout is how long one frame may take to arrive, however steadily.
	frameTimeout = 5 * time.Minute
	// readChunk is how much is read before the link counts as alive again, so
	// that a large frame on a slow link does not look like silence.
	readChunk = 64 << 10
	// keepBuffer is the largest read buffer that is kept for the next frame.
	keepBuffer = 4 << 20
)

var (
	errLinkEnded  = errors.New("the link has ended")
	errNoAnswer   = errors.New("the browser did not answer within 30 s")
	errSlowFrame  = errors.New("a frame did not end within 5 min")
	errNotTextual = errors.New("not a frame: a binary message")
)

// link is one WebSocket connection of a browser.
type link struct {
	hub *Hub
	ws  *websocket.Conn
	raw net.Conn // the connection under ws; closing it ends everything at once
	log zerolog.Logger
	out outbox

	// Set before the handshake: the port that the browser connected to, its nonce
	// and, once the challenge is sent, the server's.
	port         int
	browserNonce string
	serverNonce  string

	// work counts the goroutines of this link; Add only under out.mu while
	// out.closed is false, or by the reader.
	work sync.WaitGroup
	// gone is closed when the link is no longer in use.
	gone     chan struct{}
	goneOnce sync.Once
	// heard is set when something arrives; keepAlive clears it.
	heard atomic.Bool
	// sync, state and plugins hold a token when plugin.sync, state.sync or
	// state.plugins is due.
	sync    chan struct{}
	state   chan struct{}
	plugins chan struct{}

	panelWork atomic.Int32 // requests of the side panel that are under way

	// Guarded by hub.mu: whether hello was answered, and the last state.waiting.
	greeted bool
	waiting int

	mu       sync.Mutex // guards requests, lastID and panel
	requests map[string]chan<- wire.Envelope
	lastID   int
	panel    context.CancelFunc // ends what watches calls for a panel; nil if none does

	// settings are those that the browser was told, as JSON by plugin.
	// syncAdapters alone uses it.
	settings map[string]string

	// The reader alone uses these.
	buf     bytes.Buffer
	garbage int  // frames that made no sense
	stray   int  // reports about runs that are not here
	warned  bool // of stray reports
	told    bool // it has answered a request: the first is plugin.sync
}

func newLink(h *Hub, ws *websocket.Conn, raw net.Conn) *link {
	return &link{
		hub: h, ws: ws, raw: raw, log: h.opts.Log,
		gone:     make(chan struct{}),
		sync:     make(chan struct{}, 1),
		state:    make(chan struct{}, 1),
		plugins:  make(chan struct{}, 1),
		requests: map[string]chan<- wire.Envelope{},
		settings: map[string]string{},
	}
}

// end marks the link as no longer in use.
func (l *link) end() { l.goneOnce.Do(func() { close(l.gone) }) }

func (l *link) ended() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

// kill ends the link at once, without a word to the browser.
func (l *link) kill() {
	l.end()
	_ = l.raw.Close() // its reader sees the error
}

// shut ends the link with a close code and reason (at most 123 bytes). It does
// not wait; the connection is gone after closeTimeout at the latest.
func (l *link) shut(code websocket.StatusCode, reason string) {
	o := &l.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.closed = true
	l.end()
	l.work.Go(func() {
		limit := time.AfterFunc(closeTimeout, func() { _ = l.raw.Close() })
		defer limit.Stop()
		_ = l.ws.Close(code, reason) // closed either way
	})
}

// finish ends the link and waits for its goroutines. The reader calls it last.
func (l *link) finish() {
	l.out.mu.Lock()
	wasShut := l.out.closed
	l.out.closed = true
	l.out.mu.Unlock()
	l.end()
	l.unwatch()
	if !wasShut {
		_ = l.raw.Close()
	}
	l.work.Wait()
	_ = l.ws.CloseNow() // lets the library release its buffers
}

// read returns the next frame, which is valid until the next read.
func (l *link) read() ([]byte, error) {
	// The context never ends: one that ended would close the connection.
	kind, r, err := l.ws.Reader(context.Background())
	if err != nil {
		return nil, err
	}
	if l.buf.Cap() > keepBuffer {
		l.buf = bytes.Buffer{}
	}
	l.buf.Reset()
	if _, err := l.buf.ReadFrom(touching{l, r, time.Now()}); err != nil {
		if errors.Is(err, errSlowFrame) && !l.ended() {
			l.log.Warn().Msg("browser took too long over a frame; closing its link")
		}
		return nil, err
	}
	if kind != websocket.MessageText {
		return nil, errNotTextual
	}
	return l.buf.Bytes(), nil
}

// touching notes that the link is alive while a frame arrives.
type touching struct {
	l     *link
	r     io.Reader
	began time.Time // when the frame began
}

func (t touching) Read(p []byte) (int, error) {
	if time.Since(t.began) > frameTimeout {
		return 0, errSlowFrame
	}
	n, err := t.r.Read(p[:min(len(p), readChunk)])
	t.l.heard.Store(true)
	return n, err
}

// keepAlive ends the link when nothing came for DeadAfter, and pings the
// browser halfway. Silence is counted in whole beats, of four in DeadAfter: a
// process that was held, or a machine that slept, gets one late beat, not a
// link that looks dead while what the browser sent waits to be read. It returns
// when the link has ended.
func (l *link) keepAlive() {
	const pingBeats, deadBeats = 1, 3
	beat := time.NewTicker(l.hub.opts.DeadAfter / 4)
	defer beat.Stop()
	silent := 0
	for {
		select {
		case <-l.gone:
			return
		case <-beat.C:
		}
		silent++
		if l.heard.Swap(false) {
			silent = 0
		}
		switch silent {
		case pingBeats:
			l.post(wire.AppendRequest(nil, pingID, wire.MethodPing, []byte("{}")))
		case deadBeats:
			l.log.Warn().Dur("silent_ms", l.hub.opts.DeadAfter).Msg("browser is silent; closing its link")
			l.kill()
			return
		}
	}
}

// The ids of our own requests. That of a tool.dispatch is the run's id; these
// begin with what no run's id begins with.
const (
	ownID    = "s/"
	pingID   = ownID + "ping"
	cancelID = ownID + "cancel/" // + the run's id
	answerID = ownID + "answer/" // + the ask, a slash and the run's id
)

// request sends a request and waits for its answer, until ctx ends or the link
// does. It must not be called by the reader.
func (l *link) request(ctx context.Context, method wire.Method, params []byte) (wire.Envelope, error) {
	return l.await(ctx, l.ask(method, params))
}

// question is a request that was sent.
type question struct {
	id     string
	answer <-chan wire.Envelope
	at     time.Time
}

// ask sends a request. Whoever asks must await the answer.
func (l *link) ask(method wire.Method, params []byte) question {
	answer := make(chan wire.Envelope, 1)
	l.mu.Lock()
	l.lastID++
	id := ownID + strconv.Itoa(l.lastID)
	l.requests[id] = answer
	l.mu.Unlock()
	l.post(wire.AppendRequest(nil, id, method, params))
	return question{id: id, answer: answer, at: time.Now()}
}

// await waits for the answer to a question, until requestTimeout after it was
// asked, or until ctx ends or the link does.
func (l *link) await(ctx context.Context, q question) (wire.Envelope, error) {
	defer func() {
		l.mu.Lock()
		delete(l.requests, q.id)
		l.mu.Unlock()
	}()
	limit := time.NewTimer(requestTimeout - time.Since(q.at))
	defer limit.Stop()
	select {
	case e := <-q.answer:
		return e, nil
	case <-l.gone:
		return wire.Envelope{}, errLinkEnded
	case <-ctx.Done():
		return wire.Envelope{}, ctx.Err()
	case <-limit.C:
		return wire.Envelope{}, errNoAnswer
	}
}

// answered hands an answer to the request that waits for it; it reports false
// if none does.
func (l *link) answered(e wire.Envelope) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting, ok := l.requests[e.ID]
	if ok {
		delete(l.requests, e.ID)
		e.Result = bytes.Clone(e.Result) // the reader's buffer is used again
		waiting <- e                     // never blocks: room for one, sent once
	}
	return ok
}
