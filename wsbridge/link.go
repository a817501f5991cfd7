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
	// closeTimeout limits how long a browser may take to answer a close frame.
	closeTimeout = time.Second
	// requestTimeout limits how long a browser may take to answer a request
	// that is not about a run.
	requestTimeout = 30 * time.Second
	// frameTimeout limits how long one frame may take to arrive, however
	// steadily.
	frameTimeout = 5 * time.Minute
	// readChunk is how much is read before the link counts as alive again, so
	// that a large frame on a slow link does not look like silence.
	readChunk = 64 << 10
	// keepBuffer is the largest read buffer that is reused for the next frame.
	keepBuffer = 4 << 20
)

var (
	errLinkEnded  = errors.New("the link was closed")
	errNoAnswer   = errors.New("the browser did not answer within 30 s")
	errSlowFrame  = errors.New("a frame was incomplete after 5 min")
	errNotTextual = errors.New("not a frame: a binary message")
)

// link is one WebSocket connection of a browser.
type link struct {
	hub *Hub
	ws  *websocket.Conn
	raw net.Conn // the connection under ws; closing it ends the link at once
	log zerolog.Logger
	out outbox

	// Set before the handshake: the port that the browser connected to and its
	// nonce. The server's nonce is set by challenge.
	port         int
	browserNonce string
	serverNonce  string

	// work counts the goroutines of this link. Call Add only under out.mu while
	// out.closed is false, or from the reader.
	work sync.WaitGroup
	// gone is closed when the link has ended.
	gone     chan struct{}
	goneOnce sync.Once
	// heard is set when bytes arrive; keepAlive clears it.
	heard atomic.Bool
	// sync, state and plugins have a token when plugin.sync, state.sync or
	// state.plugins is due.
	sync    chan struct{}
	state   chan struct{}
	plugins chan struct{}

	panelWork atomic.Int32 // running requests of the side panel

	// Guarded by hub.mu: whether hello was answered, and the last
	// state.waiting.
	isReady bool
	waiting int

	mu       sync.Mutex // guards requests, lastID and panel
	requests map[string]chan<- wire.Envelope
	lastID   int
	panel    context.CancelFunc // stops the watcher of a panel; nil if no panel is open

	// settings are the settings that the browser has received on this link, as
	// JSON by plugin. Only syncAdapters uses them.
	settings map[string]string

	// The reader alone uses these.
	buf         bytes.Buffer
	malformed   int  // malformed frames
	stray       int  // reports for unknown runs
	warned      bool // whether a stray report was logged
	hasAnswered bool // whether it has answered a request: the first is plugin.sync
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

// end marks the link as ended.
func (l *link) end() { l.goneOnce.Do(func() { close(l.gone) }) }

func (l *link) ended() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

// kill closes the connection at once, without a close frame.
func (l *link) kill() {
	l.end()
	_ = l.raw.Close() // its reader sees the error
}

// shut closes the link with a close code and a reason (at most 123 bytes). It
// does not block; the connection is closed after closeTimeout at most.
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

// finish closes the link and waits for its goroutines. The reader calls it
// last.
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
	_ = l.ws.CloseNow() // so that the library releases its buffers
}

// read returns the next frame, which is valid until the next read.
func (l *link) read() ([]byte, error) {
	// The library closes the connection when the context of a read ends.
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
			l.log.Warn().Msg("browser sent a frame too slowly; closing its link")
		}
		return nil, err
	}
	if kind != websocket.MessageText {
		return nil, errNotTextual
	}
	return l.buf.Bytes(), nil
}

// touching marks the link as alive while a frame arrives.
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

// keepAlive closes a link that was silent for DeadAfter, and pings the browser
// halfway. It counts silence in beats of a quarter of DeadAfter: a process that
// was stopped, or a machine that slept, misses one beat and does not lose its
// links. It returns when the link has ended.
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

// IDs of the server's requests. The ID of a tool.dispatch is the run's ID; all
// other IDs begin with a prefix that no run has.
const (
	ownID    = "s/"
	pingID   = ownID + "ping"
	cancelID = ownID + "cancel/" // + the run's ID
	answerID = ownID + "answer/" // + the ask, a slash and the run's ID
)

// request sends a request and waits for its answer, until ctx or the link ends.
// The reader must not call it.
func (l *link) request(ctx context.Context, method wire.Method, params []byte) (wire.Envelope, error) {
	return l.await(ctx, l.sendRequest(method, params))
}

// pendingRequest is a request without an answer yet.
type pendingRequest struct {
	id     string
	answer <-chan wire.Envelope
	at     time.Time
}

// sendRequest sends a request. The caller must await the answer.
func (l *link) sendRequest(method wire.Method, params []byte) pendingRequest {
	answer := make(chan wire.Envelope, 1)
	l.mu.Lock()
	l.lastID++
	id := ownID + strconv.Itoa(l.lastID)
	l.requests[id] = answer
	l.mu.Unlock()
	l.post(wire.AppendRequest(nil, id, method, params))
	return pendingRequest{id: id, answer: answer, at: time.Now()}
}

// await waits for the answer to a request, for at most requestTimeout since it
// was sent, or until ctx or the link ends.
func (l *link) await(ctx context.Context, q pendingRequest) (wire.Envelope, error) {
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

// deliverAnswer passes an answer to the request that waits for it. It reports
// false if there is none.
func (l *link) deliverAnswer(e wire.Envelope) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting, ok := l.requests[e.ID]
	if ok {
		delete(l.requests, e.ID)
		e.Result = bytes.Clone(e.Result) // the reader reuses its buffer
		waiting <- e                     // never blocks: room for one, sent once
	}
	return ok
}
