package dispatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

type orderHook struct {
	seen *[]string
	wait chan struct{}
}

func (h orderHook) After(i dispatch.CallInfo, e dispatch.EndedCall) {
	if h.wait != nil {
		<-h.wait
	}
	*h.seen = append(*h.seen, i.CallID+string(e.View.Status)+fmt.Sprint(len(e.Output)))
}

func newEchoDispatcher(o dispatch.Options) *dispatch.Dispatcher {
	return dispatch.New(&dispatchtest.Bridge{StartFunc: func(_ context.Context, toolRun dispatch.Run, s dispatch.Sink) *wire.CallError {
		s.Finish(toolRun.Args, nil)
		return nil
	}}, o)
}

func TestCallsDoNotWaitForHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen, want []string
		var log bytes.Buffer
		release := make(chan struct{})
		d := newEchoDispatcher(dispatch.Options{AfterHooks: []dispatch.AfterHook{orderHook{&seen, release}}, Log: zerolog.New(&log)})
		beganAt := time.Now()
		call := func() {
			t.Helper()
			r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Args: json.RawMessage(`{"a":1}`)})
			if err != nil || string(r.Output) != `{"a":1}` {
				t.Fatalf("%q, %v", r.Output, err)
			}
			want = append(want, r.CallID+"done7")
		}
		call()
		call()
		time.Sleep(10 * time.Millisecond)
		call()
		synctest.Wait()
		if time.Since(beganAt) != 10*time.Millisecond || len(seen) != 0 || log.Len() != 0 {
			t.Errorf("after %v the hooks saw %q and the log is %q", time.Since(beganAt), seen, log.String())
		}
		close(release)
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if !slices.Equal(seen, want) || strings.Count(log.String(), "call ended") != 3 {
			t.Errorf("the hooks saw %q, want %q; the log is %s", seen, want, log.String())
		}
	})
}

func TestDrainRunsTheHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		d := newEchoDispatcher(dispatch.Options{AfterHooks: []dispatch.AfterHook{orderHook{seen: &seen}}})
		for range 10 {
			if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool}); err != nil {
				t.Fatal(err)
			}
		}
		beganAt := time.Now()
		d.Shutdown()
		if err := d.Drain(t.Context()); err != nil || len(seen) != 10 || time.Since(beganAt) != 0 {
			t.Errorf("Drain returned %v after %v, and %d of 10 hooks ran", err, time.Since(beganAt), len(seen))
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
				var seen []string
				d := newEchoDispatcher(dispatch.Options{AfterHooks: []dispatch.AfterHook{orderHook{seen: &seen}}})
				args := json.RawMessage(`"` + strings.Repeat("x", tt.resultBytes-2) + `"`)
				for n := range tt.want {
					if len(seen) != 0 {
						t.Fatalf("%d hooks ran after %d calls", len(seen), n)
					}
					if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Args: args}); err != nil {
						t.Fatal(err)
					}
				}
				if len(seen) != tt.want {
					t.Errorf("%d hooks ran, want %d", len(seen), tt.want)
				}
			})
		})
	}
}

func TestFollowersReadTheEndsAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatch.New((&fakePage{}).bridge(), dispatch.Options{})
		f := d.Follow(dispatch.FollowOptions{})
		defer f.Close()
		go func() { _, _ = d.Call(t.Context(), dispatch.Call{Tool: exportTool}) }()
		time.Sleep(time.Second)
		if _, _, err := f.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		beganAt := time.Now()
		d.Shutdown()
		events, _, err := f.Next(t.Context())
		if err != nil || len(events) == 0 || events[0].Kind != dispatch.EventEnded || time.Since(beganAt) != 0 {
			t.Errorf("after %v the follower got %d events, %v", time.Since(beganAt), len(events), err)
		}
	})
}

type rejectOutput struct{}

func (rejectOutput) CheckOutput(json.RawMessage) *wire.CallError {
	return &wire.CallError{Code: wire.ErrInvalidResult, Message: "it returned rubbish", PageText: "It returned: {}"}
}

func TestInvalidOutputFailsTheCall(t *testing.T) {
	for _, output := range []string{`{}`, `"` + strings.Repeat("x", 100<<10) + `"`} {
		d, _, _ := newToolDispatcher(t, dispatch.Options{}, map[string]func(dispatch.Run, dispatch.Sink){
			"list": func(_ dispatch.Run, s dispatch.Sink) { s.Finish(json.RawMessage(output), nil) },
		})
		_, err := d.Call(t.Context(), dispatch.Call{Tool: dispatch.Tool{Plugin: "m", Name: "list", Output: rejectOutput{}}})
		e := asError(t, err)
		if e.Code != wire.ErrInvalidResult || !strings.Contains(e.Message, "m__list failed: it returned rubbish (invalid_result).") || !strings.HasSuffix(e.Message, "\nIt returned: {}") {
			t.Errorf("%.10s: the error is %v", output, err)
		}
		if v := d.Calls()[0]; v.Status != wire.StatusFailed || v.ErrorCode != wire.ErrInvalidResult || strings.Contains(v.Error, "It returned: {}") {
			t.Errorf("%.10s: the list shows %s (%s): %q", output, v.Status, v.ErrorCode, v.Error)
		}
	}
}
