package dispatch

import (
	"context"
	"encoding/json"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"opentabs/internal/alloctest"
	"opentabs/wire"
)

// The benchmark alternates blocks of calls with subscribers and blocks without subscribers, so that other load on the
// machine slows down both kinds equally. The metric "ratio" is the duration of a block of calls with subscribers divided
// by the duration of a block without subscribers, as a median. The metric "path-ratio" is measured with subscribers that
// never read, so it covers only the cost to the call
// itself.
func BenchmarkSubscriberOverhead(b *testing.B) {
	const callsPerBlock, subscriberCount = 20_000, 10
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	req := Call{Tool: Tool{Plugin: "p", Name: "t"}, Args: json.RawMessage(`{}`)}
	var dispatchers [3]*Dispatcher
	for i := range dispatchers {
		dispatchers[i] = New(newAllocFreeBridge(), Options{})
	}
	var times, timeRatios [3][]float64
	measureBlock := func(i int) {
		startedAt := time.Now()
		for range callsPerBlock {
			if _, err := dispatchers[i].Call(context.Background(), req); err != nil {
				b.Fatal(err)
			}
		}
		times[i] = append(times[i], float64(time.Since(startedAt).Nanoseconds())/callsPerBlock)
		timeRatios[i] = append(timeRatios[i], times[i][len(times[i])-1]/times[0][len(times[0])-1])
	}
	nonReadingSubscriber := dispatchers[2].Subscribe(SubscribeOptions{})
	defer nonReadingSubscriber.Close()
	for b.Loop() {
		measureBlock(0)
		closeSubscribers := subscribeMany(dispatchers[1], subscriberCount)
		measureBlock(1)
		closeSubscribers()
		measureBlock(2)
	}
	b.ReportMetric(median(times[0]), "ns/call")
	b.ReportMetric(median(timeRatios[1]), "ratio")
	b.ReportMetric(median(timeRatios[2]), "path-ratio")
}

type jsonEncodingHook struct{}

func (jsonEncodingHook) AfterCall(_ CallInfo, e EndedCall) {
	if _, err := json.Marshal(e.View); err != nil {
		panic(err)
	}
}

// The benchmark makes one call every 100 µs, because a real client needs time between two calls.
func BenchmarkAfterHook(b *testing.B) {
	d := New(newAllocFreeBridge(), Options{AfterHooks: []AfterHook{jsonEncodingHook{}}})
	req := Call{Tool: Tool{Plugin: "p", Name: "t"}, Args: json.RawMessage(`{}`)}
	var times []float64
	for b.Loop() {
		startedAt := time.Now()
		if _, err := d.Call(context.Background(), req); err != nil {
			b.Fatal(err)
		}
		times = append(times, float64(time.Since(startedAt).Nanoseconds()))
		for time.Since(startedAt) < 100*time.Microsecond {
			runtime.Gosched()
		}
	}
	b.ReportMetric(median(times), "return-ns")
}

func subscribeMany(d *Dispatcher, callCount int) (closeSubscribers func()) {
	var readers sync.WaitGroup
	var subscribers []*Subscriber
	for range callCount {
		f := d.Subscribe(SubscribeOptions{})
		subscribers = append(subscribers, f)
		readers.Go(func() {
			for {
				if _, _, err := f.Next(context.Background()); err != nil {
					return
				}
			}
		})
	}
	return func() {
		for _, f := range subscribers {
			f.Close()
		}
		readers.Wait()
	}
}

func median(measuredValues []float64) float64 {
	slices.Sort(measuredValues)
	return measuredValues[len(measuredValues)/2]
}

func TestCallAllocationsWithSubscribers(t *testing.T) {
	d := New(newAllocFreeBridge(), Options{})
	for range 10 {
		defer d.Subscribe(SubscribeOptions{}).Close()
	}
	req := Call{Tool: Tool{Plugin: "p", Name: "t"}, Args: json.RawMessage(`{}`)}
	call := func() {
		if _, err := d.Call(context.Background(), req); err != nil {
			t.Fatal(err)
		}
	}
	for range 2000 {
		call()
	}
	alloctest.Check(t, "one call with ten subscribers", 12, 1, call)

	c := newLiveCall(d, Call{Tool: Tool{Plugin: "p", Name: "t"}, Progress: func(Progress) {}})
	c.beginRunning()
	defer c.clock.Stop()
	progress, totalProgress := 0.0, 1e18
	reports := []wire.Report{{Progress: &progress, Total: &totalProgress, Message: "page"}}
	alloctest.Check(t, "one report with ten subscribers", 1, 0, func() {
		progress++
		sink{c}.Reports(reports, 0)
	})
}
