package mcpserver

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/clients"
	"opentabs/internal/rawjson"
	"opentabs/mcpserver/transport"
)

// progressSender sends the progress of a call to its client, under the progress token of one
// request. A progressSender is safe for concurrent use.
type progressSender struct {
	ctx         context.Context // ctx is the context of the request; nothing is sent after ctx ends
	sendMessage transport.Send
	token       json.RawMessage

	mu                    sync.Mutex // the mutex guards all fields below, and keeps notifications in order
	isClosed              bool
	buf                   []byte
	firstSentAt, lastSent time.Time
	maxProgressInterval   time.Duration // maxProgressInterval is the longest time between two progress notifications
}

// newProgressSender returns nil if the client cannot receive progress or sent no progress token. The methods of a nil
// progressSender do nothing.
func newProgressSender(ctx context.Context, p *transport.Params, sendMessage transport.Send) *progressSender {
	token := p.Token()
	if token == nil || sendMessage == nil {
		return nil
	}
	return &progressSender{ctx: ctx, sendMessage: sendMessage, token: token}
}

// After close, progressSender sends no progress, because the answer to the request must be the last message.
func (s *progressSender) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isClosed = true
}

// A progress notification that cannot be sent is dropped, because progress never changes a call.
func (s *progressSender) send(p dispatch.Progress) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed || s.ctx.Err() != nil {
		return
	}
	s.buf = appendProgress(s.buf[:0], s.token, p)
	if s.sendMessage(s.buf) != nil {
		return
	}
	now := time.Now()
	if s.lastSent.IsZero() {
		s.firstSentAt = now
	} else {
		s.maxProgressInterval = max(s.maxProgressInterval, now.Sub(s.lastSent))
	}
	s.lastSent = now
}

func (s *progressSender) recordProgressTimes(g *clients.AbandonedCall, receivedAt time.Time) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lastSent.IsZero() {
		return
	}
	g.HasProgress = true
	g.TimeSinceProgress = g.WaitDuration - s.lastSent.Sub(receivedAt)
	g.LongestProgressPause = max(s.maxProgressInterval, s.firstSentAt.Sub(receivedAt))
}

func appendProgress(buffer []byte, token json.RawMessage, p dispatch.Progress) []byte {
	buffer = append(buffer, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`...)
	buffer = append(buffer, token...)
	buffer = append(buffer, `,"progress":`...)
	buffer = appendNumber(buffer, p.Progress)
	if p.HasTotal {
		buffer = append(buffer, `,"total":`...)
		buffer = appendNumber(buffer, p.Total)
	}
	if p.Message != "" {
		buffer = append(buffer, `,"message":`...)
		buffer = rawjson.AppendString(buffer, p.Message)
	}
	audience := p.Audience
	if audience == "" {
		audience = "internal"
	}
	buffer = append(buffer, `,"_meta":{"opentabs/audience":`...)
	buffer = rawjson.AppendString(buffer, audience)
	if p.StatusWord != "" {
		buffer = append(buffer, `,"opentabs/status":`...)
		buffer = rawjson.AppendString(buffer, p.StatusWord)
	}
	return append(buffer, `}}}`...)
}

// appendNumber appends a finite number with all its digits, so that different numbers stay different.
func appendNumber(buffer []byte, f float64) []byte {
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return strconv.AppendFloat(buffer, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(buffer, f, 'f', -1, 64)
}
