package dispatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/wire"
)

type orderRecordingHook struct {
	recordedHooks  *[]string
	hookWaitSignal chan struct{}
}

func (h orderRecordingHook) AfterCall(i dispatch.CallInfo, e dispatch.EndedCall) {
	if h.hookWaitSignal != nil {
		<-h.hookWaitSignal
	}
	*h.recordedHooks = append(*h.recordedHooks, i.CallID+string(e.View.Status)+fmt.Sprint(len(e.Output)))
}

func newEchoDispatcher(o dispatch.Options) *dispatch.Dispatcher {
	return dispatch.New(&dispatchtest.Bridge{StartFunc: func(_ context.Context, toolRun dispatch.Run, s dispatch.Sink) *wire.CallError {
		s.Finish(toolRun.Args, nil)
		return nil
	}}, o)
}

func TestCallsDoNotWaitForHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var recordedHooks, want []string
		var log bytes.Buffer
		release := make(chan struct{})
		d := newEchoDispatcher(dispatch.Options{AfterHooks: []dispatch.AfterHook{orderRecordingHook{&recordedHooks, release}}, Log: zerolog.New(&log)})
		startedAt := time.Now()
		call := func() {
			t.Helper()
			r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Args: json.RawMessage(`{"a":1}`)})
			if err != nil || string(r.Output) != `{"a":1}` {
				t.Fatalf("the call returned %q, error %v; want {\"a\":1} and no error", r.Output, err)
			}
			want = append(want, r.CallID+"done7")
		}
		call()
		call()
		time.Sleep(30 * time.Millisecond)
		call()
		synctest.Wait()
		if time.Since(startedAt) != 30*time.Millisecond || len(recordedHooks) != 0 || log.Len() != 0 {
			t.Errorf("after %v the hooks had received %q and the log was %q; want after 30ms no call and an empty log", time.Since(startedAt), recordedHooks, log.String())
		}
		close(release)
		time.Sleep(30 * time.Millisecond)
		synctest.Wait()
		if !slices.Equal(recordedHooks, want) || strings.Count(log.String(), "call ended") != 3 {
			t.Errorf("calls that the hooks received = %q, want %q; log = %s, want three ended calls", recordedHooks, want, log.String())
		}
	})
}

func TestWaitForHooksWaitsForAllHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var recordedHooks []string
		d := newEchoDispatcher(dispatch.Options{AfterHooks: []dispatch.AfterHook{orderRecordingHook{recordedHooks: &recordedHooks}}})
		for range 10 {
			if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool}); err != nil {
				t.Fatal(err)
			}
		}
		startedAt := time.Now()
		d.Shutdown()
		if err := d.WaitForHooks(t.Context()); err != nil || len(recordedHooks) != 10 || time.Since(startedAt) != 0 {
			t.Errorf("WaitForHooks returned the error %v after %v, and %d of 10 hooks ran; want no error, no delay and 10 hooks", err, time.Since(startedAt), len(recordedHooks))
		}
	})
}

func TestWaitingHooksAreBounded(t *testing.T) {
	tests := []struct {
		name        string
		resultBytes int
		want        int
	}{
		{"calls", 2, 1000},
		{"bytes", 5 << 20, 2},
		{"one large result", 20 << 20, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var recordedHooks []string
				d := newEchoDispatcher(dispatch.Options{AfterHooks: []dispatch.AfterHook{orderRecordingHook{recordedHooks: &recordedHooks}}})
				args := json.RawMessage(`"` + strings.Repeat("x", tt.resultBytes-2) + `"`)
				for n := range tt.want {
					if len(recordedHooks) != 0 {
						t.Fatalf("%d hooks ran after %d calls, want none yet", len(recordedHooks), n)
					}
					if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Args: args}); err != nil {
						t.Fatal(err)
					}
				}
				if len(recordedHooks) != tt.want {
					t.Errorf("%d hooks ran after the last call, want %d", len(recordedHooks), tt.want)
				}
			})
		})
	}
}

func TestSubscribersReceiveEndEventsAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatch.New((&fakePage{}).bridge(), dispatch.Options{})
		f := d.Subscribe(dispatch.SubscribeOptions{})
		defer f.Close()
		go func() { _, _ = d.Call(t.Context(), dispatch.Call{Tool: exportTool}) }()
		time.Sleep(time.Second)
		if _, _, err := f.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		startedAt := time.Now()
		d.Shutdown()
		events, _, err := f.Next(t.Context())
		if err != nil || len(events) == 0 || events[0].Kind != dispatch.EventEnded || time.Since(startedAt) != 0 {
			t.Errorf("after %v the subscriber had %d events, error %v; want at once an ended event and no error", time.Since(startedAt), len(events), err)
		}
	})
}

// An answer that arrives while its call ends for another reason is reported as a late answer.
func TestAnswerAfterEndIsLate(t *testing.T) {
	for _, answer := range []dispatch.LateAnswer{
		{Output: json.RawMessage(`{"n":1}`)},
		{Output: json.RawMessage(`"` + strings.Repeat("x", 100<<10) + `"`)},
		{Err: &wire.CallError{Code: wire.ErrToolError, Message: "sold out"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			pageSinks := make(chan dispatch.Sink, 1)
			var callIDs []string
			var lateAnswers []dispatch.LateAnswer
			p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) { pageSinks <- s }}
			d := dispatch.New(p.bridge(), dispatch.Options{ReceiveLateAnswer: func(callID string, lateAnswer dispatch.LateAnswer) {
				callIDs, lateAnswers = append(callIDs, callID), append(lateAnswers, lateAnswer)
			}})
			tool := exportTool
			tool.Output = slowOutputChecker{}
			if _, err := d.Call(t.Context(), dispatch.Call{Tool: tool}); err == nil {
				t.Fatal("the silent call returned no error, want idle_timeout")
			}
			(<-pageSinks).Finish(answer.Output, answer.Err)
			time.Sleep(time.Hour)
			synctest.Wait()
			if want := []dispatch.LateAnswer{answer}; !reflect.DeepEqual(lateAnswers, want) || callIDs[0] != d.Calls()[0].CallID {
				t.Errorf("late answers = %.200v for the calls %q, want the page's answer for the call", lateAnswers, callIDs)
			}
		})
	}
}

type slowOutputChecker struct{}

func (slowOutputChecker) CheckOutput(json.RawMessage) *wire.CallError {
	time.Sleep(time.Minute)
	return nil
}

// An idle limit that passes while the dispatcher checks a large output does not discard the output.
func TestOutputCheckReachesNoIdleLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newEchoDispatcher(dispatch.Options{})
		tool := exportTool
		tool.Output = slowOutputChecker{}
		args := json.RawMessage(`"` + strings.Repeat("x", 100<<10) + `"`)
		if result, err := d.Call(t.Context(), dispatch.Call{Tool: tool, Args: args}); err != nil || len(result.Output) != len(args) {
			t.Errorf("the call returned %d bytes and the error %v, want %d bytes and no error", len(result.Output), err, len(args))
		}
	})
}

type outputRejecter struct{}

func (outputRejecter) CheckOutput(json.RawMessage) *wire.CallError {
	return &wire.CallError{Code: wire.ErrInvalidResult, Message: "it returned rubbish", PageText: "It returned: {}"}
}

func TestInvalidOutputFailsTheCall(t *testing.T) {
	for _, output := range []string{`{}`, `"` + strings.Repeat("x", 100<<10) + `"`} {
		d, _, _ := newToolDispatcher(t, dispatch.Options{}, map[string]func(dispatch.Run, dispatch.Sink){
			"list": func(_ dispatch.Run, s dispatch.Sink) { s.Finish(json.RawMessage(output), nil) },
		})
		_, err := d.Call(t.Context(), dispatch.Call{Tool: dispatch.Tool{Plugin: "m", Name: "list", Output: outputRejecter{}}})
		e := toDispatchError(t, err)
		if e.Code != wire.ErrInvalidResult || !strings.Contains(e.Message, "m__list failed: it returned rubbish (invalid_result).") || !strings.HasSuffix(e.Message, "\nIt returned: {}") {
			t.Errorf("output %.10s: error of the call = %v, want invalid_result with the page's text at the end", output, err)
		}
		if v := d.Calls()[0]; v.Status != wire.StatusFailed || v.ErrorCode != wire.ErrInvalidResult || strings.Contains(v.Error, "It returned: {}") {
			t.Errorf("output %.10s: the list shows the status %s with the code %s and the error %q; want failed with invalid_result, without the page's text", output, v.Status, v.ErrorCode, v.Error)
		}
	}
}
