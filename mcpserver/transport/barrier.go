package transport

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"
)

// The official TypeScript client (@modelcontextprotocol/sdk 1.x and
// @modelcontextprotocol/client 2.x) forgets a progress token as soon as it
// parses the answer, but handles a notification one microtask after it parses it.
// Progress that arrives in the same chunk as the answer is lost. The server cannot see
// how the client's reads split the stream, so the server separates progress and answer:
//
//   - In the protocol versions that have ping, the server pings the client after
//     the last progress and answers the call when the client has answered the
//     ping. The client's answer to the ping proves that the client has handled all earlier messages.
//   - Where ping does not exist (2026-07-28), or the client has not answered it in
//     time, the answer is padded to paddedAnswerBytes.

const (
	// pingTimeout is how long an answer waits for the client to answer a ping.
	pingTimeout = 50 * time.Millisecond
	// recentProgressTime is how long after its last progress the answer to a call still
	// waits for a ping. A client that has not answered a ping within recentProgressTime
	// counts as a client that answers no pings.
	recentProgressTime = 5 * time.Second
	// paddedAnswerBytes is the length of a padded answer with the line end, in bytes.
	// Node.js reads at most 65,536 bytes at once and runs its microtasks between two
	// reads, so the end of a padded answer is never in one chunk with the line before.
	// The padded line is short enough for clients that read lines of at most 64 KiB.
	paddedAnswerBytes = 64 << 10
	// minSeparation is the minimum time between progress and an answer in protocol
	// versions without ping. The pause before an answer is for clients that read more
	// bytes at once than Node.js does.
	minSeparation = 10 * time.Millisecond
)

// readBarrier waits until the client of one stdio session has read all progress that
// was written. readBarrier is safe for concurrent use.
type readBarrier struct {
	requests *clientRequests
	send     Send // writes to the client

	mu           sync.Mutex // guards all fields below
	writtenCount uint64     // the number of progress notifications that were written
	pendingPing  *ping      // the newest ping without an answer; nil if there is none
	// unansweredSince is when the first ping was sent that was not answered in time;
	// zero if all pings were answered in time. Until the client answers a ping, late or
	// not, no call waits and no ping is sent.
	unansweredSince time.Time
	// hasAnsweredPing is set once the client has answered a ping.
	hasAnsweredPing bool
}

// ping is one ping that the client has not answered.
type ping struct {
	coveredCount uint64 // the number of progress notifications that were written before the ping
	sentAt       time.Time
	answered     chan struct{} // closed when the client has answered
}

// countWritten counts a progress notification that was written, and returns its number.
func (b *readBarrier) countWritten() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writtenCount++
	return b.writtenCount
}

// awaitRead waits until the client has read progress number n, which countWritten
// returned, for at most pingTimeout. awaitRead reports whether the answer to the call
// needs padding: the client answers pings, as far as is known, but too late.
func (b *readBarrier) awaitRead(ctx context.Context, n uint64) (needsPadding bool) {
	p := b.findCoveringPing(n)
	if p != nil {
		timer := time.NewTimer(pingTimeout)
		defer timer.Stop()
		select {
		case <-p.answered:
			return false
		case <-ctx.Done():
			return false // the call gets no answer
		case <-timer.C:
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if p != nil {
		select {
		case <-p.answered:
			return false
		default:
		}
		if b.unansweredSince.IsZero() {
			b.unansweredSince = p.sentAt
		}
	}
	return b.hasAnsweredPing || time.Since(b.unansweredSince) <= recentProgressTime
}

// findCoveringPing returns a ping that was sent after progress number n: an unanswered
// ping, or a new ping. findCoveringPing returns nil while the client does not answer pings.
func (b *readBarrier) findCoveringPing(n uint64) *ping {
	b.mu.Lock()
	if !b.unansweredSince.IsZero() {
		b.mu.Unlock()
		return nil
	}
	if b.pendingPing != nil && b.pendingPing.coveredCount >= n {
		p := b.pendingPing
		b.mu.Unlock()
		return p
	}
	p := &ping{coveredCount: b.writtenCount, sentAt: time.Now(), answered: make(chan struct{})}
	b.pendingPing = p
	b.mu.Unlock()

	id := "opentabs-" + strings.ToLower(rand.Text())
	b.requests.expectAnswer("s"+id, func(message) { b.recordPong(p) })
	// A ping that cannot be written ends the session, which ends the context of
	// awaitRead.
	_ = b.send(encodeJSON(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      string `json:"id"`
		Method  string `json:"method"`
	}{"2.0", id, methodPing}))
	return p
}

// recordPong records the answer to a ping, late or not. An error also answers a ping:
// the client has read the ping.
func (b *readBarrier) recordPong(p *ping) {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(p.answered)
	b.unansweredSince, b.hasAnsweredPing = time.Time{}, true
	if b.pendingPing == p {
		b.pendingPing = nil
	}
}

// waitMinSeparation waits until minSeparation has passed since progress was written, or
// ctx ends.
func waitMinSeparation(ctx context.Context, progressTime time.Time) {
	remaining := minSeparation - time.Since(progressTime)
	if remaining <= 0 {
		return
	}
	timer := time.NewTimer(remaining)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
