package dispatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/wire"
)

type fakeGate struct {
	name       string
	decide     func(dispatch.CallInfo) dispatch.Verdict
	onDecision func(dispatch.CallInfo, dispatch.Ticket, dispatch.Resolution)
}

func (g *fakeGate) Name() string { return g.name }

func (g *fakeGate) Decide(i dispatch.CallInfo) dispatch.Verdict {
	if g.decide != nil {
		return g.decide(i)
	}
	if i.Resolution != nil {
		return dispatch.Verdict{}
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketPermission, Reason: "may it?",
		Scopes: []wire.Scope{wire.ScopeOnce, wire.ScopeAlways, wire.ScopeTime}}}
}

func (g *fakeGate) ObserveDecision(i dispatch.CallInfo, t dispatch.Ticket, r dispatch.Resolution) {
	if g.onDecision != nil {
		g.onDecision(i, t, r)
	}
}

func newFixedGate(name string, v dispatch.Verdict) *fakeGate {
	return &fakeGate{name: name, decide: func(dispatch.CallInfo) dispatch.Verdict { return v }}
}

func suspendBeforeApproval(tools ...string) *fakeGate {
	return &fakeGate{name: "permission", decide: func(i dispatch.CallInfo) dispatch.Verdict {
		if i.Resolution == nil && slices.Contains(tools, i.Tool.Name) {
			return dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketPermission, Limit: time.Hour}}
		}
		return dispatch.Verdict{}
	}}
}

func newFinishingPage(runCount *int) *fakePage {
	return &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
		*runCount++
		s.Finish(json.RawMessage(`{"from":"tool"}`), nil)
	}}
}

func TestVerdictPrecedence(t *testing.T) {
	block := dispatch.Verdict{BlockError: &wire.CallError{Code: wire.ErrDenied, Message: "blocked"}}
	otherVerdict := dispatch.Verdict{BlockError: &wire.CallError{Code: wire.ErrNotReviewed, Message: "blocked too"}}
	suspend := dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketPermission, Limit: time.Second}}
	result := dispatch.Verdict{Result: &dispatch.GateResult{Output: json.RawMessage(`{"from":"gate"}`)}}
	waitVerdict := dispatch.Verdict{Wait: &dispatch.Wait{Duration: time.Second}}
	tests := []struct {
		name         string
		gates        []dispatch.Verdict
		code         wire.ErrorCode
		output       string
		wantConflict bool
	}{
		{"none", nil, "", `{"from":"tool"}`, false},
		{"all allow", []dispatch.Verdict{{}, {}}, "", `{"from":"tool"}`, false},
		{"result", []dispatch.Verdict{{}, result}, "", `{"from":"gate"}`, false},
		{"a suspend precedes a result", []dispatch.Verdict{result, suspend}, wire.ErrApprovalTimeout, "", false},
		{"a suspend precedes a wait", []dispatch.Verdict{waitVerdict, suspend}, wire.ErrApprovalTimeout, "", false},
		{"a block precedes a wait", []dispatch.Verdict{waitVerdict, block}, wire.ErrDenied, "", false},
		{"a block precedes all verdicts", []dispatch.Verdict{result, suspend, block}, wire.ErrDenied, "", false},
		{"the first of two equal verdicts counts", []dispatch.Verdict{otherVerdict, block}, wire.ErrNotReviewed, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runCount int
				var log bytes.Buffer
				o := dispatch.Options{Log: zerolog.New(&log)}
				for i, v := range tt.gates {
					o.Gates = append(o.Gates, newFixedGate(string(rune('a'+i)), v))
				}
				p := newFinishingPage(&runCount)
				r, err, _ := runCall(t, p, o, dispatch.Call{Tool: exportTool})
				code := wire.ErrorCode("")
				if err != nil {
					code = err.Code
				}
				if code != tt.code || string(r.Output) != tt.output {
					t.Errorf("error code %q and output %s; want %q and %s", code, r.Output, tt.code, tt.output)
				}
				if wantToolRun := tt.output == `{"from":"tool"}`; (runCount > 0) != wantToolRun {
					t.Errorf("the tool ran %d times, want a run only for the output %s", runCount, `{"from":"tool"}`)
				}
				if isConflictLogged := strings.Contains(log.String(), `"gate":"a","also":"b"`); isConflictLogged != tt.wantConflict {
					t.Errorf("the log reports that the gates a and b made the same decision: %t, want %v; log:\n%s", isConflictLogged, tt.wantConflict, &log)
				}
			})
		})
	}
}

