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
	"opentabs/wsbridge/requests"
)

const (
	// closeTimeout is how long a browser may take to answer a WebSocket close frame.
	closeTimeout = time.Second
	// frameTimeout limits how long one frame may take to arrive, even if its bytes arrive steadily.
	frameTimeout = 5 * time.Minute
	// readChunkBytes limits the bytes of one read. Each read marks the link as alive, so a
	// large frame on a slow link is not mistaken for silence.
	readChunkBytes = 64 << 10
	// maxReusedBufferBytes is the capacity in bytes above which a read buffer is not reused for the
	// next frame.
	maxReusedBufferBytes = 4 << 20
)

var (
	errFrameTimeout = errors.New("a frame was incomplete after 5 min")
	errBinaryFrame  = errors.New("not a frame: a binary message")
)

// The constants below are IDs, or beginnings of IDs, of requests that the server sends without
// requests.Table. The ID of a tool.dispatch request is the ID of the tool call, which never
// begins with requests.IDPrefix.
const (
	pingID         = requests.IDPrefix + "ping"
	cancelIDPrefix = requests.IDPrefix + "cancel/"
	answerIDPrefix = requests.IDPrefix + "answer/"
)

// The type link is one WebSocket connection of a browser.
type link struct {
	hub     *Hub
	ws      *websocket.Conn
	netConn net.Conn // netConn is the TCP connection under ws; closing netConn ends the link at once
	log     zerolog.Logger
	outbox  outbox

	// The field goroutines counts the goroutines of the link. Only the link's reader may
	// call goroutines.Go, or a caller that holds outbox.mu while outbox.isClosed is
	// false.
	goroutines sync.WaitGroup
	ended      chan struct{}
	endOnce    sync.Once
	// hasReceivedData becomes true whenever bytes arrive, and false whenever keepAlive checks the link.
	hasReceivedData atomic.Bool
	// The types of the fields requests, adapters, panel and inbox document how access is synchronized.
	requests *requests.Table
	adapters pluginSync
	panel    panel
	inbox    inbox

	// Only the code of the handshake writes the fields keyID and pairingKey.
	keyID, pairingKey string

	// The mutex registry.mu guards the fields isReady and lastSentWaitingCount.
	isReady              bool
	lastSentWaitingCount int

	// Only the goroutine that reads from the link uses frameBuffer and frameReader.
	frameBuffer bytes.Buffer
	frameReader livenessReader
}

func newLink(h *Hub, ws *websocket.Conn, netConn net.Conn) *link {
	l := &link{hub: h, ws: ws, netConn: netConn, log: h.opts.Log, ended: make(chan struct{})}
	l.outbox.framesQueued = make(chan struct{}, 1)
	l.requests = requests.New(l.postFrame, l.ended)
	l.adapters = pluginSync{link: l, syncRequested: make(chan struct{}, 1), settings: map[string]string{}}
	l.panel = panel{link: l, stateDue: make(chan struct{}, 1), pluginsDue: make(chan struct{}, 1)}
	l.inbox = inbox{link: l}
	return l
}

func (l *link) endLink() { l.endOnce.Do(func() { close(l.ended) }) }

func (l *link) hasEnded() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

func (l *link) closeAbruptly() {
	l.endLink()
	_ = l.netConn.Close() // closing netConn makes the next read of the link fail
}

// The TCP connection is closed after closeTimeout at the latest.
func (l *link) closeWith(code websocket.StatusCode, closeReason string) {
	o := &l.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.isClosed {
		return
	}
	o.isClosed = true
	l.endLink()
	l.goroutines.Go(func() {
		timer := time.AfterFunc(closeTimeout, func() { _ = l.netConn.Close() })
		defer timer.Stop()
		_ = l.ws.Close(code, closeReason) // ws.Close closes the connection even if it returns an error
	})
}

// The reader of the link calls finish as its last action.
func (l *link) finish() {
	l.outbox.mu.Lock()
	isAlreadyClosed := l.outbox.isClosed
	l.outbox.isClosed = true
	l.outbox.mu.Unlock()
	l.endLink()
	l.panel.stop()
	if !isAlreadyClosed {
		_ = l.netConn.Close()
	}
	l.goroutines.Wait()
	_ = l.ws.CloseNow() // CloseNow makes the WebSocket library release its buffers
}

// The bytes that read returns are valid until its next call.
func (l *link) read() ([]byte, error) {
	// The method read uses context.Background, because the WebSocket library closes the
	// connection when the context of a read ends.
	kind, r, err := l.ws.Reader(context.Background())
	if err != nil {
		return nil, err
	}
	if l.frameBuffer.Cap() > maxReusedBufferBytes {
		l.frameBuffer = bytes.Buffer{}
	}
	l.frameBuffer.Reset()
	l.frameReader = livenessReader{l, r, time.Now()}
	if _, err := l.frameBuffer.ReadFrom(&l.frameReader); err != nil {
		if errors.Is(err, errFrameTimeout) && !l.hasEnded() {
			l.log.Warn().Msg("browser sent a frame too slowly; closing its link")
		}
		return nil, err
	}
	if kind != websocket.MessageText {
		return nil, errBinaryFrame
	}
	return l.frameBuffer.Bytes(), nil
}

// If no pairing has the KeyID that the browser offered, readKey returns an empty string.
func (l *link) readKey() (string, error) {
	if l.keyID == "" {
		return l.hub.opts.Key, nil
	}
	if l.hub.opts.Pairings == nil {
		return "", nil
	}
	return l.hub.opts.Pairings.Key(l.keyID)
}

// livenessReader marks the link as alive while a frame arrives.
type livenessReader struct {
	l              *link
	r              io.Reader
	frameStartTime time.Time
}

func (t *livenessReader) Read(p []byte) (int, error) {
	if time.Since(t.frameStartTime) > frameTimeout {
		return 0, errFrameTimeout
	}
	n, err := t.r.Read(p[:min(len(p), readChunkBytes)])
	t.l.hasReceivedData.Store(true)
	return n, err
}

// maxSilence is how long a link may be silent before it is considered lost. Chrome stops a
// service worker that gets no message for 30 s.
const maxSilence = wire.MaxSilenceMs * time.Millisecond

// keepAlive counts silence in ticks of maxSilence/4, because the clock continues while the machine sleeps. If the
// process was suspended (a sleeping laptop), the pause counts as one tick of silence, so no link is lost. keepAlive
// returns when the link has ended.
func (l *link) keepAlive() {
	const pingAfterBeats, maxMissedBeats = 1, 3
	ticker := time.NewTicker(maxSilence / 4)
	defer ticker.Stop()
	silentBeatCount := 0
	for {
		select {
		case <-l.ended:
			return
		case <-ticker.C:
		}
		if key, err := l.readKey(); err == nil && key == "" {
			l.log.Info().Msg("the pairing of the browser was removed; closing its link")
			l.closeWith(wire.CloseUnpaired, "the pairing of this browser was removed")
			return
		}
		silentBeatCount++
		if l.hasReceivedData.Swap(false) {
			silentBeatCount = 0
		}
		switch silentBeatCount {
		case pingAfterBeats:
			l.postFrame(wire.AppendRequest(nil, pingID, wire.MethodPing, []byte("{}")))
		case maxMissedBeats:
			l.log.Warn().Dur("silent_ms", maxSilence).Msg("browser is silent; closing its link")
			l.closeAbruptly()
			return
		}
	}
}
