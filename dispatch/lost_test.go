package dispatch_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
)

func TestActivitiesAreRequestedAfterLostReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var requestedAt []time.Duration
		var startTime time.Time
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			startTime = time.Now()
			s.Reports(newNumberReports(1, 2), 0)
			for range 500 {
				s.Reports(newNumberReports(1, 2), 1)
				sleepVirtual(100 * time.Millisecond)
			}
			s.Finish(nil, nil)
		}}
		bridge := p.bridge()
		bridge.ResyncFunc = func(_, activityType string) {
			mu.Lock()
			defer mu.Unlock()
			if requestedAt = append(requestedAt, time.Since(startTime)); activityType != "" {
				t.Errorf("the dispatcher requested the activities %q, want an empty text for all activities", activityType)
			}
		}
		r, err := dispatch.New(bridge, dispatch.Options{}).Call(t.Context(), dispatch.Call{Tool: exportTool})
		if err != nil || r.ReportCount != 1001 {
			t.Errorf("the call counted %d reports and returned the error %v; want 1001 reports, with the lost ones, and no error", r.ReportCount, err)
		}
		p.wg.Wait()
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		want := []time.Duration{}
		for s := range 30 {
			want = append(want, time.Duration(s)*time.Second)
		}
		if !slices.Equal(requestedAt, want) {
			t.Errorf("the dispatcher requested activities at %v, want %v", requestedAt, want)
		}
	})
}
