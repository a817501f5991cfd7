package transport

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"
)

// The official TypeScript client (@modelcontextprotocol/sdk 1.x and
// @modelcontextprotocol/client 2.x) discards a progress token as soon as it parses the
// answer. The official client handles a notification one microtask after parsing it. If
// the official client reads progress and the answer in the same chunk, the client loses
// the progress. The server cannot see how the client's reads split the stream, so it
// separates progress and answer:
//
//   - In protocol versions that have ping, the server pings the client after the last
//     progress, and answers the call after the client has answered the ping. A client
//     that has answered a ping has handled all messages that precede the ping.
//   - In protocol versions without ping (2026-07-28), or if the client does not answer
//     in time, the answer is padded to paddedAnswerBytes.

const (
	// pingTimeout is the maximum time for which an answer waits until the client responds
	// to a ping.
	pingTimeout = 50 * time.Millisecond
	// An answer waits for a ping only if the call reported progress within recentProgressTime. A client that does not
	// answer a ping within 5 s is assumed to answer no pings.
	recentProgressTime = 5 * time.Second
	// Node.js reads at most 65,536 bytes at once, and runs the pending microtasks between two reads. A padded answer is
	// so long that Node.js never reads its end together with the previous line. A padded answer suits clients that read
	// lines of at most 64 KiB.
	paddedAnswerBytes = 64 << 10
	// minProgressToAnswerGap is the minimum time between progress and an answer in protocol versions without ping.
	minProgressToAnswerGap = 10 * time.Millisecond
)

// readBarrier waits until the client of a stdio session has read all progress that was
// written. A readBarrier is safe for concurrent use.
type readBarrier struct {
	requests    *clientRequests
	sendMessage Send // writes to the client

	mu           sync.Mutex // the mutex guards all fields below
	writtenCount uint64     // writtenCount is the number of progress notifications that were written
	pendingPing  *ping      // pendingPing is the newest ping without an answer, or nil
	// While pingUnansweredSince is set, no answer is delayed and no ping is sent. Any answer to a ping, even a late one,
	// resets pingUnansweredSince to zero.
	pingUnansweredSince time.Time
	hasAnsweredPing     bool
}

// The type ping is one ping request that the server has sent, and that the client has not
// answered yet.
type ping struct {
	progressCountAtPing uint64 // progressCountAtPing is the number of progress notifications that were written before the ping
	sentAt              time.Time
	pongReceived        chan struct{} // the field pongReceived is closed when the client has answered the ping
}

func (b *readBarrier) nextProgressNumber() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writtenCount++
	return b.writtenCount
}

// awaitPingAnswer waits for at most pingTimeout, and returns true if the answer needs padding.
func (b *readBarrier) awaitPingAnswer(ctx context.Context, n uint64) (needsPadding bool) {
	p := b.findPingForProgress(n)
	if p != nil {
		timer := time.NewTimer(pingTimeout)
		defer timer.Stop()
		select {
		case <-p.pongReceived:
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
		case <-p.pongReceived:
			return false
		default:
		}
		if b.pingUnansweredSince.IsZero() {
			b.pingUnansweredSince = p.sentAt
		}
	}
	return b.hasAnsweredPing || time.Since(b.pingUnansweredSince) <= recentProgressTime
}

func (b *readBarrier) findPingForProgress(n uint64) *ping {
	b.mu.Lock()
	if !b.pingUnansweredSince.IsZero() {
		b.mu.Unlock()
		return nil
	}
	if b.pendingPing != nil && b.pendingPing.progressCountAtPing >= n {
		p := b.pendingPing
		b.mu.Unlock()
		return p
	}
	p := &ping{progressCountAtPing: b.writtenCount, sentAt: time.Now(), pongReceived: make(chan struct{})}
	b.pendingPing = p
	b.mu.Unlock()

	id := "opentabs-" + strings.ToLower(rand.Text())
	b.requests.addAnswerCallback("s"+id, func(rpcMessage) { b.recordPingAnswer(p) })
	// A ping that cannot be written ends the session, which ends the context of
	// awaitPingAnswer.
	_ = b.sendMessage(encodeJSON(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      string `json:"id"`
		Method  string `json:"method"`
	}{"2.0", id, methodPing}))
	return p
}

// A JSON-RPC error counts as an answer to a ping, because the client must have read the ping.
func (b *readBarrier) recordPingAnswer(p *ping) {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(p.pongReceived)
	b.pingUnansweredSince, b.hasAnsweredPing = time.Time{}, true
	if b.pendingPing == p {
		b.pendingPing = nil
	}
}

func awaitProgressGap(ctx context.Context, progressTime time.Time) {
	remainingDuration := minProgressToAnswerGap - time.Since(progressTime)
	if remainingDuration <= 0 {
		return
	}
	timer := time.NewTimer(remainingDuration)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
