package dispatch

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/internal/goldentest"
	"opentabs/wire"
)

// scripted is a bridge whose page runs a function.
type scripted struct {
	instant
	page    func(Sink)
	stopped Stopped // the page's answer to a stop; empty for none
}

func (b scripted) Start(_ context.Context, _ Run, s Sink) *wire.CallError {
	go b.page(s)
	return nil
}

func (b scripted) Cancel(_, _ string, answered func(wire.CancelOutcome)) {
	if b.stopped != "" {
		answered(b.stopped)
		return
	}
	time.AfterFunc(time.Minute, func() { answered(wire.CancelIgnored) })
}

// blocking is a gate that blocks every call.
type blocking struct{ err *wire.CallError }

func (blocking) Name() string { return "blocking" }

func (g blocking) Decide(Info) Verdict { return Verdict{Block: g.err} }

// beforePage are the codes of calls that never reach a page.
var beforePage = []wire.ErrorCode{
	wire.ErrDenied, wire.ErrNotReviewed, wire.ErrNeedsSettings, wire.ErrApprovalTimeout, wire.ErrRateLimited, wire.ErrInvalidArguments,
	wire.ErrPluginBroken, wire.ErrNoBrowser, wire.ErrNoTab, wire.ErrAmbiguousTarget, wire.ErrNestedTooDeep,
}

// TestErrorTexts compares the text of each ending with the golden file. Each ending
// is a real one: by a gate, by the page, by a limit or by the client.
func TestErrorTexts(t *testing.T) {
	var b strings.Builder
	write := func(name string, bridge scripted, gates []Gate, cancelAfter time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if cancelAfter > 0 {
				time.AfterFunc(cancelAfter, cancel)
			}
			_, err := New(bridge, Options{Gates: gates}).Call(ctx, Call{Tool: Tool{Plugin: "messages", Name: "export"}, Progress: func(Progress) {}})
			if err == nil {
				t.Fatalf("%s: the call succeeded", name)
			}
			b.WriteString(name + "\n  " + err.Error() + "\n")
			<-time.After(2 * time.Minute) // the page's late answer
		})
	}
	fails := func(err *wire.CallError) scripted {
		return scripted{page: func(s Sink) {
			<-time.After(20 * time.Second)
			s.Finish(nil, err)
		}}
	}
	silent := func(Sink) {}
	reporting := func(message string) func(Sink) {
		return func(s Sink) {
			for range 29 {
				<-time.After(10 * time.Second)
				s.Reports([]wire.Report{{Message: message}}, 0)
			}
		}
	}
	for _, code := range wire.ErrorCodes() {
		err := &wire.CallError{Code: code, Message: "what happened"}
		switch {
		case slices.Contains(beforePage, code):
			write(string(code), scripted{}, []Gate{blocking{err}}, 0)
		case code == wire.ErrIdleTimeout:
			write(string(code), scripted{page: silent, stopped: wire.CancelAborted}, nil, 0)
		case code == wire.ErrDeadlineExceeded:
			write(string(code), scripted{page: reporting("page 30 of 90"), stopped: wire.CancelAborted}, nil, 0)
		case code == wire.ErrCancelled:
			write(string(code), scripted{page: silent, stopped: wire.CancelAborted}, nil, 7*time.Second)
		default:
			write(string(code), fails(err), nil, 0)
		}
	}
	write("with progress, ignored", scripted{page: reporting("page 30 of 90"), stopped: wire.CancelIgnored}, nil, 0)
	write("with progress, finished", scripted{page: reporting("page 30 of 90"), stopped: wire.CancelFinished}, nil, 0)
	write("no message, no answer yet", scripted{page: reporting("")}, nil, 0)
	toolError := func(message string, info wire.ToolErrorInfo) scripted {
		return fails(&wire.CallError{Code: wire.ErrToolError, Message: message, Tool: &info})
	}
	after := 1500.0
	write("tool error", toolError("Channel not found.", wire.ToolErrorInfo{Code: "NOT_FOUND", Category: "not_found"}), nil, 0)
	write("tool error, retryable", toolError("slow down", wire.ToolErrorInfo{Code: "RATE_LIMITED", Category: "rate_limit", Retryable: true, RetryAfterMs: &after}), nil, 0)
	for _, code := range []string{"cancelled", "denied", "not_reviewed", "approval_timeout", "user_denied", "user_timeout"} {
		write("passed on by a tool: "+code, toolError("what happened", wire.ToolErrorInfo{Code: code}), nil, 0)
	}
	for _, code := range []string{"approval_timeout", "idle_timeout"} {
		write("passed on by a tool, retryable: "+code, toolError("what happened", wire.ToolErrorInfo{Code: code, Retryable: true}), nil, 0)
	}

	goldentest.Compare(t, "testdata/errors.txt", []byte(b.String()))
}
