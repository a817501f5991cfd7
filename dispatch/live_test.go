package dispatch_test

import (
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
	"opentabs/dispatch/dispatchtest"
	"opentabs/wire"
)

func TestDisconnectCancelsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		startTime := time.Now()
		_, err := d.Call(ctx, dispatch.Call{Tool: exportTool})
		if e := toDispatchError(t, err); e.Code != wire.ErrCancelled || time.Since(startTime) != 3*time.Second || p.stopCount() != 1 {
			t.Errorf("the call ended with the error %v after %v and %d stop requests; want cancelled after 3s and 1 stop request", err, time.Since(startTime), p.stopCount())
		}
		if v := d.Calls()[0]; v.Status != wire.StatusCancelled || v.StopOutcome != wire.CancelAborted {
			t.Errorf("view of the call = %+v, want the status cancelled and the stop outcome aborted", v)
		}
	})
}

func TestDisconnectedClientStartsNothing(t *testing.T) {
	started := false
	d := dispatch.New(&dispatchtest.Bridge{
		StartFunc: func(context.Context, dispatch.Run, dispatch.Sink) *wire.CallError { started = true; return nil },
	}, dispatch.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := d.Call(ctx, dispatch.Call{Tool: exportTool})
	if e := toDispatchError(t, err); e.Code != wire.ErrCancelled || started {
		t.Errorf("the call ended with the error %v, started %t; want cancelled, not started", err, started)
	}
}

func TestCancelReportsWhetherToolStopped(t *testing.T) {
	tests := []struct {
		cancelOutcome wire.CancelOutcome
		delay         time.Duration
		want          wire.CancelOutcome
		wantError     string
	}{
		{wire.CancelAborted, time.Millisecond, wire.CancelAborted, "stopped the tool"},
		{wire.CancelFinished, time.Millisecond, wire.CancelFinished, "had finished before"},
		{wire.CancelIgnored, 2 * time.Second, "", "has not answered the stop yet"},
	}
	for _, tt := range tests {
		t.Run(string(tt.cancelOutcome), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &dispatchtest.Bridge{CancelFunc: func(_, _ string, onOutcome func(wire.CancelOutcome)) {
					time.AfterFunc(tt.delay, func() { onOutcome(tt.cancelOutcome) })
				}}
				d := dispatch.New(b, dispatch.Options{})
				startTime := time.Now()
				_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
				e := toDispatchError(t, err)
				if e.StopOutcome != tt.want || !contains(e.Message, tt.wantError) {
					t.Errorf("stop outcome %q and error text %q; want %q, and a text that contains %q", e.StopOutcome, e.Message, tt.want, tt.wantError)
				}
				if elapsedTime := time.Since(startTime); elapsedTime > 30*time.Second+50*time.Millisecond {
					t.Errorf("the call returned after %v, want at most 30.05 s", elapsedTime)
				}
				sleepVirtual(3 * time.Second)
				if v := d.Calls()[0]; v.StopOutcome != tt.cancelOutcome {
					t.Errorf("recorded stop outcome = %q, want %q", v.StopOutcome, tt.cancelOutcome)
				}
			})
		})
	}
}

func TestCancelReason(t *testing.T) {
	const cancelReason = "the user pressed Escape"
	for name, cancelCall := range map[string]func(d *dispatch.Dispatcher, id string, cancel context.CancelCauseFunc){
		"the client": func(_ *dispatch.Dispatcher, _ string, cancel context.CancelCauseFunc) {
			cancel(fmt.Errorf("session: %w", &dispatch.Cancellation{CancelledBy: "the client", Reason: cancelReason}))
		},
		"the side panel": func(d *dispatch.Dispatcher, id string, _ context.CancelCauseFunc) {
			d.Cancel(id, "the side panel", cancelReason)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log strings.Builder
			d, p, _ := newToolDispatcher(t, dispatch.Options{Log: zerolog.New(zerolog.SyncWriter(&log))}, map[string]func(dispatch.Run, dispatch.Sink){
				"parent": func(_ dispatch.Run, s dispatch.Sink) { s.Ask(newToolAsk(1, "child", `{}`)) },
				"child":  func(dispatch.Run, dispatch.Sink) {},
			})
			ctx, cancel := context.WithCancelCause(t.Context())
			callErrors := make(chan error, 1)
			go func() {
				_, err := d.Call(ctx, dispatch.Call{Tool: dispatch.Tool{Plugin: "m", Name: "parent"}})
				callErrors <- err
			}()
			synctest.Wait()
			cancelCall(d, d.Calls()[0].CallID, cancel)
			e := toDispatchError(t, <-callErrors)
			synctest.Wait()
			p.wg.Wait()
			want := "cancelled by " + name + ": " + cancelReason
			if e.Code != wire.ErrCancelled || !contains(e.Message, want) {
				t.Errorf("error of the cancelled call = %v, want %q", e, want)
			}
			wantChildError := "cancelled by the call that made it, which has ended: " + cancelReason
			if got := p.cancelledCalls; !slices.Contains(got, want) || !slices.Contains(got, wantChildError) {
				t.Errorf("stop reasons that the pages received = %q, want %q and %q", got, want, wantChildError)
			}
			for _, v := range d.Calls() {
				if v.CancelReason != cancelReason || !contains(v.Error, cancelReason) {
					t.Errorf("call of %s: cancel reason = %q and error = %q, want %q in both", v.Tool, v.CancelReason, v.Error, cancelReason)
				}
			}
			sleepVirtual(time.Second)
			synctest.Wait()
			if n := strings.Count(log.String(), `"reason":"`+cancelReason+`"`); n != 2 {
				t.Errorf("the log contains the cancel reason %d times, want 2 times; log: %s", n, log.String())
			}
		})
	}
}

func TestUserStopsARunningAndAWaitingCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{}
		d := dispatch.New(p.bridge(), dispatch.Options{MaxRunningCalls: 1})
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
				errs <- err
			}()
			synctest.Wait()
		}
		calls := d.Calls()
		if len(calls) != 2 || calls[0].Status != wire.StatusRunning || calls[1].Status != "queued" {
			t.Fatalf("listed calls = %+v, want one running and one queued call", calls)
		}
		for i := range calls {
			id := calls[len(calls)-1-i].CallID
			if !d.Cancel(id, "the side panel", "") {
				t.Errorf("Cancel returned false for call %d, want true", i)
			}
			e := toDispatchError(t, <-errs)
			if e.Code != wire.ErrCancelled || !contains(e.Message, "cancelled by the side panel") {
				t.Errorf("error of the cancelled call = %v, want cancelled by the side panel", e)
			}
		}
		if d.Cancel(calls[0].CallID, "x", "") || d.Cancel("call_unknown", "x", "") {
			t.Error("Cancel returned true for an ended or unknown call, want false")
		}
		if p.stopCount() != 1 {
			t.Errorf("%d pages received a stop request, want only the page of the running call", p.stopCount())
		}
	})
}

func TestStopReachesACallThatEndsWhileItStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		knownCalls := map[string]bool{}
		stopCount := 0
		var d *dispatch.Dispatcher
		d = dispatch.New(&dispatchtest.Bridge{
			StartFunc: func(_ context.Context, toolRun dispatch.Run, _ dispatch.Sink) *wire.CallError {
				d.Cancel(toolRun.ID, "a test", "")
				knownCalls[toolRun.ID] = true
				return nil
			},
			CancelFunc: func(id, _ string, onOutcome func(wire.CancelOutcome)) {
				if knownCalls[id] {
					stopCount++
				}
				onOutcome(wire.CancelFinished)
			},
		}, dispatch.Options{})
		_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		if e := toDispatchError(t, err); e.Code != wire.ErrCancelled || stopCount != 1 {
			t.Errorf("the call ended with the error %v after %d stop requests; want cancelled, and one stop request after the start", err, stopCount)
		}
	})
}

func TestStopEndsTheWaitForABrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatch.New(&waitingBridge{}, dispatch.Options{})
		callErrors := make(chan error, 1)
		go func() {
			_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
			callErrors <- err
		}()
		synctest.Wait()
		d.Cancel(d.Calls()[0].CallID, "the side panel", "")
		synctest.Wait()
		select {
		case err := <-callErrors:
			if e := toDispatchError(t, err); e.Code != wire.ErrCancelled {
				t.Errorf("error of the call = %v, want cancelled", err)
			}
		default:
			t.Error("the cancelled call still waits for a browser, want the wait to end")
		}
	})
}

type waitingBridge struct{ dispatchtest.Bridge }

func (*waitingBridge) Targets(ctx context.Context, _ dispatch.TargetChoice) dispatch.Targets {
	<-ctx.Done()
	return dispatch.Targets{}
}

func TestStartAttemptsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attemptCount := 0
		d := dispatch.New(&dispatchtest.Bridge{
			StartFunc: func(_ context.Context, _ dispatch.Run, s dispatch.Sink) *wire.CallError {
				attemptCount++
				go s.Finish(nil, &wire.CallError{Code: wire.ErrNavigated, Message: "gone", NotStarted: true})
				return nil
			},
		}, dispatch.Options{})
		_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		if e := toDispatchError(t, err); e.Code != wire.ErrNavigated || attemptCount != 8 {
			t.Errorf("the call ended with the error %v after %d attempts, want navigated after 8", err, attemptCount)
		}
	})
}

