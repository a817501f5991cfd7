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

// maxWaitingBytes limits the unwritten frames of a link, in bytes. If a browser does not read
// and its queue of frames exceeds maxWaitingBytes, the server closes the link.
const maxWaitingBytes = 4 * wire.MaxFrameBytes

// The type outbox is the queue of unwritten frames of one link.
type outbox struct {
	framesQueued chan struct{}

	mu           sync.Mutex // the mutex guards all fields below; no other lock is acquired under mu
	frames       [][]byte
	waitingBytes int  // waitingBytes counts the bytes of all frames that are queued or being written
	isWriting    bool // isWriting is true after the goroutine that writes the frames has started
	isClosed     bool
}

// If the link has ended, postFrame drops the frame. The hub repeats frames that are still needed after a reconnect.
func (l *link) postFrame(frame []byte) {
	o := &l.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.isClosed || l.hasEnded() {
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
		l.goroutines.Go(l.writeFrames)
	}
	select {
	case o.framesQueued <- struct{}{}:
	default:
	}
}

func (l *link) writeFrames() {
	w := newFrameWriter(l)
	o := &l.outbox
	var frames [][]byte
	for {
		select {
		case <-o.framesQueued:
		case <-l.ended:
			return
		}
		o.mu.Lock()
		frames, o.frames = o.frames, frames[:0]
		o.mu.Unlock()
		for i, frame := range frames {
			frames[i] = nil
			if l.hasEnded() || !w.writeFrame(frame) {
				return
			}
			o.mu.Lock()
			o.waitingBytes -= len(frame)
			o.mu.Unlock()
		}
	}
}

// frameWriter writes frames to a link. Reusing one timer for all frames is cheaper than
// creating a context with a timeout for each frame.
type frameWriter struct {
	link  *link
	limit *time.Timer // limit ends the link if a write takes longer than writeTimeout, and is stopped between writes
}

func newFrameWriter(l *link) frameWriter {
	limit := time.AfterFunc(writeTimeout, l.closeAbruptly)
	limit.Stop()
	return frameWriter{l, limit}
}

// The method write never uses the context of a call, because the WebSocket library closes the connection if a context
// ends during a write.
func (w frameWriter) writeFrame(frame []byte) bool {
	w.limit.Reset(writeTimeout)
	defer w.limit.Stop()
	if err := w.link.ws.Write(context.Background(), websocket.MessageText, frame); err != nil {
		if !w.link.hasEnded() {
			w.link.log.Debug().Err(err).Msg("could not write")
		}
		w.link.closeAbruptly()
		return false
	}
	return true
}
