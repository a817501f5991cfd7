// Package refusallog limits the rate of log lines about rejected connections.
//
// # Concurrency
//
// A [Log] is safe for concurrent use. The mutex of a Log guards all its fields, and no
// other mutex is locked while it is held.
package refusallog

import (
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Interval is the minimum time between two log lines for one reason. Without this limit, any web page could fill the
// log with endless connection attempts.
const Interval = 10 * time.Second

// Log limits the rate of log lines about rejected connections. The zero Log is ready to
// use.
type Log struct {
	mu                 sync.Mutex // the mutex guards all fields below
	rejectionsByReason map[string]*rejectionLogState
	refusedHello       RefusedHello
	unpairedAttempts   []UnpairedAttempt
}

const (
	// unpairedAttemptLifetime is how long a connection attempt of an unpaired browser is recorded.
	// An unpaired browser tries to connect about once per second.
	unpairedAttemptLifetime = 5 * time.Second
	// maxUnpairedAttempts limits the number of recorded connection attempts of unpaired browsers.
	maxUnpairedAttempts = 16
)

// UnpairedAttempt is the last connection attempt of a browser that is not paired.
type UnpairedAttempt struct {
	// KeyID is the wire.KeyID that the unpaired browser offered.
	KeyID string
	At    time.Time
}

// RecordUnpairedAttempt records that a browser offered the wire.KeyID of an unknown pairing.
func (r *Log) RecordUnpairedAttempt(keyID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unpairedAttempts = slices.DeleteFunc(r.unpairedAttempts, func(t UnpairedAttempt) bool { return t.KeyID == keyID })
	if len(r.unpairedAttempts) >= maxUnpairedAttempts {
		r.unpairedAttempts = slices.Delete(r.unpairedAttempts, 0, 1)
	}
	r.unpairedAttempts = append(r.unpairedAttempts, UnpairedAttempt{keyID, time.Now()})
}

// UnpairedAttempts returns the last attempt for each KeyID, oldest attempt first. UnpairedAttempts omits attempts
// that are older than unpairedAttemptLifetime.
func (r *Log) UnpairedAttempts() []UnpairedAttempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unpairedAttempts = slices.DeleteFunc(r.unpairedAttempts, func(t UnpairedAttempt) bool { return time.Since(t.At) > unpairedAttemptLifetime })
	return slices.Clone(r.unpairedAttempts)
}

// RefusedHello describes the extension whose first frame (hello) the server rejected
// last.
type RefusedHello struct {
	// ReasonText is the reason for the rejection, or "" if no extension was rejected.
	ReasonText string
	At         time.Time
}

// SetRefusedHello records why the server rejected an extension. If refusalText is empty,
// SetRefusedHello deletes the stored rejection.
func (r *Log) SetRefusedHello(refusalText string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusedHello = RefusedHello{ReasonText: refusalText, At: time.Now()}
}

// RefusedHello returns the last rejection of an extension.
func (r *Log) RefusedHello() RefusedHello {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refusedHello
}

// rejectionLogState records when a reason for rejected connections was last logged.
type rejectionLogState struct {
	lastLoggedAt    time.Time
	suppressedCount int
}

// LogRejected logs a rejected connection, at most once per reason within Interval. Each log
// line includes the number of connections that were rejected for the same reason since the
// last log line for this reason. The argument rejectionReason must be a constant sentence, because the
// log counts rejections by reason. The argument details adds data of the peer to the log
// line.
func (r *Log) LogRejected(log *zerolog.Logger, rejectionReason string, details func(*zerolog.Event)) {
	r.mu.Lock()
	if r.rejectionsByReason == nil {
		r.rejectionsByReason = map[string]*rejectionLogState{}
	}
	q := r.rejectionsByReason[rejectionReason]
	if q != nil && time.Since(q.lastLoggedAt) < Interval {
		q.suppressedCount++
		r.mu.Unlock()
		return
	}
	suppressedCount := 0
	if q != nil {
		suppressedCount = q.suppressedCount
	}
	r.rejectionsByReason[rejectionReason] = &rejectionLogState{lastLoggedAt: time.Now()}
	r.mu.Unlock()
	event := log.Warn()
	details(event)
	if suppressedCount > 0 {
		event.Int("more_before", suppressedCount)
	}
	event.Msg("connection refused: " + rejectionReason)
}