type recordingHooks struct {
	recordedHooks []string
	refusal       *wire.CallError
	endedCall     dispatch.EndedCall
}

func (h *recordingHooks) BeforeCall(i dispatch.CallInfo) *wire.CallError {
	h.recordedHooks = append(h.recordedHooks, "before "+string(i.Args))
	return h.refusal
}

func (h *recordingHooks) AfterCall(_ dispatch.CallInfo, e dispatch.EndedCall) {
	h.recordedHooks = append(h.recordedHooks, "after "+string(e.View.Status)+" "+string(e.Output))
	h.endedCall = e
}

func TestHooksRunOnceAroundACall(t *testing.T) {
	resultGate := newFixedGate("g", dispatch.Verdict{Result: &dispatch.GateResult{Output: json.RawMessage(`1`)}})
	denyingGate := newFixedGate("g", dispatch.Verdict{BlockError: &wire.CallError{Code: wire.ErrDenied, Message: "no"}})
	tests := []struct {
		name    string
		gates   []dispatch.Gate
		refusal *wire.CallError
		want    []string
	}{
		{"allowed", nil, nil, []string{`before {"a":1}`, `after done {"from":"tool"}`}},
		{"result of a gate", []dispatch.Gate{resultGate}, nil, []string{`after done 1`}},
		{"blocked", []dispatch.Gate{denyingGate}, nil, []string{`after failed `}},
		{"refused by the hook", nil, &wire.CallError{Code: wire.ErrRateLimited, Message: "too often"}, []string{`before {"a":1}`, `after failed `}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runCount int
				h := &recordingHooks{refusal: tt.refusal}
				o := dispatch.Options{Gates: tt.gates, BeforeHooks: []dispatch.BeforeHook{h}, AfterHooks: []dispatch.AfterHook{h}}
				_, err, _ := runCall(t, newFinishingPage(&runCount), o, dispatch.Call{Tool: exportTool, Args: json.RawMessage(`{"a":1}`)})
				sleepVirtual(time.Second)
				synctest.Wait()
				if !slices.Equal(h.recordedHooks, tt.want) {
					t.Errorf("calls that the hooks received = %q, want %q", h.recordedHooks, tt.want)
				}
				if tt.refusal != nil && (err == nil || err.Code != tt.refusal.Code || runCount != 0) {
					t.Errorf("the call that the hook refused ended with the error %v and ran %d times; want the hook's error and 0 runs", err, runCount)
				}
			})
		})
	}
}

func TestHooksGetTheLastMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recordingHooks{}
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range 21 {
				s.Reports([]wire.Report{{Message: string(rune('a' + i))}}, 0)
			}
			s.Reports([]wire.Report{{Message: "u"}, {Progress: newFloatPointer(1)}, {Message: strings.Repeat("x", 500), Audience: "user"}}, 0)
			s.Finish(nil, nil)
		}}
		if _, err, _ := runCall(t, p, dispatch.Options{AfterHooks: []dispatch.AfterHook{h}}, dispatch.Call{Tool: exportTool}); err != nil {
			t.Fatal(err)
		}
		sleepVirtual(time.Second)
		synctest.Wait()
		messages := h.endedCall.LastMessages
		if len(messages) != 20 {
			t.Fatalf("last messages in the ended call = %d, want 20", len(messages))
		}
		if n := h.endedCall.DroppedMessages; n != 2 {
			t.Errorf("the ended call lists %d dropped messages, want 2", n)
		}
		if messages[0].Message != "c" || messages[18].Message != "u" || messages[18].Audience != "" || len(messages[19].Message) != 400 || messages[19].Audience != "user" || messages[19].Time.IsZero() {
			t.Errorf("last messages = %+v, want c to u, then a truncated message for the user", messages)
		}
	})
}

