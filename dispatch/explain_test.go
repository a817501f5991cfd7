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
	targets     *Targets // the available targets; nil means one document that can run calls
	page        func(Sink)
	stopOutcome StopOutcome // the page's answer to a request to stop the tool; empty if the page does not answer
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

func (b scriptedBridge) Cancel(_, _ string, onOutcome func(wire.CancelOutcome)) {
	if b.stopOutcome != "" {
		onOutcome(b.stopOutcome)
		return
	}
	time.AfterFunc(time.Minute, func() { onOutcome(wire.CancelIgnored) })
}

type selfCallingBridge struct {
	instantBridge
	mu    sync.Mutex
	sinks map[string]Sink
}

func (b *selfCallingBridge) Start(_ context.Context, toolRun Run, s Sink) *wire.CallError {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sinks[toolRun.ID] = s
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
	name            string
	bridge          Bridge
	options         Options
	earlierAttempts int
	cancelAfter     time.Duration // the time after which the client cancels the call; 0 if the client does not cancel
}

func (e failingCall) text(t *testing.T) string {
	var errorMessage string
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if e.cancelAfter > 0 {
			time.AfterFunc(e.cancelAfter, cancel)
		}
		d := New(e.bridge, e.options)
		for range e.earlierAttempts {
			go func() { _, _ = d.Call(ctx, newExportCall()) }() // the call runs until the test ends
			synctest.Wait()
		}
		_, err := d.Call(ctx, newExportCall())
		if err == nil {
			t.Fatalf("%s: the call succeeded, want an error", e.name)
		}
		var callError *Error
		if !errors.As(err, &callError) || callError.UserText == "" {
			t.Errorf("%s: error %v, want an error with a text for the user", e.name, err)
		} else {
			for _, phrase := range []string{"the user", "Do not", "do not repeat", `"tabId"`, "tools_"} {
				if strings.Contains(callError.UserText, phrase) {
					t.Errorf("%s: text for the user = %q, want a text without %q, which only suits an agent", e.name, callError.UserText, phrase)
				}
			}
			errorMessage = "agent: " + callError.Message + "\n  user:  " + callError.UserText
		}
		cancel()
		time.Sleep(2 * time.Minute)
	})
	return errorMessage
}

