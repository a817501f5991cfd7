package dispatch

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"opentabs/wire"
)

// instant is a bridge that answers every call at once.
type instant struct{}

func (instant) Targets(context.Context, Want) Targets {
	return Targets{Browsers: 1, Live: []Target{{Browser: "b", TabID: 1, DocumentID: "d"}}}
}

func (instant) Start(_ context.Context, _ Run, s Sink) *wire.CallError {
	s.Finish(json.RawMessage(`{}`), nil)
	return nil
}

func (instant) Answer(string, int, json.RawMessage, *wire.CallError) {}

func (instant) Resync(string, string) {}

func (instant) Cancel(_, _ string, answered func(wire.CancelOutcome)) {
	answered(wire.CancelFinished)
}

const running = 10000

// BenchmarkProgressReset is what one report costs the idle timer while 10,000
// calls run.
func BenchmarkProgressReset(b *testing.B) {
	clocks := make([]clock, running)
	for i := range clocks {
		clocks[i].begin(DefaultIdle, DefaultHard, func(wire.ErrorCode) {})
		defer clocks[i].stop()
	}
	b.Run("serial", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			clocks[i%running].touch()
			i++
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		var start atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			i := int(start.Add(3571))
			for pb.Next() {
				clocks[i%running].touch()
				i++
			}
		})
	})
}

// BenchmarkReport is one report through all the rules, with a client that
// wants to know and no follower.
func BenchmarkReport(b *testing.B) {
	d := New(instant{}, Options{})
	c := newLiveCall(d, Call{Tool: Tool{Plugin: "p", Name: "t"}, Progress: func(Progress) {}})
	c.begin()
	defer c.clock.stop()
	progress, total := 0.0, 1e18
	reports := []wire.Report{{Progress: &progress, Total: &total, Message: "page"}}
	b.ReportAllocs()
	for b.Loop() {
		progress++
		c.Reports(reports, 0)
	}
}

// BenchmarkCall is a whole call, from its creation to its end.
func BenchmarkCall(b *testing.B) {
	d := New(instant{}, Options{})
	req := Call{Tool: Tool{Plugin: "p", Name: "t"}, Args: json.RawMessage(`{}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Call(context.Background(), req); err != nil {
			b.Fatal(err)
		}
	}
}

// TestClockOfAProcessThatStoodStill: a timer that fires long after its time
// gives what the page sent meanwhile a moment to be read; the hard limit holds.
func TestClockOfAProcessThatStoodStill(t *testing.T) {
	for _, tt := range []struct {
		name  string
		ago   time.Duration // since the call began
		alive bool
	}{
		{"the timer is on time", 30*time.Second + time.Millisecond, false},
		{"held for 10 s", 40 * time.Second, true},
		{"held for longer than the hard limit", 6 * time.Minute, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, first := range []string{"report", "timer"} {
				var code wire.ErrorCode
				var c clock
				c.begin(DefaultIdle, DefaultHard, func(e wire.ErrorCode) { code = e })
				defer c.stop()
				c.start = c.start.Add(-tt.ago)
				if first == "timer" {
					c.fire()
				}
				if got := c.touch(); got != tt.alive {
					t.Errorf("%s first: a report counts: %v, want %v", first, got, tt.alive)
				}
				c.fire()
				if (code == "") != tt.alive {
					t.Errorf("%s first: ended with %q, want alive: %v", first, code, tt.alive)
				}
			}
		})
	}
}
