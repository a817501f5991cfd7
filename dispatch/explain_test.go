package dispatch

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"opentabs/wire"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestErrorTexts holds the whole text of every code, as an agent reads it.
func TestErrorTexts(t *testing.T) {
	var b strings.Builder
	write := func(name string, c *liveCall) {
		b.WriteString(name + "\n  " + c.explain().Message + "\n")
	}
	begun := time.Unix(1000, 0)
	ran := func(err *wire.CallError) *liveCall {
		return &liveCall{
			req: Call{Tool: Tool{Plugin: "messages", Name: "export"}}, status: StatusFailed, err: err,
			begun: begun, ended: begun.Add(30 * time.Second), took: 30 * time.Second,
		}
	}
	for _, code := range wire.ErrorCodes() {
		if _, ok := advice[code]; !ok {
			t.Errorf("no advice for %s", code)
		}
		write(string(code), ran(&wire.CallError{Code: code, Message: "what happened"}))
	}
	c := ran(&wire.CallError{Code: wire.ErrDeadlineExceeded, Message: "it reached the limit"})
	c.ended, c.took = begun.Add(5*time.Minute), 5*time.Minute
	c.reports, c.lastReport, c.message = 30, begun.Add(290*time.Second), "page 30 of 90"
	c.told, c.stopped = true, wire.CancelAborted
	write("with progress, stopped", c)
	c.stopped = wire.CancelIgnored
	write("with progress, ignored", c)
	c.message, c.stopped = "", ""
	write("no message, no answer yet", c)
	after := 1500.0
	write("tool error", ran(&wire.CallError{Code: wire.ErrToolError, Message: "Channel not found.", Tool: &wire.ToolErrorInfo{Code: "NOT_FOUND", Category: "not_found"}}))
	write("tool error, retryable", ran(&wire.CallError{Code: wire.ErrToolError, Message: "slow down", Tool: &wire.ToolErrorInfo{Code: "RATE_LIMITED", Category: "rate_limit", Retryable: true, RetryAfterMs: &after}}))
	for _, code := range []string{"cancelled", "denied", "not_reviewed", "approval_timeout", "user_denied", "user_timeout"} {
		write("passed on by a tool: "+code, ran(&wire.CallError{Code: wire.ErrToolError, Message: "what happened", Tool: &wire.ToolErrorInfo{Code: code}}))
	}
	for _, code := range []string{"approval_timeout", "idle_timeout"} {
		write("passed on by a tool, retryable: "+code, ran(&wire.CallError{Code: wire.ErrToolError, Message: "what happened", Tool: &wire.ToolErrorInfo{Code: code, Retryable: true}}))
	}
	write("never ran", &liveCall{req: Call{Tool: Tool{Plugin: "messages", Name: "export"}}, err: &wire.CallError{Code: wire.ErrNoBrowser, Message: "no browser is connected"}})

	const golden = "testdata/errors.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("texts differ from %s; look at them, then run: go test ./dispatch -update\n%s", golden, b.String())
	}
}

func TestSpell(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0 s", 1499 * time.Millisecond: "1.5 s", 30 * time.Second: "30.0 s", 59970 * time.Millisecond: "1 min 0.0 s",
		5 * time.Minute: "5 min 0.0 s", 125500 * time.Millisecond: "2 min 5.5 s",
	} {
		if got := spell(d); got != want {
			t.Errorf("spell(%v) = %q, want %q", d, got, want)
		}
	}
}
