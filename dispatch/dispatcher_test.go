package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/wire"
)

var exportTool = dispatch.Tool{Plugin: "messages", Name: "export", PluginName: "Messages", Matches: []string{"*://localhost/*"}}

type fakePage struct {
	handler func(toolRun dispatch.Run, sink dispatch.Sink)
	wg      sync.WaitGroup

	mu             sync.Mutex // guards cancelledCalls
	cancelledCalls []string
}

func (p *fakePage) bridge() *dispatchtest.Bridge {
	return &dispatchtest.Bridge{
		StartFunc: func(_ context.Context, toolRun dispatch.Run, sink dispatch.Sink) *wire.CallError {
			if p.handler != nil {
				p.wg.Go(func() { p.handler(toolRun, sink) })
			}
			return nil
		},
		CancelFunc: func(_, cancelReason string, onOutcome func(wire.CancelOutcome)) {
			p.mu.Lock()
			p.cancelledCalls = append(p.cancelledCalls, cancelReason)
			p.mu.Unlock()
			onOutcome(wire.CancelAborted)
		},
	}
}

func (p *fakePage) stopCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.cancelledCalls)
}

func newFloatPointer(f float64) *float64 { return &f }

func newNumberReports(progress, totalProgress float64) []wire.Report {
	return []wire.Report{{Progress: newFloatPointer(progress), Total: newFloatPointer(totalProgress)}}
}

func runCall(t *testing.T, p *fakePage, o dispatch.Options, c dispatch.Call) (dispatch.Result, *dispatch.Error, time.Duration) {
	t.Helper()
	d := dispatch.New(p.bridge(), o)
	startTime := time.Now()
	r, err := d.Call(t.Context(), c)
	elapsedTime := time.Since(startTime)
	p.wg.Wait()
	return r, toDispatchError(t, err), elapsedTime
}

func toDispatchError(t *testing.T, err error) *dispatch.Error {
	t.Helper()
	if err == nil {
		return nil
	}
	var e *dispatch.Error
	if !errors.As(err, &e) {
		t.Fatalf("type of the call's error = %T, want *dispatch.Error", err)
	}
	return e
}

// sleepVirtual sleeps in the fake time of package synctest.
func sleepVirtual(d time.Duration) { <-time.After(d) }

func TestCallWithoutReportsReachesIdleLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{}
		_, err, elapsedTime := runCall(t, p, dispatch.Options{}, dispatch.Call{Tool: exportTool})
		if err == nil || err.Code != wire.ErrIdleTimeout || elapsedTime != 30*time.Second || err.RunTime != 30*time.Second {
			t.Fatalf("the call ended after %v with the error %+v, want idle_timeout after exactly 30s", elapsedTime, err)
		}
		if p.stopCount() != 1 || err.StopOutcome != wire.CancelAborted {
			t.Errorf("the page received %d stop requests and answered %q; want 1 request and aborted", p.stopCount(), err.StopOutcome)
		}
	})
}

func TestReportRestartsTheIdleLimit(t *testing.T) {
	tests := []struct {
		at      time.Duration
		endTime time.Duration
	}{
		{29*time.Second + 999*time.Millisecond, 59*time.Second + 999*time.Millisecond},
		{30*time.Second - 1, 60*time.Second - 1},
		{30 * time.Second, 30 * time.Second}, // the report is too late, because the call has just reached the limit
	}
	for _, tt := range tests {
		t.Run(tt.at.String(), func(t *testing.T) {
			for range 50 { // the report and the timer are due at the same time, so either may come first
				synctest.Test(t, func(t *testing.T) {
					p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
						sleepVirtual(tt.at)
						s.Reports(newNumberReports(1, 10), 0)
					}}
					_, err, elapsedTime := runCall(t, p, dispatch.Options{}, dispatch.Call{Tool: exportTool})
					if err == nil || err.Code != wire.ErrIdleTimeout || elapsedTime != tt.endTime {
						t.Fatalf("the call ended after %v with the error %v, want idle_timeout after %v", elapsedTime, err, tt.endTime)
					}
				})
			}
		})
	}
}

func TestPartOfResultRestartsTheIdleLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			sleepVirtual(29 * time.Second)
			s.ReceivePart()
			sleepVirtual(29 * time.Second)
			s.Finish(json.RawMessage(`{"ok":true}`), nil)
		}}
		_, err, elapsedTime := runCall(t, p, dispatch.Options{}, dispatch.Call{Tool: exportTool})
		if err != nil || elapsedTime != 58*time.Second {
			t.Errorf("the call ended after %v with the error %v, want success after 58 s", elapsedTime, err)
		}
	})
}

func TestReportsCannotExtendHardLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := 0
		p := &fakePage{}
		stop := make(chan struct{})
		p.handler = func(_ dispatch.Run, s dispatch.Sink) {
			for range 60 { // the loop is finite, so the test ends even if the hard limit is broken
				select {
				case <-time.After(29 * time.Second):
					reports++
					s.Reports(newNumberReports(float64(reports), 100), 0)
				case <-stop:
					return
				}
			}
			s.Finish(nil, nil)
		}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		startTime := time.Now()
		_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		elapsedTime := time.Since(startTime)
		close(stop)
		p.wg.Wait()
		e := toDispatchError(t, err)
		if e == nil || e.Code != wire.ErrDeadlineExceeded || elapsedTime != 5*time.Minute {
			t.Fatalf("the call ended after %v with the error %v, want deadline_exceeded after exactly 5m", elapsedTime, err)
		}
		if e.ReportCount != 10 || e.SinceLastReport != 10*time.Second || e.Retryable {
			t.Errorf("error of the call: %d reports, last report %v before the end, retryable %t; want 10, 10s, false", e.ReportCount, e.SinceLastReport, e.Retryable)
		}
	})
}

func TestReportsKeepCallRunning(t *testing.T) {
	const gap = 30*time.Second - 1 // the time between two reports is just below the idle limit
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range 7 {
				sleepVirtual(gap)
				s.Reports(newNumberReports(float64(i+1), 7), 0)
			}
			s.Finish(json.RawMessage(`{"ok":true}`), nil)
		}}
		r, err, elapsedTime := runCall(t, p, dispatch.Options{}, dispatch.Call{Tool: exportTool})
		if err != nil || string(r.Output) != `{"ok":true}` || elapsedTime != 7*gap || r.ReportCount != 7 {
			t.Fatalf("the call returned the result %s with %d reports and the error %v after %v; want a result after %v", r.Output, r.ReportCount, err, elapsedTime, 7*gap)
		}
		if p.stopCount() != 0 {
			t.Error("the page of a successful call received a stop request, want none")
		}
	})
}

func TestInvalidReportsResetIdleLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for range 3 {
				sleepVirtual(20 * time.Second)
				s.Reports([]wire.Report{{Progress: newFloatPointer(-1)}, {HasInvalidNumber: true}, {}}, 2)
			}
			s.Finish(nil, nil)
		}}
		r, err, _ := runCall(t, p, dispatch.Options{}, dispatch.Call{Tool: exportTool})
		if err != nil || r.ReportCount != 15 {
			t.Fatalf("the call counted %d reports and returned the error %v; want 15 reports (9 sent, 6 skipped) and no error", r.ReportCount, err)
		}
	})
}

