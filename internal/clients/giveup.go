package clients

import (
	"slices"
	"strings"
	"time"
)

// ID is the name and the version that an MCP client sends in initialize.
type ID struct{ Name, Version string }

// Timeout is how long an MCP client waits for the answer to a call.
type Timeout struct {
	// Limit is the time after which the client gives up a call; 0 means no limit.
	Limit time.Duration
	// ProgressRestarts is true if each progress notification restarts the client's
	// timeout.
	ProgressRestarts bool
}

// MinTimeout and MaxTimeout bound the timeouts of clients that opentabs learns or that a
// user can set.
const (
	MinTimeout = time.Second
	MaxTimeout = 24 * time.Hour
)

// GiveUp describes how an MCP client stopped waiting for the answer to a call.
type GiveUp struct {
	// Waited is the time from the request until the client gave up the call.
	Waited time.Duration
	// HasProgress is true if the client received progress notifications of the call.
	// SinceProgress is the time from the last notification until the client gave up.
	// LongestPause is the longest earlier time without a notification: between two
	// notifications, or from the request to the first notification.
	HasProgress   bool
	SinceProgress time.Duration
	LongestPause  time.Duration
	// Reason is the text with which the client cancelled the call. Reason is empty if the
	// client gave no reason or closed its connection.
	Reason string
}

// A client seems to give up a call between maxEarly before its timeout and maxLate after
// its timeout.
const (
	maxEarly = 100 * time.Millisecond
	maxLate  = 400 * time.Millisecond
)

// commonTimeouts are the timeouts that clients often have, the most common timeout first.
// They are at least 30 s, because a shorter wait probably ends when the user stops the
// call.
var commonTimeouts = []time.Duration{
	60 * time.Second, 30 * time.Second, 5 * time.Minute, 2 * time.Minute, 3 * time.Minute, 10 * time.Minute, 4 * time.Minute, 90 * time.Second,
	15 * time.Minute, 30 * time.Minute, time.Hour,
}

// rankTimeout returns the index in commonTimeouts of the timeout that matches the time waited,
// or len(commonTimeouts) if no common timeout matches.
func rankTimeout(waited time.Duration) int {
	if i := slices.IndexFunc(commonTimeouts, func(common time.Duration) bool { return waited >= common-maxEarly && waited <= common+maxLate }); i >= 0 {
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

// isNeutralReason reports whether a client's reason for a cancellation indicates neither
// a timeout nor a decision of the user. A client that cancels after its timeout often
// sends such a reason.
func isNeutralReason(reason string) bool {
	return reason == "" || reason == "context canceled" || strings.HasPrefix(reason, "AbortError")
}

// InferTimeout returns the client's timeout that explains why the client gave up the
// call. InferTimeout returns false if the client probably gave up for another reason,
// such as a user who pressed stop.
func (g GiveUp) InferTimeout() (Timeout, bool) {
	isTimeout := isTimeoutReason(g.Reason)
	if !isTimeout && !isNeutralReason(g.Reason) {
		return Timeout{}, false
	}
	waited, restarts := g.explainWait()
	if waited < MinTimeout-maxEarly || waited > MaxTimeout || !isTimeout && rankTimeout(waited) == len(commonTimeouts) {
		return Timeout{}, false
	}
	return Timeout{Limit: roundWait(waited), ProgressRestarts: restarts}, true
}

// explainWait returns the client's probable timeout, and whether progress restarts the
// timeout.
func (g GiveUp) explainWait() (waited time.Duration, restarts bool) {
	// If the client waited longer for an earlier progress notification, progress does not
	// restart its timeout.
	if !g.HasProgress || g.SinceProgress+maxLate < g.LongestPause {
		return g.Waited, false
	}
	startRank, progressRank := rankTimeout(g.Waited), rankTimeout(g.SinceProgress)
	switch {
	case startRank < progressRank:
		return g.Waited, false
	case progressRank < startRank:
		return g.SinceProgress, true
	case startRank < len(commonTimeouts): // the only progress notification came right after the request
		return g.Waited, false
	case g.SinceProgress < 2*g.LongestPause: // the client gave up between regular progress notifications
		return g.Waited, false
	case g.Waited < g.SinceProgress+g.SinceProgress/2:
		// The progress notification came so early that both explanations are possible.
		// The shorter timeout without restarts is safe in both cases.
		return g.SinceProgress, false
	}
	return g.SinceProgress, true
}

// roundWait removes the network delay from the time that a client waited. Most timeouts
// are whole seconds.
func roundWait(waited time.Duration) time.Duration {
	if whole := (waited + maxEarly).Truncate(time.Second); waited <= whole+maxLate {
		return max(whole, MinTimeout)
	}
	return waited.Truncate(100 * time.Millisecond)
}
