package dispatch_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// A requestingTool stops after 100 requests, so that the test ends even if opentabs never ends the call.
type requestingTool struct {
	stop chan struct{} // the test closes the channel stop when the call has ended
}

func (w *requestingTool) ask(s dispatch.Sink, requestInterval time.Duration, nextRequest func(n int) wire.ToolAskParams) {
	for n := 1; n <= 100; n++ {
		select {
		case <-time.After(requestInterval):
		case <-w.stop:
			return
		}
		s.Reports([]wire.Report{{}}, 0)
		s.Ask(nextRequest(n))
	}
}

func askUser(n int) wire.ToolAskParams {
	return wire.ToolAskParams{Ask: n, User: &wire.AskUser{Reason: "Log in."}}
}

// TestSuspensionTimeIsLimited checks that no call lasts longer than its hard limit and its
// approval limit together, however often the call waits for the user.
func TestSuspensionTimeIsLimited(t *testing.T) {
	const hardLimit, suspendLimit = 5 * time.Minute, 5 * time.Minute
	newChildRequest := func(n int) wire.ToolAskParams {
		return newToolAsk(n, "child", `{"n":`+strings.Repeat("1", n%16+1)+`}`)
	}
	tests := []struct {
		name          string
		gates         []dispatch.Gate
		approvalDelay time.Duration
		parent        func(w *requestingTool, s dispatch.Sink)
		total         time.Duration
		code          wire.ErrorCode
	}{
		{"requests that the user does not answer", nil, 0, func(w *requestingTool, s dispatch.Sink) { w.ask(s, 20*time.Second, askUser) }, hardLimit + suspendLimit, wire.ErrDeadlineExceeded},
		{"requests that the user answers", nil, 40 * time.Second, func(w *requestingTool, s dispatch.Sink) { w.ask(s, 20*time.Second, askUser) }, hardLimit + suspendLimit, wire.ErrDeadlineExceeded},
		{
			"an approval, then requests of the tool", []dispatch.Gate{suspendBeforeApproval("parent")}, 4 * time.Minute,
			func(w *requestingTool, s dispatch.Sink) { w.ask(s, 20*time.Second, askUser) }, hardLimit + suspendLimit, wire.ErrDeadlineExceeded,
		},
		{"an approval alone", []dispatch.Gate{suspendBeforeApproval("parent")}, 0, nil, suspendLimit, wire.ErrApprovalTimeout},
		{
			"approvals of nested calls", []dispatch.Gate{suspendBeforeApproval("child")}, 0,
			func(w *requestingTool, s dispatch.Sink) { w.ask(s, 20*time.Second, newChildRequest) }, hardLimit + suspendLimit, wire.ErrDeadlineExceeded,
		},
		{
			"approvals and requests of nested calls", []dispatch.Gate{suspendBeforeApproval("parent", "child")}, 100 * time.Second,
			func(w *requestingTool, s dispatch.Sink) { w.ask(s, 20*time.Second, newChildRequest) }, hardLimit + suspendLimit, wire.ErrDeadlineExceeded,
		},
		{
			"a link that is lost again and again", nil, 100 * time.Second,
			func(w *requestingTool, s dispatch.Sink) {
				w.ask(s, 20*time.Second, func(n int) wire.ToolAskParams {
					s.LinkLost()
					if n%2 == 0 {
						s.LinkRestored()
					}
					return askUser(n)
				})
			}, hardLimit + suspendLimit, wire.ErrDeadlineExceeded,
		},
		{
			"no progress after the waits", nil, 0,
			func(_ *requestingTool, s dispatch.Sink) { s.Ask(askUser(1)) }, suspendLimit + 30*time.Second, wire.ErrIdleTimeout,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &requestingTool{stop: make(chan struct{})}
				d, p, _ := newToolDispatcher(t, dispatch.Options{Gates: tt.gates}, map[string]func(dispatch.Run, dispatch.Sink){
					"parent": func(_ dispatch.Run, s dispatch.Sink) { tt.parent(w, s) },
					"child": func(_ dispatch.Run, s dispatch.Sink) {
						s.Ask(askUser(1))
						<-w.stop
					},
				})
				startTime := time.Now()
				_, err := d.Call(t.Context(), dispatch.Call{
					Tool: dispatch.Tool{Plugin: "m", Name: "parent"},
					OnTicket: func(ctx context.Context, waitingTicket dispatch.WaitingTicket) {
						if tt.approvalDelay == 0 {
							return
						}
						select {
						case <-time.After(tt.approvalDelay):
							if _, err := d.Decide(waitingTicket.CallID, waitingTicket.TicketID, dispatch.Resolution{Allow: true}); err != nil {
								t.Error(err)
							}
						case <-ctx.Done():
						}
					},
				})
				elapsedTime := time.Since(startTime)
				close(w.stop)
				p.wg.Wait()
				e := toDispatchError(t, err)
				if e == nil || e.Code != tt.code || elapsedTime > tt.total || elapsedTime < tt.total-hardLimit {
					t.Errorf("the call ended after %v with the error %v, want %s after at most %v", elapsedTime, err, tt.code, tt.total)
				}
				if (tt.name == "requests that the user does not answer" || tt.name == "an approval alone" || tt.name == "no progress after the waits") && elapsedTime != tt.total {
					t.Errorf("the call ended after %v, want exactly %v", elapsedTime, tt.total)
				}
			})
		})
	}
}

func TestSuspensionsOfChildrenCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := dispatch.Options{Gates: []dispatch.Gate{suspendBeforeApproval("child")}}
		var mu sync.Mutex
		var limits []time.Duration
		d, p, got := newToolDispatcher(t, o, map[string]func(dispatch.Run, dispatch.Sink){
			"parent": func(_ dispatch.Run, s dispatch.Sink) {
				for n := range 3 {
					s.Ask(newToolAsk(n, "child", `{"n":`+string(rune('1'+n))+`}`))
				}
				sleepVirtual(2*time.Minute + time.Second)
				s.Ask(askUser(3))
				sleepVirtual(3*time.Minute + time.Second)
				s.Ask(askUser(4))
				sleepVirtual(time.Second)
				s.Finish(nil, nil)
			},
			"child": func(_ dispatch.Run, s dispatch.Sink) { s.Finish(json.RawMessage(`1`), nil) },
		})
		_, err := d.Call(t.Context(), dispatch.Call{
			Tool: dispatch.Tool{Plugin: "m", Name: "parent"},
			OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
				mu.Lock()
				limits = append(limits, w.ExpiresAt.Sub(w.StartedAt))
				mu.Unlock()
				if w.Kind == wire.TicketPermission {
					sleepVirtual(2 * time.Minute)
					_, _ = d.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true})
				}
			},
		})
		p.wg.Wait()
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(limits) != 4 || limits[0] != 5*time.Minute || limits[2] != 5*time.Minute || limits[3] != 3*time.Minute {
			t.Errorf("the tickets were open for %v, want 5m three times and 3m once", limits)
		}
		for n, want := range map[string]string{"0": "1", "2": "1", "3": "approval_timeout: ", "4": "approval_timeout: it has waited for the user"} {
			if a := got.got[n]; !strings.HasPrefix(a, want) {
				t.Errorf("answer to request %s = %q, want the prefix %q", n, a, want)
			}
		}
	})
}
