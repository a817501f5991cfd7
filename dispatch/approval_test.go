package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

func startSuspendedCall(t *testing.T, ctx context.Context, d *dispatch.Dispatcher, c dispatch.Call) (view dispatch.View, waitForEnd func() (dispatch.Result, *dispatch.Error)) {
	t.Helper()
	var r dispatch.Result
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, err = d.Call(ctx, c)
	}()
	synctest.Wait()
	for _, v := range d.Calls() {
		if v.Waiting != nil {
			view = v
		}
	}
	if view.Waiting == nil {
		t.Fatalf("no call waits for the user: %+v", d.Calls())
	}
	return view, func() (dispatch.Result, *dispatch.Error) {
		<-done
		return r, asError(t, err)
	}
}

func TestTheUserDecides(t *testing.T) {
	tests := []struct {
		name  string
		r     dispatch.Resolution
		code  wire.ErrorCode
		scope wire.Scope // the field scope is the scope of the recorded decision
	}{
		{"allow", dispatch.Resolution{Allow: true, Surface: "the side panel"}, "", wire.ScopeOnce},
		{"always", dispatch.Resolution{Allow: true, Scope: wire.ScopeAlways, Surface: "the side panel"}, "", wire.ScopeAlways},
		{"for a time", dispatch.Resolution{Allow: true, Scope: wire.ScopeTime, Duration: time.Minute, Surface: "opentabs calls"}, "", wire.ScopeTime},
		{"deny", dispatch.Resolution{Surface: "the side panel"}, wire.ErrDenied, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runCount int
				var decisionCount []dispatch.Resolution
				g := &fakeGate{name: "permission", onDecision: func(_ dispatch.CallInfo, _ dispatch.Ticket, r dispatch.Resolution) {
					decisionCount = append(decisionCount, r)
				}}
				h := &recordingHooks{}
				d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{Gates: []dispatch.Gate{g}, AfterHooks: []dispatch.AfterHook{h}})
				callView, waitForEnd := startSuspendedCall(t, t.Context(), d, dispatch.Call{Tool: exportTool, Args: json.RawMessage(`{"to":"bob"}`)})
				w := callView.Waiting
				if w.Reason != "may it?" || w.Args != `{"to":"bob"}` || w.Tool != "messages__export" || w.CallID != callView.CallID || w.ExpiresAt.Sub(w.StartedAt) != 5*time.Minute {
					t.Errorf("the waiting ticket is %+v", w)
				}
				if callView.Status != "waiting for approval" || runCount != 0 {
					t.Errorf("the waiting call has status %s and ran %d times", callView.Status, runCount)
				}
				sleepFake(4 * time.Minute)
				got, err := d.Decide(callView.CallID, w.TicketID, tt.r)
				if err != nil || got.Outcome != wire.DecisionAccepted || got.Surface != tt.r.Surface || got.Allowed != tt.r.Allow {
					t.Fatalf("Decide returned %+v, %v", got, err)
				}
				lateDecision, err := d.Decide(callView.CallID, w.TicketID, dispatch.Resolution{Allow: !tt.r.Allow, Surface: "another"})
				if err != nil || lateDecision.Outcome != wire.DecisionAlreadyMade || lateDecision.Surface != tt.r.Surface || lateDecision.Allowed != tt.r.Allow {
					t.Errorf("the second Decide returned %+v, %v", lateDecision, err)
				}
				_, failedError := waitForEnd()
				code := wire.ErrorCode("")
				if failedError != nil {
					code = failedError.Code
				}
				if code != tt.code || (runCount == 1) != tt.r.Allow {
					t.Errorf("the call ended with %q after %d runs, want %q", code, runCount, tt.code)
				}
				if len(decisionCount) != 1 || decisionCount[0].Scope != tt.scope || decisionCount[0].Gate != "permission" || decisionCount[0].DecidedAt.IsZero() {
					t.Errorf("the gate received the decisions %+v", decisionCount)
				}
				sleepFake(time.Second) // the AfterHooks run shortly after the call has returned
				synctest.Wait()
				if len(h.endedCall.Resolutions) != 1 {
					t.Errorf("the hook received %d decisions; want 1", len(h.endedCall.Resolutions))
				}
			})
		})
	}
}

func TestADecisionMustBeOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{Gates: []dispatch.Gate{&fakeGate{name: "g"}}})
		callView, waitForEnd := startSuspendedCall(t, t.Context(), d, dispatch.Call{Tool: exportTool})
		var scope *dispatch.ScopeError
		if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true, Scope: wire.ScopeSession}); !errors.As(err, &scope) {
			t.Errorf("Decide with the scope session returned the error %v", err)
		}
		if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true, Scope: wire.ScopeTime}); err == nil {
			t.Error("Decide accepted ScopeTime without a duration")
		}
		if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true, Scope: wire.ScopeTime, Duration: dispatch.MaxScopeTime + 1}); err == nil {
			t.Error("Decide accepted a duration longer than MaxScopeTime")
		}
		if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true, Data: json.RawMessage(`{`)}); err == nil {
			t.Error("Decide accepted data that is not JSON")
		}
		for _, id := range []string{callView.CallID, "call_unknown"} {
			if got, err := d.Decide(id, "ticket_unknown", dispatch.Resolution{Allow: true}); err != nil || got.Outcome != wire.DecisionNotPending {
				t.Errorf("Decide of an unknown ticket of call %q returned %+v, %v", id, got, err)
			}
		}
		if runCount != 0 {
			t.Error("the tool ran")
		}
		if got, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true}); err != nil || got.Outcome != wire.DecisionAccepted {
			t.Errorf("Decide returned %+v, %v", got, err)
		}
		if _, err := waitForEnd(); err != nil || runCount != 1 {
			t.Errorf("the allowed call ended with error %v and ran %d times", err, runCount)
		}
	})
}

// TestNoSessionScopeWithoutSession checks that an approval can't cover a session if the
// client's protocol has no sessions.
func TestNoSessionScopeWithoutSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		g := &fakeGate{name: "g", decide: func(i dispatch.CallInfo) dispatch.Verdict {
			if i.Resolution != nil {
				return dispatch.Verdict{}
			}
			return dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketPermission, Scopes: []wire.Scope{wire.ScopeOnce, wire.ScopeSession, wire.ScopeTime}}}
		}}
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{Gates: []dispatch.Gate{g}})
		for _, isShared := range []bool{false, true} {
			callView, waitForEnd := startSuspendedCall(t, t.Context(), d, dispatch.Call{Tool: exportTool, Client: dispatch.Client{Session: "s", IsSessionShared: isShared}})
			if isOffered := slices.Contains(callView.Waiting.Scopes, wire.ScopeSession); isOffered == isShared || len(callView.Waiting.Scopes) < 2 {
				t.Errorf("shared %t: the user may choose the scopes %v", isShared, callView.Waiting.Scopes)
			}
			if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true}); err != nil {
				t.Error(err)
			}
			if _, err := waitForEnd(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestApprovalTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		p := newFinishingPage(&runCount)
		d := dispatch.New(p.bridge(), dispatch.Options{Gates: []dispatch.Gate{&fakeGate{name: "g"}}, SuspendLimit: 7 * time.Minute})
		startTime := time.Now()
		callView, waitForEnd := startSuspendedCall(t, t.Context(), d, dispatch.Call{Tool: exportTool})
		_, err := waitForEnd()
		if elapsedTime := time.Since(startTime); err == nil || err.Code != wire.ErrApprovalTimeout || elapsedTime != 7*time.Minute || !err.Retryable {
			t.Errorf("the call ended with error %v after %v", err, elapsedTime)
		}
		if got, _ := d.Decide(callView.CallID, callView.Waiting.TicketID, dispatch.Resolution{Allow: true}); got.Outcome != wire.DecisionNotPending || runCount != 0 {
			t.Errorf("Decide after the timeout returned %+v, and the tool ran %d times", got, runCount)
		}
		if p.stopCount() != 0 {
			t.Error("a page got a stop for a call that never ran")
		}
	})
}

func TestTicketLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		g := newFixedGate("g", dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketUser, Limit: time.Second}})
		_, err, elapsedTime := runCall(t, newFinishingPage(&runCount), dispatch.Options{Gates: []dispatch.Gate{g}}, dispatch.Call{Tool: exportTool})
		if err == nil || err.Code != wire.ErrApprovalTimeout || elapsedTime != time.Second || runCount != 0 {
			t.Errorf("the call ended with error %v after %v and ran %d times", err, elapsedTime, runCount)
		}
	})
}

// TestGateIsRechecked checks that a call does not wait for approval if the permission is
// granted just before the call is suspended.
func TestGateIsRechecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount, askCount int
		g := &fakeGate{name: "g", decide: func(dispatch.CallInfo) dispatch.Verdict {
			if askCount++; askCount > 1 {
				return dispatch.Verdict{}
			}
			return dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketPermission}}
		}}
		waitingCount := -1
		o := dispatch.Options{Gates: []dispatch.Gate{g}, OnWaitingChange: func(n int) { waitingCount = n }}
		_, err, elapsedTime := runCall(t, newFinishingPage(&runCount), o, dispatch.Call{Tool: exportTool})
		if err != nil || elapsedTime != 0 || runCount != 1 || waitingCount != 0 {
			t.Errorf("the call ended with error %v after %v and ran %d times; %d calls wait", err, elapsedTime, runCount, waitingCount)
		}
	})
}

func TestSuspendedCallsAreBounded(t *testing.T) {
	const maxCalls, maxBytes = 1000, 256 << 20
	for name, tt := range map[string]struct{ calls, bytes int }{
		"calls": {maxCalls, 10},
		"bytes": {2, maxBytes / 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runCount int
				d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{Gates: []dispatch.Gate{&fakeGate{name: "g"}}})
				defer d.Shutdown()
				c := dispatch.Call{Tool: exportTool, Args: make(json.RawMessage, tt.bytes)}
				var firstCallID string
				for i := range tt.calls {
					go func() { _, _ = d.Call(t.Context(), c) }()
					if synctest.Wait(); i == 0 {
						firstCallID = d.Calls()[0].CallID
					}
				}
				_, err := d.Call(t.Context(), c)
				if e := asError(t, err); e == nil || e.Code != wire.ErrRateLimited || !strings.Contains(e.Message, "too many calls are waiting for approval") {
					t.Fatalf("the call above the limit ended with error %v", err)
				}
				if got, err := d.Decide(firstCallID, "", dispatch.Resolution{Allow: true}); err != nil || got.Outcome != wire.DecisionAccepted {
					t.Fatalf("Decide returned %+v, %v", got, err)
				}
				synctest.Wait()
				_, waitForEnd := startSuspendedCall(t, t.Context(), d, c)
				d.Shutdown()
				if _, err := waitForEnd(); err == nil || err.Code != wire.ErrShutdown {
					t.Errorf("the call that replaced the decided call ended with error %v", err)
				}
			})
		})
	}
}

func TestSuspendedCallIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{Gates: []dispatch.Gate{&fakeGate{name: "g"}}})
		f := d.Follow(dispatch.FollowOptions{})
		defer f.Close()
		ctx, disconnect := context.WithCancel(t.Context())
		askCount, withdrawn := 0, make(chan struct{})
		callView, waitForEnd := startSuspendedCall(t, ctx, d, dispatch.Call{Tool: exportTool, OnTicket: func(ctx context.Context, w dispatch.WaitingTicket) {
			askCount++
			<-ctx.Done()
			close(withdrawn)
		}})
		disconnect()
		_, err := waitForEnd()
		<-withdrawn
		if err == nil || err.Code != wire.ErrCancelled || askCount != 1 {
			t.Errorf("the call ended with error %v after %d questions", err, askCount)
		}
		if got, _ := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true}); got.Outcome != wire.DecisionNotPending || runCount != 0 {
			t.Errorf("Decide after the end returned %+v, and the tool ran %d times", got, runCount)
		}
		events, _, nextErr := f.Next(t.Context())
		var kinds []dispatch.EventKind
		for _, e := range events {
			kinds = append(kinds, e.Kind)
		}
		want := []dispatch.EventKind{dispatch.EventCreated, dispatch.EventSuspended, dispatch.EventEnded}
		if nextErr != nil || !slices.Equal(kinds, want) || events[1].Call.Waiting == nil || events[2].Call.Waiting != nil {
			t.Errorf("events %v, want %v (%v)", kinds, want, nextErr)
		}
		if events[0].IsForUser() || !events[1].IsForUser() || !events[2].IsForUser() {
			t.Error("the events for the user are not exactly the request and its end")
		}
	})
}

