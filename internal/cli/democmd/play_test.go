package democmd

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestDemoStopsCallDuringRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &demo{site: &site{}}
		var isStopped atomic.Bool
		go d.stopDuringRequest(t.Context(), func() { isStopped.Store(true) })
		d.site.wakeRequestWaiter() // a request before the stop is due
		time.Sleep(demoStopDelay)
		synctest.Wait()
		if isStopped.Load() {
			t.Fatal("the demo stopped the call before the page sent a request; want a running call")
		}
		d.site.wakeRequestWaiter()
		synctest.Wait()
		if !isStopped.Load() {
			t.Error("the demo did not stop the call when the page sent its next request; want a stopped call")
		}
	})
}
