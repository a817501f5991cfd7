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
	handler func(run dispatch.Run, sink dispatch.Sink)
	wg      sync.WaitGroup

	mu        sync.Mutex // the mutex guards the field cancelled
	cancelled []string
}

func (p *fakePage) bridge() *dispatchtest.Bridge {
	return &dispatchtest.Bridge{
		StartFunc: func(_ context.Context, run dispatch.Run, sink dispatch.Sink) *wire.CallError {
			if p.handler != nil {
				p.wg.Go(func() { p.handler(run, sink) })
			}
			return nil
		},
		CancelFunc: func(_, reason string, answered func(wire.CancelOutcome)) {
			p.mu.Lock()
			p.cancelled = append(p.cancelled, reason)
			p.mu.Unlock()
			answered(wire.CancelAborted)
		},
	}
}

func (p *fakePage) stopCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.cancelled)
}

func newFloat(f float64) *float64 { return &f }

func numberReports(progress, total float64) []wire.Report {
	return []wire.Report{{Progress: newFloat(progress), Total: newFloat(total)}}
}

func runCall(t *testing.T, p *fakePage, o dispatch.Options, c dispatch.Call) (dispatch.Result, *dispatch.Error, time.Duration) {
	t.Helper()
	d := dispatch.New(p.bridge(), o)
	startTime := time.Now()
	r, err := d.Call(t.Context(), c)
	elapsed := time.Since(startTime)
	p.wg.Wait()
	return r, asError(t, err), elapsed
}

func asError(t *testing.T, err error) *dispatch.Error {
	t.Helper()
	if err == nil {
		return nil
	}
	var e *dispatch.Error
	if !errors.As(err, &e) {
		t.Fatalf("err = %T, want *dispatch.Error", err)
	}
	return e
}

// sleepFake sleeps in the fake time of package synctest.
func sleepFake(d time.Duration) { <-time.After(d) }

func TestSilentCallEndsAtThirtySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{}
		_, err, elapsed := runCall(t, p, dispatch.Options{}, dispatch.Call{Tool: exportTool})
		if err == nil || err.Code != wire.ErrIdleTimeout || elapsed != 30*time.Second || err.RunTime != 30*time.Second {
			t.Fatalf("the call ended after %v with %+v, want idle_timeout at exactly 30s", elapsed, err)
		}
		if p.stopCount() != 1 || err.StopOutcome != wire.CancelAborted {
			t.Errorf("page got %d stops, answered %q; want once, aborted", p.stopCount(), err.StopOutcome)
		}
	})
}

func TestReportRestartsTheIdleLimit(t *testing.T) {
	tests := []struct {
		at   time.Duration
		ends time.Duration
	}{
		{29*time.Second + 999*time.Millisecond, 59*time.Second + 999*time.Millisecond},
		{30*time.Second - 1, 60*time.Second - 1},
		{30 * time.Second, 30 * time.Second}, // the report is too late, because the call has just reached the limit
	}
	for _, tt := range tests {
		t.Run(tt.at.String(), func(t *testing.T) {
			for range 50 { // the report and the timer coincide, so either may come first
				synctest.Test(t, func(t *testing.T) {
					p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
						sleepFake(tt.at)
						s.Reports(numberReports(1, 10), 0)
					}}
					_, err, elapsed := runCall(t, p, dispatch.Options{}, dispatch.Call{Tool: exportTool})
					if err == nil || err.Code != wire.ErrIdleTimeout || elapsed != tt.ends {
						t.Fatalf("the call ended after %v with %v, want idle_timeout at %v", elapsed, err, tt.ends)
					}
				})
			}
		})
	}
}

func TestReportsCannotPassTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := 0
		p := &fakePage{}
		stop := make(chan struct{})
		p.handler = func(_ dispatch.Run, s dispatch.Sink) {
			for range 60 { // the loop is finite, so that the test ends even without a hard limit
				select {
				case <-time.After(29 * time.Second):
					reports++
					s.Reports(numberReports(float64(reports), 100), 0)
				case <-stop:
					return
				}
			}
			s.Finish(nil, nil)
		}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		startTime := time.Now()
		_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		elapsed := time.Since(startTime)
		close(stop)
		p.wg.Wait()
		e := asError(t, err)
		if e == nil || e.Code != wire.ErrDeadlineExceeded || elapsed != 5*time.Minute {
			t.Fatalf("the call ended after %v with %v, want deadline_exceeded at exactly 5m", elapsed, err)
		}
		if e.ReportCount != 10 || e.SinceLastReport != 10*time.Second || e.Retryable {
			t.Errorf("reports %d, since %v, retryable %t; want 10, 10s, false", e.ReportCount, e.SinceLastReport, e.Retryable)
		}
	})
}

