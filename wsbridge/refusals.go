package wsbridge

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// refusalQuiet is the minimum time between two log lines for one reason. Any page
// that a user opens can make the browser attempt connections, without limit.
const refusalQuiet = 10 * time.Second

// refusals limits the log lines about rejected connections. The zero value is
// ready; it is safe for concurrent use.
type refusals struct {
	mu    sync.Mutex // guards quiet
	quiet map[string]*quietReason
}

// quietReason is a reason that was logged.
type quietReason struct {
	logged time.Time
	// more counts the later refusals that were not logged.
	more int
}

// logRejected logs a rejected connection, at most once per reason in refusalQuiet, with
// the number of unlogged refusals before. A reason is a constant sentence; data
// of the peer goes into details.
func (r *refusals) logRejected(log *zerolog.Logger, reason string, details func(*zerolog.Event)) {
	r.mu.Lock()
	if r.quiet == nil {
		r.quiet = map[string]*quietReason{}
	}
	q := r.quiet[reason]
	if q != nil && time.Since(q.logged) < refusalQuiet {
		q.more++
		r.mu.Unlock()
		return
	}
	more := 0
	if q != nil {
		more = q.more
	}
	r.quiet[reason] = &quietReason{logged: time.Now()}
	r.mu.Unlock()
	event := log.Warn()
	details(event)
	if more > 0 {
		event.Int("more_before", more)
	}
	event.Msg("connection refused: " + reason)
}
