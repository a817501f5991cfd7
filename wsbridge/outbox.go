package wsbridge

import (
	"context"
	"sync"
	"time"

	"github.com/coder/websocket"

	"opentabs/wire"
)

// writeTimeout limits how long a browser may take to accept one frame.
const writeTimeout = 10 * time.Second

// maxWaitingBytes limits the frames that wait for a browser that does not read.
// The link of a slower browser is closed.
const maxWaitingBytes = 4 * wire.MaxFrameBytes

// outbox has the unwritten frames of one link, in order.
type outbox struct {
	mu           sync.Mutex // guards all fields below; the last lock to take
	frames       [][]byte
	waitingBytes int  // of frames and of the frame that is being written
	isWriting    bool // a goroutine is writing them
	isClosed     bool
}

// postFrame appends a frame to the outbox and returns at once. A frame for a link
// that has ended is dropped: a reconnect resends what still matters.
func (l *link) postFrame(frame []byte) {
	o := &l.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.isClosed {
		return
	}
	if o.waitingBytes > 0 && o.waitingBytes+len(frame) > maxWaitingBytes {
		o.isClosed = true
		l.log.Warn().Int("bytes", o.waitingBytes).Msg("browser does not read; closing its link")
		l.closeAbruptly()
		return
	}
	o.frames = append(o.frames, frame)
	o.waitingBytes += len(frame)
	if !o.isWriting {
		o.isWriting = true
		l.goroutines.Go(l.drainOutbox)
	}
}

// drainOutbox writes frames until the outbox is empty.
func (l *link) drainOutbox() {
	o := &l.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.frames) > 0 && !l.hasEnded() {
		frame := o.frames[0]
		o.frames[0] = nil
		o.frames = o.frames[1:]
		o.mu.Unlock()
		l.write(frame)
		o.mu.Lock()
		o.waitingBytes -= len(frame)
	}
	o.frames, o.isWriting = nil, false
}

// write writes one frame. The library closes the connection when a context ends
// during a write, so the context must never be that of a call.
func (l *link) write(frame []byte) bool {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	if err := l.ws.Write(ctx, websocket.MessageText, frame); err != nil {
		if !l.hasEnded() {
			l.log.Debug().Err(err).Msg("could not write")
		}
		l.closeAbruptly()
		return false
	}
	return true
}
