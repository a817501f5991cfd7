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
	mu            sync.Mutex // the mutex guards all fields below
	loggedReasons map[string]*loggedReason
	refusedHello  RefusedHello
	unpaired      []UnpairedTry
}

const (
	// unpairedWindow is how long a connection attempt of an unpaired browser is recorded.
	// An unpaired browser tries to connect about once per second.
	unpairedWindow = 5 * time.Second
	// maxUnpairedTries limits the number of recorded connection attempts of unpaired browsers.
	maxUnpairedTries = 16
)

// UnpairedTry is the last connection attempt of a browser that is not paired.
type UnpairedTry struct {
	// KeyID is the wire.KeyID that the unpaired browser offered.
	KeyID string
	At    time.Time
}

// RecordUnpairedTry records that a browser offered the wire.KeyID of an unknown pairing.
func (r *Log) RecordUnpairedTry(keyID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unpaired = slices.DeleteFunc(r.unpaired, func(t UnpairedTry) bool { return t.KeyID == keyID })
	if len(r.unpaired) >= maxUnpairedTries {
		r.unpaired = slices.Delete(r.unpaired, 0, 1)
	}
	r.unpaired = append(r.unpaired, UnpairedTry{keyID, time.Now()})
}

// UnpairedTries returns the last attempt for each KeyID, oldest attempt first. UnpairedTries omits attempts
// that are older than unpairedWindow.
func (r *Log) UnpairedTries() []UnpairedTry {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unpaired = slices.DeleteFunc(r.unpaired, func(t UnpairedTry) bool { return time.Since(t.At) > unpairedWindow })
	return slices.Clone(r.unpaired)
}

// RefusedHello describes the extension whose first frame (hello) the server rejected
// last.
type RefusedHello struct {
	// ReasonText is the reason for the rejection, or "" if no extension was rejected.
	ReasonText string
	At         time.Time
}

// SetRefusedHello records why the server rejected an extension. If sentence is empty,
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

// loggedReason records when a reason for rejected connections was last logged.
type loggedReason struct {
	loggedAt      time.Time
	unloggedCount int
}

// LogRejected logs a rejected connection, at most once per reason within Interval. Each log
// line includes the number of connections that were rejected for the same reason since the
// last log line for this reason. The argument reason must be a constant sentence, because the
// log counts rejections by reason. The argument details adds data of the peer to the log
// line.
func (r *Log) LogRejected(log *zerolog.Logger, cancelReason string, details func(*zerolog.Event)) {
	r.mu.Lock()
	if r.loggedReasons == nil {
		r.loggedReasons = map[string]*loggedReason{}
	}
	q := r.loggedReasons[cancelReason]
	if q != nil && time.Since(q.loggedAt) < Interval {
		q.unloggedCount++
		r.mu.Unlock()
		return
	}
	unloggedCount := 0
	if q != nil {
		unloggedCount = q.unloggedCount
	}
	r.loggedReasons[cancelReason] = &loggedReason{loggedAt: time.Now()}
	r.mu.Unlock()
	event := log.Warn()
	details(event)
	if unloggedCount > 0 {
		event.Int("more_before", unloggedCount)
	}
	event.Msg("connection refused: " + cancelReason)
}