func TestToolLimitsOverrideOptions(t *testing.T) {
	tests := []struct {
		name string
		o    dispatch.Options
		tool dispatch.Tool
		want time.Duration
		code wire.ErrorCode
	}{
		{"idle limit from the options", dispatch.Options{IdleLimit: 3 * time.Second}, exportTool, 3 * time.Second, wire.ErrIdleTimeout},
		{"idle limit from the tool", dispatch.Options{}, dispatch.Tool{Plugin: "p", Name: "t", IdleLimit: time.Second}, time.Second, wire.ErrIdleTimeout},
		{"a tool's idle limit above the default", dispatch.Options{}, dispatch.Tool{Plugin: "p", Name: "t", IdleLimit: 2 * time.Minute}, 2 * time.Minute, wire.ErrIdleTimeout},
		{"a tool's idle limit above the default maximum", dispatch.Options{HardLimit: time.Hour}, dispatch.Tool{Plugin: "p", Name: "t", IdleLimit: 6 * time.Minute}, 5 * time.Minute, wire.ErrIdleTimeout},
		{"a tool's idle limit above the user's idle limit", dispatch.Options{IdleLimit: 30 * time.Second}, dispatch.Tool{Plugin: "p", Name: "t", IdleLimit: 2 * time.Minute}, 30 * time.Second, wire.ErrIdleTimeout},
		{"a tool's idle limit above the user's maximum", dispatch.Options{IdleLimit: 30 * time.Second, MaxIdleLimit: time.Minute}, dispatch.Tool{Plugin: "p", Name: "t", IdleLimit: 2 * time.Minute}, time.Minute, wire.ErrIdleTimeout},
		{"a tool's idle limit below the user's idle limit", dispatch.Options{IdleLimit: 30 * time.Second}, dispatch.Tool{Plugin: "p", Name: "t", IdleLimit: time.Second}, time.Second, wire.ErrIdleTimeout},
		{"hard limit below idle limit", dispatch.Options{HardLimit: 2 * time.Second}, exportTool, 2 * time.Second, wire.ErrDeadlineExceeded},
		{"both limits at the same time", dispatch.Options{IdleLimit: time.Minute, HardLimit: time.Minute}, exportTool, time.Minute, wire.ErrDeadlineExceeded},
		{
			"a tool's hard limit above the default hard limit", dispatch.Options{IdleLimit: time.Hour},
			dispatch.Tool{Plugin: "p", Name: "t", HardLimit: time.Hour}, 5 * time.Minute, wire.ErrDeadlineExceeded,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err, elapsedTime := runCall(t, &fakePage{}, tt.o, dispatch.Call{Tool: tt.tool})
				if err == nil || err.Code != tt.code || elapsedTime != tt.want {
					t.Errorf("the call ended after %v with the error %v, want %s after %v", elapsedTime, err, tt.code, tt.want)
				}
			})
		})
	}
}

func TestNothingIsSentAfterCallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sink dispatch.Sink
		var notifications atomic.Int32
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			sink = s
			s.Finish(json.RawMessage(`1`), nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		f := d.Subscribe(dispatch.SubscribeOptions{})
		defer f.Close()
		r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Progress: func(dispatch.Progress) { notifications.Add(1) }})
		if err != nil {
			t.Fatal(err)
		}
		sink.Reports(newNumberReports(1, 2), 0)
		sink.Finish(json.RawMessage(`2`), nil)
		sink.Finish(nil, &wire.CallError{Code: wire.ErrInternal})
		if d.Cancel(r.CallID, "a test", "") {
			t.Error("Cancel returned true for a call that has ended, want false")
		}
		synctest.Wait()
		v, _ := d.Find(r.CallID)
		if notifications.Load() != 0 || v.ReportCount != 0 || v.Status != wire.StatusDone {
			t.Errorf("after the end of the call there are %d notifications and the view %+v; want no late notification and no late report", notifications.Load(), v)
		}
		events, _, err := f.Next(t.Context())
		if err != nil || len(events) != 3 || events[2].Kind != dispatch.EventEnded {
			t.Errorf("events of the call = %+v, error %v; want created, running, ended", events, err)
		}
	})
}

func TestResultAtTheTimeOfTheTimeout(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
				sleepVirtual(30 * time.Second)
				s.Finish(json.RawMessage(`"late"`), nil)
			}}
			d := dispatch.New(p.bridge(), dispatch.Options{})
			f := d.Subscribe(dispatch.SubscribeOptions{})
			defer f.Close()
			r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
			p.wg.Wait()
			synctest.Wait()
			events, _, _ := f.Next(t.Context())
			endEventCount := 0
			for _, e := range events {
				if e.Kind == dispatch.EventEnded {
					endEventCount++
				}
			}
			e := toDispatchError(t, err)
			succeeded := string(r.Output) == `"late"` && e == nil && p.stopCount() == 0
			hasTimedOut := r.Output == nil && e != nil && e.Code == wire.ErrIdleTimeout && p.stopCount() == 1
			if endEventCount != 1 || succeeded == hasTimedOut {
				t.Fatalf("the call had %d endings, result %s, error %v and %d stop requests; want one ending: success or a timeout", endEventCount, r.Output, err, p.stopCount())
			}
		})
	}
}