func TestBlockedStopDoesNotDelayTheError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &dispatchtest.Bridge{CancelFunc: func(_, _ string, onOutcome func(wire.CancelOutcome)) {
			sleepVirtual(10 * time.Second) // simulate a WebSocket whose buffer is full
			onOutcome(wire.CancelIgnored)
		}}
		d := dispatch.New(b, dispatch.Options{})
		startTime := time.Now()
		_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		if elapsedTime := time.Since(startTime); err == nil || elapsedTime > 30*time.Second+50*time.Millisecond {
			t.Errorf("the call ended with the error %v after %v, want an error after 30 s", err, elapsedTime)
		}
		sleepVirtual(11 * time.Second)
	})
}

func TestCallReturnsBridgeErrorCode(t *testing.T) {
	for _, code := range wire.ErrorCodes() {
		t.Run(string(code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
					s.Finish(nil, &wire.CallError{Code: code, Message: "what happened"})
					s.Finish(json.RawMessage(`1`), nil)
				}}
				_, err, _ := runCall(t, p, dispatch.Options{}, dispatch.Call{Tool: exportTool})
				if err == nil || err.Code != code {
					t.Fatalf("error of the call = %v, want %s", err, code)
				}
				if p.stopCount() != 0 {
					t.Error("a page that had ended the call received a stop request, want none")
				}
			})
		})
	}
}

func TestCallTriesNextTargetWhenNotReady(t *testing.T) {
	const earlierReport = "it reported before"
	firstTarget, secondTarget := dispatchtest.DefaultTarget, dispatchtest.DefaultTarget
	secondTarget.TabID, secondTarget.DocumentID = 8, "d2"
	notReadyErr := &wire.CallError{Code: wire.ErrNotReady, Message: "isReady() was not true"}
	callError := &wire.CallError{Code: wire.ErrToolError, Message: "no"}
	tests := []struct {
		name       string
		callErrors map[int]*wire.CallError
		startErr   *wire.CallError
		tabs       []int
		code       wire.ErrorCode
	}{
		{"first is ready", map[int]*wire.CallError{}, nil, []int{7}, ""},
		{"second is ready", map[int]*wire.CallError{7: notReadyErr}, nil, []int{7, 8}, ""},
		{"none is ready", map[int]*wire.CallError{7: notReadyErr, 8: notReadyErr}, nil, []int{7, 8}, wire.ErrNotReady},
		{"other errors are final", map[int]*wire.CallError{7: callError}, nil, []int{7}, wire.ErrToolError},
		{"document gone", nil, &wire.CallError{Code: wire.ErrNavigated, Message: "gone"}, []int{7, 8}, ""},
		{"the document is closed before the run starts", map[int]*wire.CallError{7: {Code: wire.ErrNavigated, Message: "gone", NotStarted: true}}, nil, []int{7, 8}, ""},
		{"tab closed before the run starts", map[int]*wire.CallError{7: {Code: wire.ErrTabClosed, Message: "gone", NotStarted: true}}, nil, []int{7, 8}, ""},
		{"page crashed before the run starts", map[int]*wire.CallError{7: {Code: wire.ErrPageCrashed, Message: "gone", NotStarted: true}}, nil, []int{7, 8}, ""},
		{"tab discarded before the run starts", map[int]*wire.CallError{7: {Code: wire.ErrTabDiscarded, Message: "gone", NotStarted: true}}, nil, []int{7, 8}, ""},
		{"tab frozen", map[int]*wire.CallError{7: {Code: wire.ErrTabFrozen, Message: "frozen", NotStarted: true}}, nil, []int{7, 8}, ""},
		{"both frozen", map[int]*wire.CallError{
			7: {Code: wire.ErrTabFrozen, Message: "frozen", NotStarted: true}, 8: {Code: wire.ErrTabFrozen, Message: "frozen", NotStarted: true},
		}, nil, []int{7, 8}, wire.ErrTabFrozen},
		{"link lost for good before the run starts", map[int]*wire.CallError{7: {Code: wire.ErrLinkLost, Message: "gone", NotStarted: true}}, nil, []int{7, 8}, ""},
		{"not begun, after it had reported", map[int]*wire.CallError{7: {Code: wire.ErrNavigated, Message: earlierReport, NotStarted: true}}, nil, []int{7}, wire.ErrNavigated},
		{"page crashed while it ran", map[int]*wire.CallError{7: {Code: wire.ErrPageCrashed, Message: "gone"}}, nil, []int{7}, wire.ErrPageCrashed},
		{"navigated while it ran", map[int]*wire.CallError{7: {Code: wire.ErrNavigated, Message: "gone"}}, nil, []int{7}, wire.ErrNavigated},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var tabs []int
				ids := map[string]bool{}
				d := dispatch.New(&dispatchtest.Bridge{
					TargetsFunc: func(dispatch.TargetChoice) dispatch.Targets {
						liveTargets := []dispatch.Target{firstTarget, secondTarget}
						if len(tabs) > 0 {
							liveTargets = liveTargets[1:]
						}
						return dispatch.Targets{BrowserCount: 1, LiveTargets: liveTargets}
					},
					StartFunc: func(_ context.Context, toolRun dispatch.Run, s dispatch.Sink) *wire.CallError {
						tabs = append(tabs, toolRun.Target.TabID)
						ids[toolRun.ID] = true
						if tt.startErr != nil && toolRun.Target.TabID == 7 {
							return tt.startErr
						}
						callError := tt.callErrors[toolRun.Target.TabID]
						if callError != nil && callError.Message == earlierReport {
							s.Reports([]wire.Report{{}}, 0)
						}
						go s.Finish(nil, callError)
						return nil
					},
				}, dispatch.Options{})
				r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
				e := toDispatchError(t, err)
				if (e == nil) != (tt.code == "") || (e != nil && e.Code != tt.code) {
					t.Errorf("error of the call = %v, want the code %q", err, tt.code)
				}
				if reported := tt.callErrors[7]; reported != nil && reported.Message == earlierReport && !e.MayHaveActed {
					t.Errorf("error of a call that had reported progress = %+v, want one that states that the call may have acted", e)
				}
				if len(tabs) != len(tt.tabs) || tabs[len(tabs)-1] != tt.tabs[len(tt.tabs)-1] {
					t.Errorf("tabs in which the call was tried = %v, want %v", tabs, tt.tabs)
				}
				if len(ids) != len(tabs) {
					t.Errorf("%d runs had %d different IDs %v, want a different ID for each run", len(tabs), len(ids), ids)
				}
				if e == nil && r.Target.TabID != tabs[len(tabs)-1] {
					t.Errorf("the result comes from tab %d, want tab %d, in which the call was last tried", r.Target.TabID, tabs[len(tabs)-1])
				}
			})
		})
	}
}

