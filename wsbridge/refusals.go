package wsbridge

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// refusalLogInterval is the minimum time between two log lines for one reason. The log
// lines need a limit, because any web page can make the browser attempt endless
// connections.
const refusalLogInterval = 10 * time.Second

// refusalLog limits the log lines about rejected connections. The zero value of
// refusalLog is ready to use, and refusalLog is safe for concurrent use.
type refusalLog struct {
	mu            sync.Mutex // guards loggedReasons
	loggedReasons map[string]*loggedReason
}

// loggedReason is the record of a reason for rejected connections that was logged.
type loggedReason struct {
	loggedAt time.Time
	// unloggedCount counts the refusals after loggedAt that were not logged.
	unloggedCount int
}

// logRejected logs a rejected connection, at most once per reason in
// refusalLogInterval, with the number of refusals that were not logged before. The
// argument reason must be a constant sentence; data of the peer goes into the argument
// details.
func (r *refusalLog) logRejected(log *zerolog.Logger, reason string, details func(*zerolog.Event)) {
	r.mu.Lock()
	if r.loggedReasons == nil {
		r.loggedReasons = map[string]*loggedReason{}
	}
	q := r.loggedReasons[reason]
	if q != nil && time.Since(q.loggedAt) < refusalLogInterval {
		q.unloggedCount++
		r.mu.Unlock()
		return
	}
	unloggedCount := 0
	if q != nil {
		unloggedCount = q.unloggedCount
	}
	r.loggedReasons[reason] = &loggedReason{loggedAt: time.Now()}
	r.mu.Unlock()
	event := log.Warn()
	details(event)
	if unloggedCount > 0 {
		event.Int("more_before", unloggedCount)
	}
	event.Msg("connection refused: " + reason)
}
