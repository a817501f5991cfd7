package wsbridge

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// refusalQuiet is how long a reason for a refusal is not logged again. Every
// page that a person opens can make its browser ask to connect, as often as it
// likes.
const refusalQuiet = 10 * time.Second

// refusals keeps connections that are refused from filling the log. The zero
// value is ready; it is safe for concurrent use.
type refusals struct {
	mu    sync.Mutex // guards quiet
	quiet map[string]*quietReason
}

// quietReason is a reason that was logged.
type quietReason struct {
	logged time.Time
	// more counts refusals since that were not.
	more int
}

// note logs that a connection was refused, at most once in refusalQuiet for
// each reason, with how many were refused for it meanwhile. A reason is a fixed
// sentence; what the other side sent goes into details.
func (r *refusals) note(log *zerolog.Logger, reason string, details func(*zerolog.Event)) {
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