func TestLostLinkPausesIdleLimit(t *testing.T) {
	for _, tt := range []struct {
		name    string
		page    func(dispatch.Sink)
		endTime time.Duration
		code    wire.ErrorCode
	}{
		{"the link returns and stays silent", func(s dispatch.Sink) {
			<-time.After(2 * time.Second)
			s.LinkLost()
			<-time.After(9 * time.Second)
			s.LinkRestored()
		}, 14 * time.Second, wire.ErrIdleTimeout},
		{"the link returns with a report", func(s dispatch.Sink) {
			s.LinkLost()
			<-time.After(9 * time.Second)
			s.Reports([]wire.Report{{}}, 0)
			s.LinkRestored()
			<-time.After(2 * time.Second)
			s.Reports([]wire.Report{{}}, 0)
		}, 14 * time.Second, wire.ErrIdleTimeout},
		{"the link does not return", func(s dispatch.Sink) { s.LinkLost() }, 20 * time.Second, wire.ErrDeadlineExceeded},
		{"the link returns after the end of the call", func(s dispatch.Sink) {
			s.LinkLost()
			<-time.After(21 * time.Second)
			s.LinkRestored()
		}, 20 * time.Second, wire.ErrDeadlineExceeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) { tt.page(s) }}
				d := dispatch.New(p.bridge(), dispatch.Options{IdleLimit: 3 * time.Second, HardLimit: 20 * time.Second})
				startTime := time.Now()
				_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
				if e := toDispatchError(t, err); e == nil || e.Code != tt.code || time.Since(startTime) != tt.endTime {
					t.Errorf("the call ended with the error %v after %v, want %s after %v", err, time.Since(startTime), tt.code, tt.endTime)
				}
				<-time.After(10 * time.Second)
			})
		})
	}
}

func TestLostLinkOfEarlierAttemptIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var attemptCount atomic.Int32
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			if attemptCount.Add(1) == 1 {
				s.LinkLost()
				<-time.After(time.Second)
				s.Finish(nil, &wire.CallError{Code: wire.ErrBrowserLost, Message: "restarted", NotStarted: true})
			}
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{IdleLimit: 3 * time.Second, HardLimit: 20 * time.Second})
		startTime := time.Now()
		_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		if e := toDispatchError(t, err); e == nil || e.Code != wire.ErrIdleTimeout || time.Since(startTime) != 4*time.Second || attemptCount.Load() != 2 {
			t.Errorf("the call ended with the error %v after %v and %d attempts; want idle_timeout after 4s and 2 attempts", err, time.Since(startTime), attemptCount.Load())
		}
	})
}
