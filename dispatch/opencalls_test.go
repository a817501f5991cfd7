package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/internal/alloctest"
)

type openCallRecorder struct {
	mu        sync.Mutex
	openCalls []string
}

func (r *openCallRecorder) Open(i CallInfo, e EndedCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.openCalls = append(r.openCalls, fmt.Sprintf("%s %s %s", i.CallID, e.View.Status, e.Args))
}

func TestOpenCallHookReceivesOnlyLongCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := &openCallRecorder{}
		d := New(newAllocFreeBridge(), Options{OpenCallHook: hook, Gates: []Gate{suspendingGate{}}})
		if _, err := d.Call(t.Context(), Call{Tool: Tool{Plugin: "p", Name: "short"}, Args: json.RawMessage(`{}`)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		var want []string
		var calls []*PreparedCall
		for i := range 3 {
			c := d.Prepare(Call{Tool: Tool{Plugin: "p", Name: "slow"}, Args: fmt.Appendf(nil, `{"n":%d}`, i)})
			go func() { _, _ = c.Run(context.Background()) }()
			calls = append(calls, c)
			want = append(want, fmt.Sprintf(`%s waiting for approval {"n":%d}`, c.ID(), i))
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		hook.mu.Lock()
		defer hook.mu.Unlock()
		if !slices.Equal(hook.openCalls, want) {
			t.Errorf("calls that the hook received:\n got %q\nwant %q", hook.openCalls, want)
		}
		for _, c := range calls {
			c.Cancel(Cancellation{CancelledBy: "the test"})
		}
		synctest.Wait()
	})
}

type suspendingGate struct{}

func (suspendingGate) Name() string { return "suspending" }

func (suspendingGate) Decide(i CallInfo) Verdict {
	if i.Tool.Name != "slow" {
		return Verdict{}
	}
	return Verdict{Suspend: &Ticket{Reason: "may it run?"}}
}

func TestOpenCallHookAllocations(t *testing.T) {
	d := New(newAllocFreeBridge(), Options{OpenCallHook: &openCallRecorder{}})
	req := Call{Tool: Tool{Plugin: "p", Name: "t"}, Args: json.RawMessage(`{}`)}
	alloctest.Check(t, "one call", 11, 1, func() {
		if _, err := d.Call(context.Background(), req); err != nil {
			t.Fatal(err)
		}
	})
}