func TestModesOfResume(t *testing.T) {
	allow := func(*dispatch.Resolution) dispatch.Verdict { return dispatch.Verdict{} }
	useDecision := func(r *dispatch.Resolution) dispatch.Verdict {
		return dispatch.Verdict{Result: &dispatch.SuppliedResult{Output: r.Data}}
	}
	for _, tt := range []struct {
		name     string
		pass     bool
		onResume func(r *dispatch.Resolution) dispatch.Verdict
		output   string
		decision string
	}{
		{"run again", false, allow, `"ran"`, ""},
		{"the decision is the result", false, useDecision, `{"n":1}`, ""},
		{"pass the decision", true, allow, `"ran"`, `{"allow":true,"scope":"once","by":"panel","data":{"n":1}}`},
	} {
		g := &fakeGate{name: "g", decide: func(i dispatch.CallInfo) dispatch.Verdict {
			if i.Resolution != nil {
				return tt.onResume(i.Resolution)
			}
			return dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketPermission, PassDecisionToTool: tt.pass}}
		}}
		synctest.Test(t, func(t *testing.T) {
			hasRun, decision := false, ""
			p := &fakePage{handler: func(toolRun dispatch.Run, s dispatch.Sink) {
				hasRun, decision = true, string(toolRun.Decision)
				s.Finish(json.RawMessage(`"ran"`), nil)
			}}
			d := dispatch.New(p.bridge(), dispatch.Options{Gates: []dispatch.Gate{g}})
			callView, waitForEnd := startSuspendedCall(t, t.Context(), d, dispatch.Call{Tool: exportTool})
			if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true, Surface: "panel", Data: json.RawMessage(`{"n":1}`)}); err != nil {
				t.Fatal(err)
			}
			r, err := waitForEnd()
			if err != nil || string(r.Output) != tt.output || decision != tt.decision || hasRun != (tt.output == `"ran"`) {
				t.Errorf("%s: output %s, decision %s, ran %t, %v", tt.name, r.Output, decision, hasRun, err)
			}
		})
	}
}

func TestGatesRunAgainAfterApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		isOff := false
		secondGate := &fakeGate{name: "second", decide: func(dispatch.CallInfo) dispatch.Verdict {
			if isOff {
				return dispatch.Verdict{Block: &wire.CallError{Code: wire.ErrDenied, Message: "switched off meanwhile"}}
			}
			return dispatch.Verdict{}
		}}
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{Gates: []dispatch.Gate{&fakeGate{name: "first"}, secondGate}})
		callView, waitForEnd := startSuspendedCall(t, t.Context(), d, dispatch.Call{Tool: exportTool})
		isOff = true
		if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := waitForEnd(); err == nil || err.Code != wire.ErrDenied || !strings.Contains(err.Message, "switched off meanwhile") || runCount != 0 {
			t.Errorf("the call ended with error %v and ran %d times", err, runCount)
		}
	})
}

func TestSuspendedCallsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		var newCountingPage []int
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{
			Gates: []dispatch.Gate{&fakeGate{name: "g"}}, OnWaitingChange: func(n int) { newCountingPage = append(newCountingPage, n) },
		})
		callView, decideCall := startSuspendedCall(t, t.Context(), d, dispatch.Call{Tool: exportTool})
		ctx, disconnect := context.WithCancel(t.Context())
		go func() { _, _ = d.Call(ctx, dispatch.Call{Tool: exportTool}) }()
		synctest.Wait()
		go func() { _, _ = d.Call(t.Context(), dispatch.Call{Tool: exportTool}) }()
		synctest.Wait()
		if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := decideCall(); err != nil {
			t.Error(err)
		}
		disconnect()
		sleepFake(dispatch.DefaultSuspendLimit)
		synctest.Wait()
		if want := []int{1, 2, 3, 2, 1, 0}; !slices.Equal(newCountingPage, want) {
			t.Errorf("%v, want %v", newCountingPage, want)
		}
	})
}

func TestSuspendedCallLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{Gates: []dispatch.Gate{suspendFirst("export")}, MaxRunningCalls: 1})
		callView, waitForEnd := startSuspendedCall(t, t.Context(), d, dispatch.Call{Tool: exportTool})
		otherTool := exportTool
		otherTool.Name = "other"
		if _, err := d.Call(t.Context(), dispatch.Call{Tool: otherTool}); err != nil || runCount != 1 {
			t.Errorf("the call ended with error %v and ran %d times; want 1", err, runCount)
		}
		if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := waitForEnd(); err != nil || runCount != 2 {
			t.Errorf("the call ended with error %v and ran %d times; want 2", err, runCount)
		}
	})
}

func TestReportsBeforeASuspensionAreSent(t *testing.T) {
	user := func(reportMessage string) []wire.Report {
		return []wire.Report{{Message: reportMessage, Audience: dispatch.AudienceUser}}
	}
	for _, tt := range []struct {
		name          string
		reportsBefore []string
		approvalDelay time.Duration
		want          string
	}{
		{"the first report", []string{"not logged in"}, 0, "not logged in, logged in"},
		{"the first report, and a slow user", []string{"not logged in"}, time.Minute, "not logged in, reminder, logged in"},
		{"a report that waits for the rate", []string{"loading", "not logged in"}, 0, "loading, not logged in, logged in"},
		{"a report that waits for the rate, and a slow user", []string{"loading", "not logged in"}, time.Minute, "loading, not logged in, reminder, logged in"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answered := make(chan struct{})
				b := (&fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
					for _, reportMessage := range tt.reportsBefore {
						s.Reports(user(reportMessage), 0)
					}
					s.Ask(askUser(1))
					<-answered
					s.Reports(user("logged in"), 0)
					s.Finish(json.RawMessage(`1`), nil)
				}}).bridge()
				b.AnswerFunc = func(string, int, json.RawMessage, *wire.CallError) { close(answered) }
				d := dispatch.New(b, dispatch.Options{})
				var messages []string
				_, err := d.Call(t.Context(), dispatch.Call{
					Tool:     exportTool,
					Progress: func(p dispatch.Progress) { messages = append(messages, p.Message) },
					OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
						d.Remind(w, "reminder")
						sleepFake(tt.approvalDelay)
						if _, err := d.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true}); err != nil {
							t.Error(err)
						}
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(messages, ", "); got != tt.want {
					t.Errorf("the client received %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// An approval that covers later calls counts even if the approved call is cancelled before it continues.
func TestDecisionBeforeACancellationCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		decisionCount := 0
		g := &fakeGate{name: "permission", onDecision: func(dispatch.CallInfo, dispatch.Ticket, dispatch.Resolution) { decisionCount++ }}
		runCount := 0
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{Gates: []dispatch.Gate{g}})
		for i := range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			callView, waitForEnd := startSuspendedCall(t, ctx, d, dispatch.Call{Tool: exportTool})
			got, err := d.Decide(callView.CallID, callView.Waiting.TicketID, dispatch.Resolution{Allow: true, Scope: wire.ScopeAlways, Surface: "the side panel"})
			if err != nil || got.Outcome != wire.DecisionAccepted {
				t.Fatalf("Decide returned %+v, %v", got, err)
			}
			if i%2 == 0 {
				cancel()
			} else {
				d.Cancel(callView.CallID, "the side panel", "")
			}
			_, _ = waitForEnd()
			cancel()
			if decisionCount != i+1 {
				t.Fatalf("the gate received %d of %d decisions", decisionCount, i+1)
			}
		}
	})
}
