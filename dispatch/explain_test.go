package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/internal/goldentest"
	"opentabs/wire"
)

type scriptedBridge struct {
	instantBridge
	targets *Targets // the field targets contains the available targets; nil means one document that can run calls
	page    func(Sink)
	stopped StopOutcome // stopped is the page's answer to a request to stop the tool; empty if the page does not answer
}

func (b scriptedBridge) Targets(ctx context.Context, want TargetChoice) Targets {
	if b.targets != nil {
		return *b.targets
	}
	return b.instantBridge.Targets(ctx, want)
}

func (b scriptedBridge) Start(_ context.Context, _ Run, s Sink) *wire.CallError {
	go b.page(s)
	return nil
}

func (b scriptedBridge) Cancel(_, _ string, answered func(wire.CancelOutcome)) {
	if b.stopped != "" {
		answered(b.stopped)
		return
	}
	time.AfterFunc(time.Minute, func() { answered(wire.CancelIgnored) })
}

type selfCallingBridge struct {
	instantBridge
	mu    sync.Mutex
	sinks map[string]Sink
}

func (b *selfCallingBridge) Start(_ context.Context, run Run, s Sink) *wire.CallError {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sinks[run.ID] = s
	go s.Ask(wire.ToolAskParams{Ask: 1, Call: &wire.AskCall{Tool: "export", Args: json.RawMessage(`{}`)}})
	return nil
}

func (b *selfCallingBridge) Answer(runID string, _ int, _ json.RawMessage, err *wire.CallError) {
	b.mu.Lock()
	defer b.mu.Unlock()
	info := err.Tool
	if info == nil {
		info = &wire.ToolErrorInfo{Code: string(err.Code)}
	}
	go b.sinks[runID].Finish(nil, &wire.CallError{Code: wire.ErrToolError, Message: err.Message, Tool: info})
}

type fixedVerdictGate struct{ verdict Verdict }

func (fixedVerdictGate) Name() string { return "deciding" }

func (g fixedVerdictGate) Decide(CallInfo) Verdict { return g.verdict }

func newExportCall() Call {
	return Call{Tool: Tool{
		Plugin: "messages", PluginName: "Messages", Matches: []string{"*://chat.example/*"}, Name: "export",
	}, Progress: func(Progress) {}}
}

var gateErrorCodes = []wire.ErrorCode{
	wire.ErrDenied, wire.ErrNotReviewed, wire.ErrNeedsSettings, wire.ErrPluginBroken, wire.ErrInvalidArguments, wire.ErrTabInUse, wire.ErrTabTaken,
}

// startErrorCodes are the error codes with which a page rejects a call before the tool's
// handler runs.
var startErrorCodes = []wire.ErrorCode{wire.ErrNotReady, wire.ErrUnknownTool, wire.ErrUnknownPrompt, wire.ErrUnsafePage}

type failingCall struct {
	name        string
	bridge      Bridge
	options     Options
	earlier     int
	cancelAfter time.Duration // cancelAfter is when the client cancels the call; 0 if never
}

func (e failingCall) text(t *testing.T) string {
	var text string
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if e.cancelAfter > 0 {
			time.AfterFunc(e.cancelAfter, cancel)
		}
		d := New(e.bridge, e.options)
		for range e.earlier {
			go func() { _, _ = d.Call(ctx, newExportCall()) }() // this call runs until the test ends
			synctest.Wait()
		}
		_, err := d.Call(ctx, newExportCall())
		if err == nil {
			t.Fatalf("%s: the call succeeded", e.name)
		}
		var callError *Error
		if !errors.As(err, &callError) || callError.UserText == "" {
			t.Errorf("%s: the error %v has no text for the user", e.name, err)
		} else {
			for _, phrase := range []string{"the user", "Do not", "do not repeat", `"tabId"`, "tools_"} {
				if strings.Contains(callError.UserText, phrase) {
					t.Errorf("%s: the text for the user has %q, which only suits an agent: %s", e.name, phrase, callError.UserText)
				}
			}
			text = "agent: " + callError.Message + "\n  user:  " + callError.UserText
		}
		cancel()
		time.Sleep(2 * time.Minute)
	})
	return text
}

func failingCalls(silent func(Sink), reporting func(string) func(Sink)) map[wire.ErrorCode]failingCall {
	withTargets := func(targets Targets) Bridge { return scriptedBridge{targets: &targets} }
	tab := Target{Browser: "b1", BrowserName: "work", TabID: 7, DocumentID: "d1", URL: "https://chat.example/"}
	other := Target{Browser: "b2", BrowserName: "home", TabID: 8, DocumentID: "d2", URL: "https://chat.example/"}
	return map[wire.ErrorCode]failingCall{
		wire.ErrIdleTimeout:      {bridge: scriptedBridge{page: silent, stopped: wire.CancelAborted}},
		wire.ErrDeadlineExceeded: {bridge: scriptedBridge{page: reporting("page 30 of 90"), stopped: wire.CancelAborted}},
		wire.ErrCancelled:        {bridge: scriptedBridge{page: silent, stopped: wire.CancelAborted}, cancelAfter: 7 * time.Second},
		wire.ErrNoBrowser:        {bridge: withTargets(Targets{})},
		wire.ErrNoTab:            {bridge: withTargets(Targets{BrowserCount: 1})},
		wire.ErrAmbiguousTarget:  {bridge: withTargets(Targets{BrowserCount: 2, LiveTargets: []Target{tab, other}})},
		wire.ErrRateLimited:      {bridge: scriptedBridge{page: silent}, options: Options{MaxRunningCalls: 1, MaxWaitingCalls: 2}, earlier: 3},
		wire.ErrApprovalTimeout: {bridge: instantBridge{}, options: Options{
			Gates: []Gate{fixedVerdictGate{Verdict{Suspend: &Ticket{Reason: "It sends a message."}}}}}},
		wire.ErrNestedTooDeep: {bridge: &selfCallingBridge{sinks: map[string]Sink{}}, options: Options{
			ResolveTool: func(Tool, string, json.RawMessage) (Tool, json.RawMessage, *wire.CallError) {
				return newExportCall().Tool, json.RawMessage(`{}`), nil
			}}},
	}
}

