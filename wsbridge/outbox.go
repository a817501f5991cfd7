package wsbridge

import (
	"context"
	"sync"
	"time"

	"github.com/coder/websocket"

	"opentabs/wire"
)

// writeTimeout is how long a browser may take to accept one frame.
const writeTimeout = 10 * time.Second

// maxWaitingBytes is how much may wait for a browser that does not read. One
// that lags further behind loses its link.
const maxWaitingBytes = 4 * wire.MaxFrameBytes

// outbox holds the frames of one link that are not written yet, in order.
type outbox struct {
	mu      sync.Mutex // guards all below; the last lock to take
	frames  [][]byte
	bytes   int  // of frames and of the one that is being written
	writing bool // a goroutine is writing them
	closed  bool
}

// post puts a frame into the outbox and returns at once. A frame for a link
// that has ended is dropped: what it was about is settled when the browser
// returns.
func (l *link) post(frame []byte) {
	o := &l.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if o.bytes > 0 && o.bytes+len(frame) > maxWaitingBytes {
		o.closed = true
		l.log.Warn().Int("bytes", o.bytes).Msg("browser does not read; closing its link")
		l.kill()
		return
	}
	o.frames = append(o.frames, frame)
	o.bytes += len(frame)
	if !o.writing {
		o.writing = true
		l.work.Go(l.drain)
	}
}

// drain writes until the outbox is empty.
func (l *link) drain() {
	o := &l.out
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.frames) > 0 && !l.ended() {
		frame := o.frames[0]
		o.frames[0] = nil
		o.frames = o.frames[1:]
		o.mu.Unlock()
		l.write(frame)
		o.mu.Lock()
		o.bytes -= len(frame)
	}
	o.frames, o.writing = nil, false
}

// write writes one frame. The context is the link's own: a context that ends
// during a write closes the connection, so it may never be that of a call.
func (l *link) write(frame []byte) bool {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	if err := l.ws.Write(ctx, websocket.MessageText, frame); err != nil {
		if !l.ended() {
			l.log.Debug().Err(err).Msg("could not write")
		}
		l.kill()
		return false
	}
	return true
}
