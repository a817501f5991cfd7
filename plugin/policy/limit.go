package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"opentabs/internal/humanize"
)

// These constants are the minimum and maximum values of the fields of a [Limit].
const (
	maxLimitCalls  = 10000
	minLimitPeriod = time.Second
	maxLimitPeriod = 24 * time.Hour
)

// Limit is how often a tool is allowed to run: at most Calls times within Per. The zero Limit
// means no limit.
type Limit struct {
	// Calls is the maximum number of calls within Per: 1 to 10,000.
	Calls int
	// Per is the period for the maximum number of calls: 1 s to 24 h.
	Per time.Duration
}

// ParseLimit parses a limit that the user typed, such as "10/1m" or "1/30s".
func ParseLimit(limitText string) (Limit, error) {
	calls, per, ok := strings.Cut(limitText, "/")
	n, err := strconv.Atoi(strings.TrimSpace(calls))
	if !ok || err != nil || n < 1 || n > maxLimitCalls {
		return Limit{}, fmt.Errorf("%q is not a limit: write a number of calls from 1 to %d and a time, such as 10/1m", limitText, maxLimitCalls)
	}
	d, err := time.ParseDuration(strings.TrimSpace(per))
	if err != nil || d < minLimitPeriod || d > maxLimitPeriod {
		return Limit{}, fmt.Errorf("%q is not a limit: write a time from 1s to 24h behind the slash, such as 10/1m", limitText)
	}
	return Limit{Calls: n, Per: d}, nil
}

// String returns the limit in the form that ParseLimit accepts, such as "10/1m"; empty
// for no limit.
func (l Limit) String() string {
	if l == (Limit{}) {
		return ""
	}
	return fmt.Sprintf("%d/%s", l.Calls, humanize.ShortDuration(l.Per))
}

// MarshalText implements [encoding.TextMarshaler].
func (l Limit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *Limit) UnmarshalText(limitText []byte) (err error) {
	*l, err = Limit{}, nil
	if len(limitText) > 0 {
		*l, err = ParseLimit(string(limitText))
	}
	return err
}

// callCounters counts the calls of tools that have a limit. callCounters is safe for
// concurrent use.
type callCounters struct {
	mu         sync.Mutex              // the mutex guards the field recentRuns
	recentRuns map[string][]countedRun // recentRuns maps tools to their recent calls, oldest first
}

// countedRun is a call that counts toward the limit of its tool.
type countedRun struct {
	callID    string
	startedAt time.Time
}

// timeUntilAllowed returns 0 for a call that it has already counted, because the gates can decide about the call again,
// for example while it waits for the reload of its tab.
func (m *callCounters) timeUntilAllowed(tool, callID string, l Limit, countsRun bool) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, recentRuns := time.Now(), m.recentRuns[tool]
	for len(recentRuns) > 0 && now.Sub(recentRuns[0].startedAt) >= l.Per {
		recentRuns = recentRuns[1:]
	}
	if len(recentRuns) >= l.Calls {
		if slices.ContainsFunc(recentRuns, func(run countedRun) bool { return run.callID == callID }) {
			return 0
		}
		return recentRuns[len(recentRuns)-l.Calls].startedAt.Add(l.Per).Sub(now)
	}
	if countsRun {
		if m.recentRuns == nil {
			m.recentRuns = map[string][]countedRun{}
		}
		m.recentRuns[tool] = append(recentRuns, countedRun{callID, now})
	}
	return 0
}