func failingCalls(silentTool func(Sink), reportError func(string) func(Sink)) map[wire.ErrorCode]failingCall {
	withTargets := func(targets Targets) Bridge { return scriptedBridge{targets: &targets} }
	tab := Target{Browser: "b1", BrowserName: "work", TabID: 7, DocumentID: "d1", URL: "https://chat.example/"}
	otherTarget := Target{Browser: "b2", BrowserName: "home", TabID: 8, DocumentID: "d2", URL: "https://chat.example/"}
	return map[wire.ErrorCode]failingCall{
		wire.ErrIdleTimeout:      {bridge: scriptedBridge{page: silentTool, stopOutcome: wire.CancelAborted}},
		wire.ErrDeadlineExceeded: {bridge: scriptedBridge{page: reportError("page 30 of 90"), stopOutcome: wire.CancelAborted}},
		wire.ErrCancelled:        {bridge: scriptedBridge{page: silentTool, stopOutcome: wire.CancelAborted}, cancelAfter: 7 * time.Second},
		wire.ErrNoBrowser:        {bridge: withTargets(Targets{})},
		wire.ErrNoTab:            {bridge: withTargets(Targets{BrowserCount: 1})},
		wire.ErrAmbiguousTarget:  {bridge: withTargets(Targets{BrowserCount: 2, LiveTargets: []Target{tab, otherTarget}})},
		wire.ErrRateLimited:      {bridge: scriptedBridge{page: silentTool}, options: Options{MaxRunningCalls: 1, MaxWaitingCalls: 2}, earlierAttempts: 3},
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
	writeCase := func(f failingCall) { b.WriteString(f.name + "\n  " + f.text(t) + "\n") }
	writeExample := func(name string, bridge Bridge) { writeCase(failingCall{name: name, bridge: bridge}) }
	newFailingBridge := func(ran time.Duration, err *wire.CallError) scriptedBridge {
		return scriptedBridge{page: func(s Sink) {
			time.Sleep(ran)
			s.Finish(nil, err)
		}}
	}
	lateFailingBridge := func(err *wire.CallError) scriptedBridge { return newFailingBridge(20*time.Second, err) }
	silentTool := func(Sink) {}
	reportError := func(errorMessage string) func(Sink) {
		return func(s Sink) {
			for range 29 {
				time.Sleep(10 * time.Second)
				s.Reports([]wire.Report{{Message: errorMessage}}, 0)
			}
		}
	}
	failuresByCode := failingCalls(silentTool, reportError)
	for _, code := range wire.ErrorCodes() {
		err := &wire.CallError{Code: code, Message: "what happened"}
		e, hasFailure := failuresByCode[code]
		switch {
		case hasFailure:
		case slices.Contains(gateErrorCodes, code):
			e = failingCall{bridge: instantBridge{}, options: Options{Gates: []Gate{fixedVerdictGate{Verdict{BlockError: err}}}}}
		case slices.Contains(startErrorCodes, code):
			e = failingCall{bridge: newFailingBridge(0, err)}
		default:
			e = failingCall{bridge: lateFailingBridge(err)}
		}
		e.name = string(code)
		writeCase(e)
	}
	writeExample("with progress, ignored", scriptedBridge{page: reportError("page 30 of 90"), stopOutcome: wire.CancelIgnored})
	writeExample("with progress, finished", scriptedBridge{page: reportError("page 30 of 90"), stopOutcome: wire.CancelFinished})
	writeExample("no message, no answer yet", scriptedBridge{page: reportError("")})
	toolError := func(errorMessage string, info wire.ToolErrorInfo) scriptedBridge {
		return lateFailingBridge(&wire.CallError{Code: wire.ErrToolError, Message: errorMessage, Tool: &info})
	}
	retryAfter := 1500.0
	writeExample("tool error", toolError("Channel not found.", wire.ToolErrorInfo{Code: "NOT_FOUND", Category: "not_found"}))
	writeExample("tool error, retryable", toolError("slow down", wire.ToolErrorInfo{Code: "RATE_LIMITED", Category: "rate_limit", Retryable: true, RetryAfterMs: &retryAfter}))
	for _, code := range []string{"cancelled", "denied", "not_reviewed", "approval_timeout", "user_denied", "user_timeout"} {
		writeExample("passed on by a tool: "+code, toolError("what happened", wire.ToolErrorInfo{Code: code}))
	}
	for _, code := range []string{"approval_timeout", "idle_timeout"} {
		writeExample("passed on by a tool, retryable: "+code, toolError("what happened", wire.ToolErrorInfo{Code: code, Retryable: true}))
	}

	writeCase(failingCall{name: "blocked by a gate with two texts", bridge: instantBridge{}, options: Options{Gates: []Gate{fixedVerdictGate{
		NewBlockVerdict(wire.ErrDenied, "the user has turned it off", "You have turned it off. Turn it on in the side panel.")}}}})
	writeExample("failed in a page with two texts", lateFailingBridge(&wire.CallError{
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
		{failure{err: &wire.CallError{Code: wire.ErrCancelled}, hasStarted: true}, true},
		{failure{err: &wire.CallError{Code: wire.ErrToolError}, hasStarted: true}, true},
		{failure{err: &wire.CallError{Code: wire.ErrNavigated, NotStarted: true}, hasStarted: true}, false},
		{failure{err: &wire.CallError{Code: wire.ErrNotReady}, hasStarted: true}, false},
		{failure{err: &wire.CallError{Code: wire.ErrInvalidArguments}, hasStarted: true}, false},
		{failure{err: &wire.CallError{Code: wire.ErrInvalidArguments}, hasStarted: true, tool: Tool{TargetKind: TargetTab}}, true},
	} {
		if got := explainFailure(c.failure).MayHaveActed; got != c.want {
			t.Errorf("MayHaveActed for the error %+v = %v, want %v", c.failure.err, got, c.want)
		}
	}
	linkLostFailure := failure{err: &wire.CallError{Code: wire.ErrLinkLost}, hasStarted: true}
	if errorMessage := explainFailure(linkLostFailure).Message; !strings.Contains(errorMessage, "the same idempotency key") {
		t.Errorf("error text for a tool that may change something = %q, want advice about the idempotency key", errorMessage)
	}
	linkLostFailure.hasStarted = false
	if errorMessage := explainFailure(linkLostFailure).Message; strings.Contains(errorMessage, "key") {
		t.Errorf("error text for a call that has not begun = %q, want no advice about a key", errorMessage)
	}
	linkLostFailure.hasStarted, linkLostFailure.tool.Summary.IsReadOnly = true, true
	if errorMessage := explainFailure(linkLostFailure).Message; strings.Contains(errorMessage, "key") {
		t.Errorf("error text for a tool that only reads = %q, want no advice about a key", errorMessage)
	}
}