func TestTenThousandCallsAtOnce(t *testing.T) {
	const n = 10000
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(toolRun dispatch.Run, s dispatch.Sink) {
			var i int
			if err := json.Unmarshal(toolRun.Args, &i); err != nil {
				panic(err)
			}
			switch i % 4 {
			case 0:
				s.Finish(toolRun.Args, nil)
			case 1:
				for range 4 {
					sleepVirtual(20 * time.Second)
					s.Reports(newNumberReports(1, 2), 0)
				}
				s.Finish(toolRun.Args, nil)
			case 2:
				sleepVirtual(time.Second)
				s.Finish(nil, &wire.CallError{Code: wire.ErrTabClosed, Message: "the tab was closed"})
			case 3:
			}
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{MaxRunningCalls: n})
		var wg sync.WaitGroup
		var wrongResultCount atomic.Int32
		startTime := time.Now()
		for i := range n {
			wg.Go(func() {
				r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Args: json.RawMessage(fmt.Sprint(i))})
				var e *dispatch.Error
				errors.As(err, &e)
				elapsedTime := time.Since(startTime)
				ok := false
				switch i % 4 {
				case 0:
					ok = err == nil && string(r.Output) == fmt.Sprint(i) && elapsedTime == 0
				case 1:
					ok = err == nil && string(r.Output) == fmt.Sprint(i) && elapsedTime == 80*time.Second
				case 2:
					ok = e != nil && e.Code == wire.ErrTabClosed && elapsedTime == time.Second
				case 3:
					ok = e != nil && e.Code == wire.ErrIdleTimeout && elapsedTime == 30*time.Second
				}
				if !ok {
					wrongResultCount.Add(1)
				}
			})
		}
		wg.Wait()
		p.wg.Wait()
		if wrongResultCount.Load() != 0 || p.stopCount() != n/4 {
			t.Errorf("%d calls ended in a wrong way, and %d pages received a stop request; want 0 and %d", wrongResultCount.Load(), p.stopCount(), n/4)
		}
		if listedCallCount := len(d.Calls()); listedCallCount != 200 {
			t.Errorf("the dispatcher lists %d calls, want the last 200", listedCallCount)
		}
	})
}

func TestRejectedRunFailsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &dispatchtest.Bridge{StartFunc: func(context.Context, dispatch.Run, dispatch.Sink) *wire.CallError {
			return &wire.CallError{Code: wire.ErrBrowserLost, Message: "the browser is gone"}
		}}
		d := dispatch.New(b, dispatch.Options{})
		_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		if e := toDispatchError(t, err); e.Code != wire.ErrBrowserLost || !e.Retryable {
			t.Errorf("error of the call = %+v, want a retryable browser_lost", e)
		}
		if c := d.Calls(); len(c) != 1 || c[0].Status != wire.StatusFailed {
			t.Errorf("listed calls = %+v, want one failed call", c)
		}
	})
}

func TestShutdownEndsAllCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{}
		d := dispatch.New(p.bridge(), dispatch.Options{MaxRunningCalls: 1})
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
				errs <- err
			}()
		}
		synctest.Wait()
		d.Shutdown()
		for range 2 {
			if e := toDispatchError(t, <-errs); e.Code != wire.ErrShutdown {
				t.Errorf("error code of the call = %s, want shutdown", e.Code)
			}
		}
		_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		if e := toDispatchError(t, err); e.Code != wire.ErrShutdown || p.stopCount() != 1 {
			t.Errorf("error of a call after Shutdown = %v, want shutdown; %d pages received a stop request, want 1", err, p.stopCount())
		}
	})
}
