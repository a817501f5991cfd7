package clients

import (
	"slices"
	"strings"
	"time"
)

// ID is the name and the version that a client sends in initialize.
type ID struct{ Name, Version string }

// Timeout is how long a client waits for the answer to a call.
type Timeout struct {
	// Limit is the time after which the client gives up the call; 0 means no limit.
	Limit time.Duration
	// ProgressRestarts is true if each progress notification restarts the time.
	ProgressRestarts bool
}

// MinTimeout and MaxTimeout are the shortest and the longest timeout of a client that
// opentabs learns or that a user can set.
const (
	MinTimeout = time.Second
	MaxTimeout = 24 * time.Hour
)

// GiveUp describes a call whose client stopped waiting for the answer.
type GiveUp struct {
	// Waited is the time from the request until the client gave up.
	Waited time.Duration
	// HasProgress is set if the client received progress of the call. SinceProgress is the
	// time from the last notification until the client gave up. LongestPause is the longest
	// time before that without a notification: between two notifications, or from the
	// request to the first one.
	HasProgress   bool
	SinceProgress time.Duration
	LongestPause  time.Duration
	// Reason is the text with which the client cancelled the call; empty if the client
	// gave no reason or closed its connection.
	Reason string
}

// earlyBy and lateBy are how much earlier and later than after its timeout the server
// receives that a client gave up.
const (
	earlyBy = 100 * time.Millisecond
	lateBy  = 400 * time.Millisecond
)

// commonTimeouts are the timeouts that clients often have, the most common first. They
// are at least 30 s: a client that leaves earlier was more likely stopped by its user.
var commonTimeouts = []time.Duration{
	60 * time.Second, 30 * time.Second, 5 * time.Minute, 2 * time.Minute, 3 * time.Minute, 10 * time.Minute, 4 * time.Minute, 90 * time.Second,
	15 * time.Minute, 30 * time.Minute, time.Hour,
}

// rankOf returns the index of the common timeout that a client kept, or
// len(commonTimeouts) if waited is none of them.
func rankOf(waited time.Duration) int {
	if i := slices.IndexFunc(commonTimeouts, func(common time.Duration) bool { return waited >= common-earlyBy && waited <= common+lateBy }); i >= 0 {
		return i
	}
	return len(commonTimeouts)
}

// isTimeoutReason reports whether the reason of a cancellation describes a timeout. The
// official SDKs send:
//
//   - TypeScript: "McpError: MCP error -32001: Request timed out", and for an
//     AbortSignal.timeout "TimeoutError: The operation was aborted due to timeout"
//   - Kotlin: "MCP error -32001: Request timed out"
//   - Go, and mcp-go over stdio: "context deadline exceeded"
//   - Rust: "request timeout"
//
// The SDKs for C#, Python and Java send no reason, or no cancellation at all.
func isTimeoutReason(reason string) bool {
	reason = strings.ToLower(reason)
	return slices.ContainsFunc([]string{"timed out", "timeout", "time-out", "time out", "deadline exceeded", "-32001"}, func(part string) bool {
		return strings.Contains(reason, part)
	})
}

// isNeutralReason reports whether a reason describes neither a timeout nor a decision of
// the user. Clients that cancel by their own timer often send such a reason.
func isNeutralReason(reason string) bool {
	return reason == "" || reason == "context canceled" || strings.HasPrefix(reason, "AbortError")
}

// InferTimeout returns the timeout that explains why the client gave up. InferTimeout
// returns false if the client probably gave up for another reason, such as a user who
// pressed stop.
func (g GiveUp) InferTimeout() (Timeout, bool) {
	isTimeout := isTimeoutReason(g.Reason)
	if !isTimeout && !isNeutralReason(g.Reason) {
		return Timeout{}, false
	}
	waited, restarts := g.explainWait()
	if waited < MinTimeout-earlyBy || waited > MaxTimeout || !isTimeout && rankOf(waited) == len(commonTimeouts) {
		return Timeout{}, false
	}
	return Timeout{Limit: roundWait(waited), ProgressRestarts: restarts}, true
}

// explainWait returns the time after which the client probably gives up, and whether
// progress restarts this time.
func (g GiveUp) explainWait() (waited time.Duration, restarts bool) {
	// A client that waited longer for earlier progress does not restart its time.
	if !g.HasProgress || g.SinceProgress+lateBy < g.LongestPause {
		return g.Waited, false
	}
	startRank, progressRank := rankOf(g.Waited), rankOf(g.SinceProgress)
	switch {
	case startRank < progressRank:
		return g.Waited, false
	case progressRank < startRank:
		return g.SinceProgress, true
	case startRank < len(commonTimeouts): // the only progress came right after the request
		return g.Waited, false
	case g.SinceProgress < 2*g.LongestPause: // the client gave up in the middle of regular progress
		return g.Waited, false
	case g.Waited < g.SinceProgress+g.SinceProgress/2:
		// The progress was so early that both explanations are possible. The shorter time
		// without restarts loses no call in either case.
		return g.SinceProgress, false
	}
	return g.SinceProgress, true
}

// roundWait removes the delay with which the server receives that a client gave up.
// Timeouts are mostly whole seconds.
func roundWait(waited time.Duration) time.Duration {
	if whole := (waited + earlyBy).Truncate(time.Second); waited <= whole+lateBy {
		return max(whole, MinTimeout)
	}
	return waited.Truncate(100 * time.Millisecond)
}