func TestReportsKeepCallRunning(t *testing.T) {
	const gap = 30*time.Second - 1 // the time between two reports is just below the idle limit
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range 7 {
				sleepFake(gap)
				s.Reports(numberReports(float64(i+1), 7), 0)
			}
			s.Finish(json.RawMessage(`{"ok":true}`), nil)
		}}
		r, err, elapsed := runCall(t, p, dispatch.Options{}, dispatch.Call{Tool: exportTool})
		if err != nil || string(r.Output) != `{"ok":true}` || elapsed != 7*gap || r.ReportCount != 7 {
			t.Fatalf("result %s, reports %d, error %v after %v; want a result after %v", r.Output, r.ReportCount, err, elapsed, 7*gap)
		}
		if p.stopCount() != 0 {
			t.Error("the page of a successful call got a stop")
		}
	})
}

func TestInvalidReportsResetTheTimerToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for range 3 {
				sleepFake(20 * time.Second)
				s.Reports([]wire.Report{{Progress: newFloat(-1)}, {HasInvalidNumber: true}, {}}, 2)
			}
			s.Finish(nil, nil)
		}}
		r, err, _ := runCall(t, p, dispatch.Options{}, dispatch.Call{Tool: exportTool})
		if err != nil || r.ReportCount != 15 {
			t.Fatalf("reports %d, error %v; want 15 (9 sent, 6 skipped) and none", r.ReportCount, err)
		}
	})
}

func TestLimitsOfToolAndOptions(t *testing.T) {
	tests := []struct {
		name string
		o    dispatch.Options
		tool dispatch.Tool
		want time.Duration
		code wire.ErrorCode
	}{
		{"options", dispatch.Options{IdleLimit: 3 * time.Second}, exportTool, 3 * time.Second, wire.ErrIdleTimeout},
		{"tool", dispatch.Options{}, dispatch.Tool{Plugin: "p", Name: "t", IdleLimit: time.Second}, time.Second, wire.ErrIdleTimeout},
		{"tool above the server's default", dispatch.Options{}, dispatch.Tool{Plugin: "p", Name: "t", IdleLimit: 2 * time.Minute}, 2 * time.Minute, wire.ErrIdleTimeout},
		{"tool above the ceiling of all", dispatch.Options{HardLimit: time.Hour}, dispatch.Tool{Plugin: "p", Name: "t", IdleLimit: 6 * time.Minute}, 5 * time.Minute, wire.ErrIdleTimeout},
		{"tool above the user's own limit", dispatch.Options{IdleLimit: 30 * time.Second}, dispatch.Tool{Plugin: "p", Name: "t", IdleLimit: 2 * time.Minute}, 30 * time.Second, wire.ErrIdleTimeout},
		{"tool above the user's own ceiling", dispatch.Options{IdleLimit: 30 * time.Second, MaxIdleLimit: time.Minute}, dispatch.Tool{Plugin: "p", Name: "t", IdleLimit: 2 * time.Minute}, time.Minute, wire.ErrIdleTimeout},
		{"tool below the user's own limit", dispatch.Options{IdleLimit: 30 * time.Second}, dispatch.Tool{Plugin: "p", Name: "t", IdleLimit: time.Second}, time.Second, wire.ErrIdleTimeout},
		{"hard limit below idle limit", dispatch.Options{HardLimit: 2 * time.Second}, exportTool, 2 * time.Second, wire.ErrDeadlineExceeded},
		{"both limits at the same time", dispatch.Options{IdleLimit: time.Minute, HardLimit: time.Minute}, exportTool, time.Minute, wire.ErrDeadlineExceeded},
		{
			"tool's hard limit is below the ceiling", dispatch.Options{IdleLimit: time.Hour},
			dispatch.Tool{Plugin: "p", Name: "t", HardLimit: time.Hour}, 5 * time.Minute, wire.ErrDeadlineExceeded,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err, elapsed := runCall(t, &fakePage{}, tt.o, dispatch.Call{Tool: tt.tool})
				if err == nil || err.Code != tt.code || elapsed != tt.want {
					t.Errorf("the call ended after %v with %v, want %s at %v", elapsed, err, tt.code, tt.want)
				}
			})
		})
	}
}

func TestNothingAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sink dispatch.Sink
		var notifications atomic.Int32
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			sink = s
			s.Finish(json.RawMessage(`1`), nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		f := d.Follow(dispatch.FollowOptions{})
		defer f.Close()
		r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Progress: func(dispatch.Progress) { notifications.Add(1) }})
		if err != nil {
			t.Fatal(err)
		}
		sink.Reports(numberReports(1, 2), 0)
		sink.Finish(json.RawMessage(`2`), nil)
		sink.Finish(nil, &wire.CallError{Code: wire.ErrInternal})
		if d.Cancel(r.CallID, "a test", "") {
			t.Error("a call that has ended was cancelled")
		}
		synctest.Wait()
		v, _ := d.Find(r.CallID)
		if notifications.Load() != 0 || v.ReportCount != 0 || v.Status != wire.StatusDone {
			t.Errorf("after the end of the call there are %d notifications and the view %+v", notifications.Load(), v)
		}
		events, _, err := f.Next(t.Context())
		if err != nil || len(events) != 3 || events[2].Kind != dispatch.EventEnded {
			t.Errorf("events %+v, %v; want created, running, ended", events, err)
		}
	})
}

func TestResultAtTheTimeOfTheTimeout(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
				sleepFake(30 * time.Second)
				s.Finish(json.RawMessage(`"late"`), nil)
			}}
			d := dispatch.New(p.bridge(), dispatch.Options{})
			f := d.Follow(dispatch.FollowOptions{})
			defer f.Close()
			r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
			p.wg.Wait()
			synctest.Wait()
			events, _, _ := f.Next(t.Context())
			endingCount := 0
			for _, e := range events {
				if e.Kind == dispatch.EventEnded {
					endingCount++
				}
			}
			e := asError(t, err)
			succeeded := string(r.Output) == `"late"` && e == nil && p.stopCount() == 0
			timedOut := r.Output == nil && e != nil && e.Code == wire.ErrIdleTimeout && p.stopCount() == 1
			if endingCount != 1 || succeeded == timedOut {
				t.Fatalf("the call had %d endings, result %s, error %v and %d stops", endingCount, r.Output, err, p.stopCount())
			}
		})
	}
}

func TestTenThousandCallsAtOnce(t *testing.T) {
	const n = 10000
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(run dispatch.Run, s dispatch.Sink) {
			var i int
			if err := json.Unmarshal(run.Args, &i); err != nil {
				panic(err)
			}
			switch i % 4 {
			case 0:
				s.Finish(run.Args, nil)
			case 1:
				for range 4 {
					sleepFake(20 * time.Second)
					s.Reports(numberReports(1, 2), 0)
				}
				s.Finish(run.Args, nil)
			case 2:
				sleepFake(time.Second)
				s.Finish(nil, &wire.CallError{Code: wire.ErrTabClosed, Message: "the tab was closed"})
			case 3:
			}
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{MaxRunningCalls: n})
		var wg sync.WaitGroup
		var bad atomic.Int32
		startTime := time.Now()
		for i := range n {
			wg.Go(func() {
				r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Args: json.RawMessage(fmt.Sprint(i))})
				var e *dispatch.Error
				errors.As(err, &e)
				elapsed := time.Since(startTime)
				ok := false
				switch i % 4 {
				case 0:
					ok = err == nil && string(r.Output) == fmt.Sprint(i) && elapsed == 0
				case 1:
					ok = err == nil && string(r.Output) == fmt.Sprint(i) && elapsed == 80*time.Second
				case 2:
					ok = e != nil && e.Code == wire.ErrTabClosed && elapsed == time.Second
				case 3:
					ok = e != nil && e.Code == wire.ErrIdleTimeout && elapsed == 30*time.Second
				}
				if !ok {
					bad.Add(1)
				}
			})
		}
		wg.Wait()
		p.wg.Wait()
		if bad.Load() != 0 || p.stopCount() != n/4 {
			t.Errorf("%d calls ended wrongly, %d pages got a stop, want 0 and %d", bad.Load(), p.stopCount(), n/4)
		}
		if live := len(d.Calls()); live != 200 {
			t.Errorf("%d calls listed, want the last 200", live)
		}
	})
}

func TestBridgeRejectsARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &dispatchtest.Bridge{StartFunc: func(context.Context, dispatch.Run, dispatch.Sink) *wire.CallError {
			return &wire.CallError{Code: wire.ErrBrowserLost, Message: "the browser is gone"}
		}}
		d := dispatch.New(b, dispatch.Options{})
		_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		if e := asError(t, err); e.Code != wire.ErrBrowserLost || !e.Retryable {
			t.Errorf("error %+v, want browser_lost, retryable", e)
		}
		if c := d.Calls(); len(c) != 1 || c[0].Status != wire.StatusFailed {
			t.Errorf("calls %+v, want one that failed", c)
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
			if e := asError(t, <-errs); e.Code != wire.ErrShutdown {
				t.Errorf("code %s, want shutdown", e.Code)
			}
		}
		_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		if e := asError(t, err); e.Code != wire.ErrShutdown || p.stopCount() != 1 {
			t.Errorf("a call after Shutdown: %v; %d pages got a stop, want 1", err, p.stopCount())
		}
	})
}