func TestErrorTexts(t *testing.T) {
	var b strings.Builder
	add := func(f failingCall) { b.WriteString(f.name + "\n  " + f.text(t) + "\n") }
	write := func(name string, bridge Bridge) { add(failingCall{name: name, bridge: bridge}) }
	failsAfter := func(ran time.Duration, err *wire.CallError) scriptedBridge {
		return scriptedBridge{page: func(s Sink) {
			time.Sleep(ran)
			s.Finish(nil, err)
		}}
	}
	failBridge := func(err *wire.CallError) scriptedBridge { return failsAfter(20*time.Second, err) }
	silent := func(Sink) {}
	reporting := func(message string) func(Sink) {
		return func(s Sink) {
			for range 29 {
				time.Sleep(10 * time.Second)
				s.Reports([]wire.Report{{Message: message}}, 0)
			}
		}
	}
	ownSituations := failingCalls(silent, reporting)
	for _, code := range wire.ErrorCodes() {
		err := &wire.CallError{Code: code, Message: "what happened"}
		e, isOwn := ownSituations[code]
		switch {
		case isOwn:
		case slices.Contains(gateErrorCodes, code):
			e = failingCall{bridge: instantBridge{}, options: Options{Gates: []Gate{fixedVerdictGate{Verdict{Block: err}}}}}
		case slices.Contains(startErrorCodes, code):
			e = failingCall{bridge: failsAfter(0, err)}
		default:
			e = failingCall{bridge: failBridge(err)}
		}
		e.name = string(code)
		add(e)
	}
	write("with progress, ignored", scriptedBridge{page: reporting("page 30 of 90"), stopped: wire.CancelIgnored})
	write("with progress, finished", scriptedBridge{page: reporting("page 30 of 90"), stopped: wire.CancelFinished})
	write("no message, no answer yet", scriptedBridge{page: reporting("")})
	toolError := func(message string, info wire.ToolErrorInfo) scriptedBridge {
		return failBridge(&wire.CallError{Code: wire.ErrToolError, Message: message, Tool: &info})
	}
	retryAfter := 1500.0
	write("tool error", toolError("Channel not found.", wire.ToolErrorInfo{Code: "NOT_FOUND", Category: "not_found"}))
	write("tool error, retryable", toolError("slow down", wire.ToolErrorInfo{Code: "RATE_LIMITED", Category: "rate_limit", Retryable: true, RetryAfterMs: &retryAfter}))
	for _, code := range []string{"cancelled", "denied", "not_reviewed", "approval_timeout", "user_denied", "user_timeout"} {
		write("passed on by a tool: "+code, toolError("what happened", wire.ToolErrorInfo{Code: code}))
	}
	for _, code := range []string{"approval_timeout", "idle_timeout"} {
		write("passed on by a tool, retryable: "+code, toolError("what happened", wire.ToolErrorInfo{Code: code, Retryable: true}))
	}

	add(failingCall{name: "blocked by a gate with two texts", bridge: instantBridge{}, options: Options{Gates: []Gate{fixedVerdictGate{
		NewBlockVerdict(wire.ErrDenied, "the user has turned it off", "You have turned it off. Turn it on in the side panel.")}}}})
	write("failed in a page with two texts", failBridge(&wire.CallError{
		Code: wire.ErrToolError, Message: "the dialog is open; ask the user", UserText: "The dialog is open. Answer it.", PageText: "Leave?"}))

	goldentest.Compare(t, "testdata/errors.txt", []byte(b.String()))
}

func TestMayHaveActed(t *testing.T) {
	for _, c := range []struct {
		failure failure
		want    bool
	}{
		{failure{err: &wire.CallError{Code: wire.ErrDenied}}, false},
		{failure{err: &wire.CallError{Code: wire.ErrCancelled}}, false},
		{failure{err: &wire.CallError{Code: wire.ErrCancelled}, hasBegun: true}, true},
		{failure{err: &wire.CallError{Code: wire.ErrToolError}, hasBegun: true}, true},
		{failure{err: &wire.CallError{Code: wire.ErrNavigated, NotStarted: true}, hasBegun: true}, false},
		{failure{err: &wire.CallError{Code: wire.ErrNotReady}, hasBegun: true}, false},
		{failure{err: &wire.CallError{Code: wire.ErrInvalidArguments}, hasBegun: true}, false},
		{failure{err: &wire.CallError{Code: wire.ErrInvalidArguments}, hasBegun: true, tool: Tool{TargetKind: TargetTab}}, true},
	} {
		if got := explainFailure(c.failure).MayHaveActed; got != c.want {
			t.Errorf("%+v: %v, want %v", c.failure.err, got, c.want)
		}
	}
	lost := failure{err: &wire.CallError{Code: wire.ErrLinkLost}, hasBegun: true}
	if text := explainFailure(lost).Message; !strings.Contains(text, "the same idempotency key") {
		t.Errorf("the text of a tool that changes something is %q", text)
	}
	lost.hasBegun = false
	if text := explainFailure(lost).Message; strings.Contains(text, "key") {
		t.Errorf("the text of a call that has not begun is %q", text)
	}
	lost.hasBegun, lost.tool.About.IsReadOnly = true, true
	if text := explainFailure(lost).Message; strings.Contains(text, "key") {
		t.Errorf("the text of a tool that only reads is %q", text)
	}
}
