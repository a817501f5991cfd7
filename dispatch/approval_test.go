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
		t.Fatalf("calls of the dispatcher = %+v, want one call that waits for the user", d.Calls())
	}
	return view, func() (dispatch.Result, *dispatch.Error) {
		<-done
		return r, toDispatchError(t, err)
	}
}

func TestUserDecisionResumesOrFailsCall(t *testing.T) {
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
				var receivedDecisions []dispatch.Resolution
				g := &fakeGate{name: "permission", onDecision: func(_ dispatch.CallInfo, _ dispatch.Ticket, r dispatch.Resolution) {
					receivedDecisions = append(receivedDecisions, r)
				}}
				h := &recordingHooks{}
				d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{Gates: []dispatch.Gate{g}, AfterHooks: []dispatch.AfterHook{h}})
				callView, waitForEnd := startSuspendedCall(t, t.Context(), d, dispatch.Call{Tool: exportTool, Args: json.RawMessage(`{"to":"bob"}`)})
				w := callView.Waiting
				if w.Reason != "may it?" || w.Args != `{"to":"bob"}` || w.Tool != "messages__export" || w.CallID != callView.CallID || w.ExpiresAt.Sub(w.StartedAt) != 5*time.Minute {
					t.Errorf("waiting ticket = %+v, want the reason, the arguments and the tool of the call, and a limit of 5 min", w)
				}
				if callView.Status != "waiting for approval" || runCount != 0 {
					t.Errorf("the waiting call has the status %s and ran %d times; want waiting for approval and 0 runs", callView.Status, runCount)
				}
				sleepVirtual(4 * time.Minute)
				got, err := d.Decide(callView.CallID, w.TicketID, tt.r)
				if err != nil || got.Outcome != wire.DecisionAccepted || got.Surface != tt.r.Surface || got.Allowed != tt.r.Allow {
					t.Fatalf("Decide returned %+v, error %v; want the decision %+v to take effect", got, err, tt.r)
				}
				secondDecision, err := d.Decide(callView.CallID, w.TicketID, dispatch.Resolution{Allow: !tt.r.Allow, Surface: "another"})
				if err != nil || secondDecision.Outcome != wire.DecisionAlreadyMade || secondDecision.Surface != tt.r.Surface || secondDecision.Allowed != tt.r.Allow {
					t.Errorf("the second Decide returned %+v, error %v; want that the decision %+v was already made", secondDecision, err, tt.r)
				}
				_, failedError := waitForEnd()
				code := wire.ErrorCode("")
				if failedError != nil {
					code = failedError.Code
				}
				if code != tt.code || (runCount == 1) != tt.r.Allow {
					t.Errorf("the call ended with the error code %q after %d runs, want %q", code, runCount, tt.code)
				}
				if len(receivedDecisions) != 1 || receivedDecisions[0].Scope != tt.scope || receivedDecisions[0].Gate != "permission" || receivedDecisions[0].DecidedAt.IsZero() {
					t.Errorf("decisions that the gate received = %+v, want one with the scope %q", receivedDecisions, tt.scope)
				}
				sleepVirtual(time.Second) // the AfterHooks run shortly after the call has returned
				synctest.Wait()
				if len(h.endedCall.Resolutions) != 1 {
					t.Errorf("the after hook received %d decisions, want 1", len(h.endedCall.Resolutions))
				}
			})
		})
	}
}

func TestDecisionNeedsOfferedScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{Gates: []dispatch.Gate{&fakeGate{name: "g"}}})
		callView, waitForEnd := startSuspendedCall(t, t.Context(), d, dispatch.Call{Tool: exportTool})
		var scope *dispatch.ScopeError
		if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true, Scope: wire.ScopeSession}); !errors.As(err, &scope) {
			t.Errorf("error of Decide with the scope session = %v, want a *ScopeError", err)
		}
		if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true, Scope: wire.ScopeTime}); err == nil {
			t.Error("Decide accepted ScopeTime without a duration, want an error")
		}
		if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true, Scope: wire.ScopeTime, Duration: dispatch.MaxTimedApproval + 1}); err == nil {
			t.Error("Decide accepted a duration longer than MaxTimedApproval, want an error")
		}
		if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true, Data: json.RawMessage(`{`)}); err == nil {
			t.Error("Decide accepted data that is not JSON, want an error")
		}
		for _, id := range []string{callView.CallID, "call_unknown"} {
			if got, err := d.Decide(id, "ticket_unknown", dispatch.Resolution{Allow: true}); err != nil || got.Outcome != wire.DecisionNotPending {
				t.Errorf("Decide for an unknown ticket of the call %q returned %+v, error %v; want not pending and no error", id, got, err)
			}
		}
		if runCount != 0 {
			t.Error("the tool ran before a valid decision, want no run")
		}
		if got, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true}); err != nil || got.Outcome != wire.DecisionAccepted {
			t.Errorf("Decide with a valid decision returned %+v, error %v; want accepted and no error", got, err)
		}
		if _, err := waitForEnd(); err != nil || runCount != 1 {
			t.Errorf("the allowed call ended with the error %v and ran %d times; want no error and 1 run", err, runCount)
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
		for _, isSessionShared := range []bool{false, true} {
			callView, waitForEnd := startSuspendedCall(t, t.Context(), d, dispatch.Call{Tool: exportTool, Client: dispatch.Client{Session: "s", IsSessionShared: isSessionShared}})
			if isOffered := slices.Contains(callView.Waiting.Scopes, wire.ScopeSession); isOffered == isSessionShared || len(callView.Waiting.Scopes) < 2 {
				t.Errorf("session shared = %t: offered scopes = %v; want \"session\" among them if and only if the session is not shared", isSessionShared, callView.Waiting.Scopes)
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
			t.Errorf("the call ended with the error %v after %v; want a retryable approval_timeout after 7 min", err, elapsedTime)
		}
		if got, _ := d.Decide(callView.CallID, callView.Waiting.TicketID, dispatch.Resolution{Allow: true}); got.Outcome != wire.DecisionNotPending || runCount != 0 {
			t.Errorf("Decide after the timeout returned %+v, and the tool ran %d times; want not pending and 0 runs", got, runCount)
		}
		if p.stopCount() != 0 {
			t.Error("a page received a request to stop a call that never ran, want no request")
		}
	})
}

func TestTicketLimitFailsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		g := newFixedGate("g", dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketUser, Limit: time.Second}})
		_, err, elapsedTime := runCall(t, newFinishingPage(&runCount), dispatch.Options{Gates: []dispatch.Gate{g}}, dispatch.Call{Tool: exportTool})
		if err == nil || err.Code != wire.ErrApprovalTimeout || elapsedTime != time.Second || runCount != 0 {
			t.Errorf("the call ended with the error %v after %v and ran %d times; want approval_timeout after 1 s and 0 runs", err, elapsedTime, runCount)
		}
	})
}

// TestGateIsRechecked checks that a call does not wait for approval if the permission is
// granted just before the call is suspended.
func TestGateIsRechecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount, decideCount int
		g := &fakeGate{name: "g", decide: func(dispatch.CallInfo) dispatch.Verdict {
			if decideCount++; decideCount > 1 {
				return dispatch.Verdict{}
			}
			return dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketPermission}}
		}}
		waitingCount := -1
		o := dispatch.Options{Gates: []dispatch.Gate{g}, OnWaitingCountChange: func(n int) { waitingCount = n }}
		_, err, elapsedTime := runCall(t, newFinishingPage(&runCount), o, dispatch.Call{Tool: exportTool})
		if err != nil || elapsedTime != 0 || runCount != 1 || waitingCount != 0 {
			t.Errorf("the call ended with the error %v after %v and ran %d times, and %d calls wait; want no error, no delay, 1 run and no waiting call", err, elapsedTime, runCount, waitingCount)
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
				if e := toDispatchError(t, err); e == nil || e.Code != wire.ErrRateLimited || !strings.Contains(e.Message, "too many calls are waiting for approval") {
					t.Fatalf("error of the call above the limit = %v, want rate_limited: too many calls are waiting for approval", err)
				}
				if got, err := d.Decide(firstCallID, "", dispatch.Resolution{Allow: true}); err != nil || got.Outcome != wire.DecisionAccepted {
					t.Fatalf("Decide for the first call returned %+v, error %v; want accepted and no error", got, err)
				}
				synctest.Wait()
				_, waitForEnd := startSuspendedCall(t, t.Context(), d, c)
				d.Shutdown()
				if _, err := waitForEnd(); err == nil || err.Code != wire.ErrShutdown {
					t.Errorf("error of the call that replaced the decided call = %v, want shutdown", err)
				}
			})
		})
	}
}

func TestSuspendedCallIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{Gates: []dispatch.Gate{&fakeGate{name: "g"}}})
		f := d.Subscribe(dispatch.SubscribeOptions{})
		defer f.Close()
		ctx, disconnect := context.WithCancel(t.Context())
		ticketCount, isWithdrawn := 0, make(chan struct{})
		callView, waitForEnd := startSuspendedCall(t, ctx, d, dispatch.Call{Tool: exportTool, OnTicket: func(ctx context.Context, w dispatch.WaitingTicket) {
			ticketCount++
			<-ctx.Done()
			close(isWithdrawn)
		}})
		disconnect()
		_, err := waitForEnd()
		<-isWithdrawn
		if err == nil || err.Code != wire.ErrCancelled || ticketCount != 1 {
			t.Errorf("the call ended with the error %v after %d requests for approval; want cancelled after 1 request", err, ticketCount)
		}
		if got, _ := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true}); got.Outcome != wire.DecisionNotPending || runCount != 0 {
			t.Errorf("Decide after the end of the call returned %+v, and the tool ran %d times; want not pending and 0 runs", got, runCount)
		}
		events, _, nextErr := f.Next(t.Context())
		var kinds []dispatch.EventKind
		for _, e := range events {
			kinds = append(kinds, e.Kind)
		}
		want := []dispatch.EventKind{dispatch.EventCreated, dispatch.EventSuspended, dispatch.EventEnded}
		if nextErr != nil || !slices.Equal(kinds, want) || events[1].Call.Waiting == nil || events[2].Call.Waiting != nil {
			t.Errorf("kinds of the events = %v, want %v; error %v", kinds, want, nextErr)
		}
		if events[0].IsForUser() || !events[1].IsForUser() || !events[2].IsForUser() {
			t.Error("wrong events are for the user, want only the second and the third event")
		}
	})
}

func TestGateVerdictsAfterApproval(t *testing.T) {
	allow := func(*dispatch.Resolution) dispatch.Verdict { return dispatch.Verdict{} }
	returnDecisionData := func(r *dispatch.Resolution) dispatch.Verdict {
		return dispatch.Verdict{Result: &dispatch.GateResult{Output: r.Data}}
	}
	for _, tt := range []struct {
		name           string
		passesDecision bool
		onResume       func(r *dispatch.Resolution) dispatch.Verdict
		output         string
		decision       string
	}{
		{"run again", false, allow, `"ran"`, ""},
		{"the decision is the result", false, returnDecisionData, `{"n":1}`, ""},
		{"pass the decision", true, allow, `"ran"`, `{"allow":true,"scope":"once","by":"panel","data":{"n":1}}`},
	} {
		g := &fakeGate{name: "g", decide: func(i dispatch.CallInfo) dispatch.Verdict {
			if i.Resolution != nil {
				return tt.onResume(i.Resolution)
			}
			return dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketPermission, PassesDecision: tt.passesDecision}}
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
				t.Errorf("%s: output %s, want %s; decision %s, want %s; tool ran %t; error %v", tt.name, r.Output, tt.output, decision, tt.decision, hasRun, err)
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
				return dispatch.Verdict{BlockError: &wire.CallError{Code: wire.ErrDenied, Message: "switched off meanwhile"}}
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
			t.Errorf("the call ended with the error %v and ran %d times; want denied: switched off meanwhile, and 0 runs", err, runCount)
		}
	})
}

func TestSuspendedCallsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		var waitingCounts []int
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{
			Gates: []dispatch.Gate{&fakeGate{name: "g"}}, OnWaitingCountChange: func(n int) { waitingCounts = append(waitingCounts, n) },
		})
		callView, waitForEnd := startSuspendedCall(t, t.Context(), d, dispatch.Call{Tool: exportTool})
		ctx, disconnect := context.WithCancel(t.Context())
		go func() { _, _ = d.Call(ctx, dispatch.Call{Tool: exportTool}) }()
		synctest.Wait()
		go func() { _, _ = d.Call(t.Context(), dispatch.Call{Tool: exportTool}) }()
		synctest.Wait()
		if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := waitForEnd(); err != nil {
			t.Error(err)
		}
		disconnect()
		sleepVirtual(dispatch.DefaultSuspendLimit)
		synctest.Wait()
		if want := []int{1, 2, 3, 2, 1, 0}; !slices.Equal(waitingCounts, want) {
			t.Errorf("reported numbers of waiting calls = %v, want %v", waitingCounts, want)
		}
	})
}

func TestSuspendedCallLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{Gates: []dispatch.Gate{suspendBeforeApproval("export")}, MaxRunningCalls: 1})
		callView, waitForEnd := startSuspendedCall(t, t.Context(), d, dispatch.Call{Tool: exportTool})
		otherTool := exportTool
		otherTool.Name = "other"
		if _, err := d.Call(t.Context(), dispatch.Call{Tool: otherTool}); err != nil || runCount != 1 {
			t.Errorf("the call ended with the error %v after %d runs of the tool; want no error after 1 run", err, runCount)
		}
		if _, err := d.Decide(callView.CallID, "", dispatch.Resolution{Allow: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := waitForEnd(); err != nil || runCount != 2 {
			t.Errorf("the call ended with the error %v after %d runs of the tool; want no error after 2 runs", err, runCount)
		}
	})
}

func TestReportsBeforeASuspensionAreSent(t *testing.T) {
	userReports := func(reportMessage string) []wire.Report {
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
				isAnswered := make(chan struct{})
				b := (&fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
					for _, reportMessage := range tt.reportsBefore {
						s.Reports(userReports(reportMessage), 0)
					}
					s.Ask(askUser(1))
					<-isAnswered
					s.Reports(userReports("logged in"), 0)
					s.Finish(json.RawMessage(`1`), nil)
				}}).bridge()
				b.AnswerFunc = func(string, int, json.RawMessage, *wire.CallError) { close(isAnswered) }
				d := dispatch.New(b, dispatch.Options{})
				var messages []string
				_, err := d.Call(t.Context(), dispatch.Call{
					Tool:     exportTool,
					Progress: func(p dispatch.Progress) { messages = append(messages, p.Message) },
					OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
						d.SendReminder(w, "reminder")
						sleepVirtual(tt.approvalDelay)
						if _, err := d.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true}); err != nil {
							t.Error(err)
						}
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(messages, ", "); got != tt.want {
					t.Errorf("messages that the client received = %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// A gate receives an approval that covers later calls even if the approved call is cancelled before it continues.
func TestDecisionWinsOverLaterCancellation(t *testing.T) {
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
				t.Fatalf("Decide before the cancellation returned %+v, error %v; want accepted and no error", got, err)
			}
			if i%2 == 0 {
				cancel()
			} else {
				d.Cancel(callView.CallID, "the side panel", "")
			}
			_, _ = waitForEnd()
			cancel()
			if decisionCount != i+1 {
				t.Fatalf("the gate received %d decisions, want %d", decisionCount, i+1)
			}
		}
	})
}
