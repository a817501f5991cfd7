package wsbridge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
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

	// work counts the goroutines of this link. Call Add only under out.mu while
	// out.closed is false, or from the reader.
	work sync.WaitGroup
	// gone is closed when the link has ended.
	gone     chan struct{}
	goneOnce sync.Once
	// heard is set when bytes arrive; keepAlive clears it.
	heard atomic.Bool
	// Each field below has its own lock or names its owner.
	requests requests
	adapters adapterSync
	panel    panel
	in       inbox

	// Guarded by registry.mu: whether hello was answered, and the last
	// state.waiting.
	isReady bool
	waiting int

	// Only the reader of the link uses buf and the next fields.
	buf         bytes.Buffer
	hasAnswered bool // whether it has answered a request: the first is plugin.sync
}

func newLink(h *Hub, ws *websocket.Conn, raw net.Conn) *link {
	l := &link{hub: h, ws: ws, raw: raw, log: h.opts.Log, gone: make(chan struct{})}
	l.requests = requests{post: l.post, gone: l.gone, pending: map[string]chan<- wire.Envelope{}}
	l.adapters = adapterSync{link: l, due: make(chan struct{}, 1), settings: map[string]string{}}
	l.panel = panel{link: l, state: make(chan struct{}, 1), plugins: make(chan struct{}, 1)}
	l.in = inbox{link: l}
	return l
}

// end marks the link as ended.
func (l *link) end() { l.goneOnce.Do(func() { close(l.gone) }) }

func (l *link) hasEnded() bool {
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

// closeWith closes the link with a close code and a reason (at most 123 bytes). closeWith does
// not block; the connection is closed after closeTimeout at most.
func (l *link) closeWith(code websocket.StatusCode, reason string) {
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
	l.panel.stop()
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
		if errors.Is(err, errSlowFrame) && !l.hasEnded() {
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

// deadAfter is the silence after which a link counts as lost. Chrome stops a service
// worker that gets no message for 30 s.
const deadAfter = wire.MaxSilenceMs * time.Millisecond

// keepAlive closes a link that was silent for deadAfter, and pings the browser halfway.
// keepAlive counts silence in beats of a quarter of deadAfter: a process that was
// stopped, or a machine that slept, misses one beat and does not lose its links.
// keepAlive returns when the link has ended.
func (l *link) keepAlive() {
	const pingBeats, deadBeats = 1, 3
	beat := time.NewTicker(deadAfter / 4)
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
			l.log.Warn().Dur("silent_ms", deadAfter).Msg("browser is silent; closing its link")
			l.kill()
			return
		}
	}
}