type countingGate struct{ waitCount *int }

func (countingGate) Name() string { return "counting" }

func (g countingGate) Decide(dispatch.CallInfo) dispatch.Verdict {
	if *g.waitCount == 0 {
		return dispatch.Verdict{}
	}
	*g.waitCount--
	return dispatch.Verdict{Wait: &dispatch.Wait{Duration: time.Second, Message: fmt.Sprintf("%d left", *g.waitCount)}}
}

func TestGateDelaysCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		waitCount := 3
		o := dispatch.Options{Gates: []dispatch.Gate{countingGate{&waitCount}}}
		var messages []string
		call := dispatch.Call{Tool: exportTool, Progress: func(p dispatch.Progress) { messages = append(messages, p.Message) }}
		startTime := time.Now()
		if _, err, _ := runCall(t, newFinishingPage(&runCount), o, call); err != nil || runCount != 1 {
			t.Errorf("the delayed call ran %d times, error %v; want 1 run and no error", runCount, err)
		}
		if waitDuration := time.Since(startTime); waitDuration != 3*time.Second {
			t.Errorf("the call waited for %v, want 3 s", waitDuration)
		}
		if want := []string{"2 left", "1 left", "0 left"}; !slices.Equal(messages, want) {
			t.Errorf("progress of a delayed call = %q, want %q", messages, want)
		}

		waitCount = 3
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second/2, cancel)
		p := newFinishingPage(&runCount)
		_, err := dispatch.New(p.bridge(), o).Call(ctx, call)
		p.wg.Wait()
		if e := toDispatchError(t, err); e == nil || e.Code != wire.ErrCancelled || runCount != 1 {
			t.Errorf("a call that was cancelled during its delay ended with the error %v after %d runs of the tool in total; want cancelled after 1 run", err, runCount)
		}
	})
}

func TestApprovalBeforeTicketOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount, verdictCount int
		g := &fakeGate{name: "permission", decide: func(dispatch.CallInfo) dispatch.Verdict {
			verdictCount++
			if verdictCount > 1 {
				return dispatch.Verdict{}
			}
			return dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketPermission}}
		}}
		h := &recordingHooks{}
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{Gates: []dispatch.Gate{g}, AfterHooks: []dispatch.AfterHook{h}})
		if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool}); err != nil || runCount != 1 {
			t.Errorf("the call ran %d times and ended with the error %v; want 1 run and no error", runCount, err)
		}
		sleepVirtual(time.Second)
		synctest.Wait()
		if r := h.endedCall.Resolutions; len(r) != 1 || !r[0].Allow || r[0].Surface != dispatch.PermissionChange {
			t.Errorf("recorded decisions = %+v, want one approval by a changed permission", r)
		}
	})
}

