package clients

import (
	"testing"
	"time"
)

func TestInferTimeout(t *testing.T) {
	const reason = "McpError: MCP error -32001: Request timed out"
	s := time.Second
	for _, testCase := range []struct {
		name             string
		g                AbandonedCall
		limit            time.Duration
		progressRestarts bool
	}{
		{"without progress", AbandonedCall{WaitDuration: 60*s + 12*time.Millisecond, Reason: reason}, 60 * s, false},
		{"an unusual time", AbandonedCall{WaitDuration: 77 * s, Reason: reason}, 77 * s, false},
		{"0.7 s more than a whole second", AbandonedCall{WaitDuration: 3700 * time.Millisecond, Reason: "request timeout"}, 3700 * time.Millisecond, false},
		{"too short", AbandonedCall{WaitDuration: s / 2, Reason: reason}, 0, false},
		{"progress each second, 60 s after the start", AbandonedCall{60 * s, true, s / 2, s, reason}, 60 * s, false},
		{"progress each 10 s, 60 s after the start", AbandonedCall{60 * s, true, 10 * s, 10 * s, reason}, 60 * s, false},
		{"progress until 30 s, 60 s after the start", AbandonedCall{60 * s, true, 30 * s, 10 * s, reason}, 60 * s, false},
		{"reminders at 0, 25 and 50 s", AbandonedCall{60 * s, true, 10 * s, 25 * s, reason}, 60 * s, false},
		{"60 s after the last progress", AbandonedCall{90 * s, true, 60 * s, 10 * s, reason}, 60 * s, true},
		{"60 s after progress at 2 s", AbandonedCall{62 * s, true, 60 * s, 2 * s, reason}, 60 * s, true},
		{"60 s after progress for 4 min", AbandonedCall{300 * s, true, 60 * s, 20 * s, reason}, 60 * s, true},
		{"an earlier pause that was longer", AbandonedCall{130 * s, true, 60 * s, 70 * s, reason}, 130 * s, false},
		{"progress only at the start", AbandonedCall{60 * s, true, 60*s - time.Millisecond, time.Millisecond, reason}, 60 * s, false},
		{"5 s after the last progress", AbandonedCall{10 * s, true, 5 * s, s, reason}, 5 * s, true},
		{"5 s after the start", AbandonedCall{5 * s, true, s / 2, s, reason}, 5 * s, false},
		{"the progress was too early", AbandonedCall{6 * s, true, 5 * s, s, reason}, 5 * s, false},
		{"disconnected at a round time", AbandonedCall{WaitDuration: 120*s + 200*time.Millisecond}, 120 * s, false},
		{"disconnected 60 s after progress", AbandonedCall{83 * s, true, 60 * s, 4 * s, ""}, 60 * s, true},
		{"disconnected at an unusual time", AbandonedCall{WaitDuration: 61 * s}, 0, false},
		{"disconnected early", AbandonedCall{WaitDuration: 20 * s}, 0, false},
		{"stopped by the user", AbandonedCall{WaitDuration: 60 * s, Reason: "stopped by the user"}, 0, false},
		{"aborted at a round time", AbandonedCall{WaitDuration: 60 * s, Reason: "AbortError: This operation was aborted"}, 60 * s, false},
	} {
		got, ok := testCase.g.InferTimeout()
		if want := (Timeout{testCase.limit, testCase.progressRestarts}); got != want || ok != (testCase.limit > 0) {
			t.Errorf("%s: inferred timeout %+v, ok = %t; want %+v", testCase.name, got, ok, want)
		}
	}
}

func TestIsTimeoutReason(t *testing.T) {
	for reason, want := range map[string]bool{
		"McpError: MCP error -32001: Request timed out":                                 true, // sent by the TypeScript SDK 1.x
		"SdkError: Request timed out":                                                   true, // sent by the TypeScript SDK 2.x
		"TimeoutError: The operation was aborted due to timeout":                        true, // the error text of AbortSignal.timeout
		"MCP error -32001: Request timed out":                                           true, // sent by the Kotlin SDK
		"context deadline exceeded":                                                     true, // sent by the Go SDK
		"request timeout":                                                               true, // sent by the Rust SDK
		"Timed out while waiting for response to CallToolRequest. Waited 60.0 seconds.": true, // the error text of a timeout in the Python SDK
		"": false, "context canceled": false, "AbortError: This operation was aborted": false, "User requested cancellation": false,
	} {
		if got := isTimeoutReason(reason); got != want {
			t.Errorf("isTimeoutReason(%q) = %t, want %t", reason, got, want)
		}
	}
}
