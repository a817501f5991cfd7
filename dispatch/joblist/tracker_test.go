package joblist_test

import (
	"context"
	"sync/atomic"
	"testing"

	"opentabs/dispatch"
	"opentabs/dispatch/joblist"
	"opentabs/wire"
)

type trackerHook struct {
	tracker                  joblist.Tracker[int]
	foundCount, missingCount atomic.Int64
}

func (h *trackerHook) BeforeCall(callInfo dispatch.CallInfo) *wire.CallError {
	if _, ok := h.tracker.Find(callInfo.CallID); ok {
		h.foundCount.Add(1)
	} else {
		h.missingCount.Add(1)
	}
	return nil
}

func TestTrackerFindsEveryJob(t *testing.T) {
	hook := &trackerHook{}
	p := &fakePage{handler: func(_ dispatch.Run, sink dispatch.Sink) { sink.Finish(nil, nil) }}
	d := dispatch.New(p.bridge(), dispatch.Options{BeforeHooks: []dispatch.BeforeHook{hook}})
	jobs := joblist.New(d, joblist.Options{})
	const calls = 500
	for i := range calls {
		job := hook.tracker.Start(jobs, dispatch.Call{Tool: exportTool}, i)
		if got, ok := hook.tracker.Find(job.ID()); !ok || got != i {
			t.Fatalf("Find returned %d, found %v; want %d", got, ok, i)
		}
		if err := job.Wait(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		hook.tracker.Forget(job.ID())
		hook.tracker.Forget(job.ID())
		if _, ok := hook.tracker.Find(job.ID()); ok {
			t.Fatal("Find found a call after Forget, want none")
		}
	}
	p.wg.Wait()
	if hook.foundCount.Load() != calls || hook.missingCount.Load() != 0 {
		t.Errorf("the hook found %d calls and missed %d; want %d and 0", hook.foundCount.Load(), hook.missingCount.Load(), calls)
	}
}