// A waiting call that a gate now blocks ends with the gate's error, because the user has not denied the call.
func TestRecheckFailsCallWithGateError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runCount, decisionCount, isLimitReached := 0, 0, false
		g := &fakeGate{name: "permission", decide: func(dispatch.CallInfo) dispatch.Verdict {
			if isLimitReached {
				return dispatch.NewBlockVerdict(wire.ErrRateLimited, "too often", "Too often.")
			}
			return dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketPermission}}
		}, onDecision: func(dispatch.CallInfo, dispatch.Ticket, dispatch.Resolution) { decisionCount++ }}
		h := &recordingHooks{}
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{Gates: []dispatch.Gate{g}, AfterHooks: []dispatch.AfterHook{h}})
		callView, waitForEnd := startSuspendedCall(t, t.Context(), d, dispatch.Call{Tool: exportTool})
		isLimitReached = true
		d.RecheckGates()
		if _, err := waitForEnd(); err == nil || err.Code != wire.ErrRateLimited || !strings.Contains(err.Message, "too often") || runCount != 0 {
			t.Errorf("the blocked call ended with the error %v after %d runs, want rate_limited: too often, and 0 runs", err, runCount)
		}
		sleepVirtual(time.Second)
		synctest.Wait()
		if n := len(h.endedCall.Resolutions); n != 0 || decisionCount != 0 {
			t.Errorf("the after hook received %d decisions and the gate %d, want none", n, decisionCount)
		}
		if got, err := d.Decide(callView.CallID, callView.Waiting.TicketID, dispatch.Resolution{Allow: true}); err != nil || got.Outcome != wire.DecisionNotPending {
			t.Errorf("Decide after the end of the call returned %+v, error %v; want not pending and no error", got, err)
		}
	})
}

// While a call waits in the queue, the user can change its permission. An approval of the call itself stays valid.
func TestQueuedCallPassesGatesAgain(t *testing.T) {
	suspend := dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketPermission}}
	block := dispatch.NewBlockVerdict(wire.ErrDenied, "switched off meanwhile", "Off.")
	for _, tt := range []struct {
		name          string
		before, after dispatch.Verdict
		code          wire.ErrorCode
		requests      int32
		approvalDelay time.Duration
		wantRuns      int32 // wantRuns includes the call that runs first, and one call for each request for approval
	}{
		{"still allowed", dispatch.Verdict{}, dispatch.Verdict{}, "", 0, 0, 2},
		{"now off", dispatch.Verdict{}, block, wire.ErrDenied, 0, 0, 1},
		{"now ask", dispatch.Verdict{}, suspend, "", 1, time.Minute, 3},
		{"approved before it was queued", suspend, suspend, "", 1, time.Second / 4, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var isChanged atomic.Bool
				var runCount, requestCount atomic.Int32
				g := &fakeGate{name: "permission", decide: func(i dispatch.CallInfo) dispatch.Verdict {
					switch {
					case i.Tool.Name != "queued" || i.Resolution != nil:
						return dispatch.Verdict{}
					case isChanged.Load():
						return tt.after
					}
					return tt.before
				}}
				p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
					runCount.Add(1)
					sleepVirtual(time.Second)
					s.Finish(nil, nil)
				}}
				d := dispatch.New(p.bridge(), dispatch.Options{Gates: []dispatch.Gate{g}, MaxRunningCalls: 1})
				go func() { _, _ = d.Call(t.Context(), dispatch.Call{Tool: exportTool}) }()
				synctest.Wait()
				time.AfterFunc(time.Second/2, func() { isChanged.Store(true) })
				queuedTool := exportTool
				queuedTool.Name = "queued"
				_, err := d.Call(t.Context(), dispatch.Call{Tool: queuedTool, OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
					requestCount.Add(1)
					go func() { // a call that waits for approval must not take a place in the queue
						_, _ = d.Call(t.Context(), dispatch.Call{Tool: exportTool})
						if v, _ := d.Find(w.CallID); tt.before.Suspend == nil && v.Waiting == nil {
							t.Error("another call waited in the queue until the approval, want it to run before")
						}
					}()
					sleepVirtual(tt.approvalDelay)
					if _, err := d.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true}); err != nil {
						t.Error(err)
					}
				}})
				code := wire.ErrorCode("")
				if e := toDispatchError(t, err); e != nil {
					code = e.Code
				}
				if code != tt.code || requestCount.Load() != tt.requests || runCount.Load() != tt.wantRuns {
					t.Errorf("the queued call ended with the error %v after %d requests for approval, and %d calls ran; want the code %q, %d requests and %d runs", err, requestCount.Load(), runCount.Load(), tt.code, tt.requests, tt.wantRuns)
				}
			})
		})
	}
}
