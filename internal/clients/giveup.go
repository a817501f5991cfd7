package clients

import (
	"slices"
	"strings"
	"time"
)

// ID is the name and the version that an MCP client sends in its initialize request.
type ID struct{ Name, Version string }

// Timeout is how long an MCP client waits for the response to a call.
type Timeout struct {
	// Limit is the time after which the client gives up on a call; 0 means that the client
	// never gives up.
	Limit time.Duration
	// ProgressRestarts is true if each progress notification restarts the client's
	// timeout.
	ProgressRestarts bool
}

// MinTimeout and MaxTimeout are the shortest and the longest client timeout that opentabs
// infers or that a user can set.
const (
	MinTimeout = time.Second
	MaxTimeout = 24 * time.Hour
)

// AbandonedCall describes when and why an MCP client stopped waiting for the response to a call.
type AbandonedCall struct {
	// The field WaitDuration is how long the client waited, from its request until it gave up
	// the call.
	WaitDuration time.Duration
	// HasProgress is true if the client received progress notifications for the call. TimeSinceProgress is
	// the time from the last progress notification until the client gave up. LongestProgressPause is the
	// longest time between two notifications, or from the request to the first notification.
	HasProgress          bool
	TimeSinceProgress    time.Duration
	LongestProgressPause time.Duration
	// Reason is the reason in the client's cancellation. The field Reason is empty if the
	// client sent no reason, or closed its connection instead.
	Reason string
}

// Network delays and imprecise timers make clients seem to give up slightly before or after their timeout.
const (
	earlyTimeoutTolerance = 100 * time.Millisecond
	lateTimeoutTolerance  = 400 * time.Millisecond
)

// Timeouts below 30 s are not listed: if a client gives up that early, the user probably stopped the call.
var commonTimeouts = []time.Duration{
	60 * time.Second, 30 * time.Second, 5 * time.Minute, 2 * time.Minute, 3 * time.Minute, 10 * time.Minute, 4 * time.Minute, 90 * time.Second,
	15 * time.Minute, 30 * time.Minute, time.Hour,
}

func commonTimeoutRank(waitDuration time.Duration) int {
	if i := slices.IndexFunc(commonTimeouts, func(commonTimeout time.Duration) bool {
		return waitDuration >= commonTimeout-earlyTimeoutTolerance && waitDuration <= commonTimeout+lateTimeoutTolerance
	}); i >= 0 {
		return i
	}
	return len(commonTimeouts)
}

// After a timeout, the SDKs for C#, Python and Java send a cancellation without a reason, or no cancellation at all.
// The other official SDKs send these reasons:
//
//   - TypeScript: "McpError: MCP error -32001: Request timed out", and for an
//     AbortSignal.timeout "TimeoutError: The operation was aborted due to timeout"
//   - Kotlin: "MCP error -32001: Request timed out"
//   - Go, and mcp-go over stdio: "context deadline exceeded"
//   - Rust: "request timeout"
func isTimeoutReason(reason string) bool {
	reason = strings.ToLower(reason)
	return slices.ContainsFunc([]string{"timed out", "timeout", "time-out", "time out", "deadline exceeded", "-32001"}, func(textPart string) bool {
		return strings.Contains(reason, textPart)
	})
}

// Many clients send a neutral reason when their timeout has ended a call.
func isGenericReason(reason string) bool {
	return reason == "" || reason == "context canceled" || strings.HasPrefix(reason, "AbortError")
}

// InferTimeout infers the client's timeout from how the client gave up the call.
// InferTimeout returns false if the client probably gave up for another reason, for
// example because the user pressed stop.
func (g AbandonedCall) InferTimeout() (Timeout, bool) {
	isTimeout := isTimeoutReason(g.Reason)
	if !isTimeout && !isGenericReason(g.Reason) {
		return Timeout{}, false
	}
	waitDuration, progressRestarts := g.inferLimit()
	if waitDuration < MinTimeout-earlyTimeoutTolerance || waitDuration > MaxTimeout || !isTimeout && commonTimeoutRank(waitDuration) == len(commonTimeouts) {
		return Timeout{}, false
	}
	return Timeout{Limit: roundToCommonSecond(waitDuration), ProgressRestarts: progressRestarts}, true
}

func (g AbandonedCall) inferLimit() (waitDuration time.Duration, progressRestarts bool) {
	// If progress notifications restarted the client's timeout, the client would never have waited
	// longer for a notification than it waited after the last one.
	if !g.HasProgress || g.TimeSinceProgress+lateTimeoutTolerance < g.LongestProgressPause {
		return g.WaitDuration, false
	}
	waitRank, progressRank := commonTimeoutRank(g.WaitDuration), commonTimeoutRank(g.TimeSinceProgress)
	switch {
	case waitRank < progressRank:
		return g.WaitDuration, false
	case progressRank < waitRank:
		return g.TimeSinceProgress, true
	case waitRank < len(commonTimeouts): // both times match the same common timeout, because the only notification came right after the request
		return g.WaitDuration, false
	case g.TimeSinceProgress < 2*g.LongestProgressPause: // progress notifications arrived regularly until the client gave up
		return g.WaitDuration, false
	case g.WaitDuration < g.TimeSinceProgress+g.TimeSinceProgress/2:
		// The timeout could have started at the request or at the last notification; the shorter timeout is safe.
		return g.TimeSinceProgress, false
	}
	return g.TimeSinceProgress, true
}

// roundToCommonSecond rounds a time that is close to a whole second, because most timeouts are whole
// seconds.
func roundToCommonSecond(waitDuration time.Duration) time.Duration {
	if totalDuration := (waitDuration + earlyTimeoutTolerance).Truncate(time.Second); waitDuration <= totalDuration+lateTimeoutTolerance {
		return max(totalDuration, MinTimeout)
	}
	return waitDuration.Truncate(100 * time.Millisecond)
}
