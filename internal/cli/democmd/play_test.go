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
		d.site.announceRequest() // a request before the stop is due
		time.Sleep(stopAfter)
		synctest.Wait()
		if isStopped.Load() {
			t.Fatal("the demo stopped the call while the page had sent no request")
		}
		d.site.announceRequest()
		synctest.Wait()
		if !isStopped.Load() {
			t.Error("the demo did not stop the call when the page sent its next request")
		}
	})
}
