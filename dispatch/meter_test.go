package dispatch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"opentabs/wire"
)

func f(v float64) *float64 { return &v }

// feed gives a meter without a rate limit some reports and returns what a
// client would see.
func feed(reports ...wire.Report) []Progress {
	m := meter{interval: -1}
	for i := range reports {
		n, _ := numbersOf(&reports[i])
		m.accept(n, reports[i].Message, reports[i].Audience)
	}
	return m.pending
}

func TestMeterKeepsProgressStrictlyIncreasing(t *testing.T) {
	up := func(v float64) float64 { return math.Nextafter(v, math.Inf(1)) }
	p := func(progress float64, message string) Progress { return Progress{Progress: progress, Message: message} }
	of := func(progress, total float64, message string) Progress {
		return Progress{Progress: progress, Total: total, HasTotal: true, Message: message}
	}
	tests := []struct {
		name string
		in   []wire.Report
		want []Progress
	}{
		{"counts", []wire.Report{{Progress: f(1), Total: f(3)}, {Progress: f(2), Total: f(3)}, {Progress: f(3), Total: f(3)}}, []Progress{of(1, 3, ""), of(2, 3, ""), of(3, 3, "")}},
		{"repeated", []wire.Report{{Progress: f(1)}, {Progress: f(1)}}, []Progress{p(1, "")}},
		{"backwards", []wire.Report{{Progress: f(5)}, {Progress: f(3)}, {Progress: f(6)}}, []Progress{p(5, ""), p(6, "")}},
		{"backwards with a new message", []wire.Report{{Progress: f(5), Message: "a"}, {Progress: f(3), Message: "b"}}, []Progress{p(5, "a"), p(up(5), "b")}},
		{"repeated with the same message", []wire.Report{{Progress: f(5), Message: "a"}, {Progress: f(5), Message: "a"}}, []Progress{p(5, "a")}},
		{"message alone after numbers", []wire.Report{{Progress: f(5), Total: f(9)}, {Message: "a"}, {}, {Message: "a"}}, []Progress{of(5, 9, ""), of(up(5), 9, "a")}},
		{"message at the end", []wire.Report{{Progress: f(9), Total: f(9)}, {Message: "tidying up"}}, []Progress{of(9, 9, ""), of(up(9), 9, "tidying up")}},
		{"no numbers ever", []wire.Report{{}, {Message: "a"}, {Message: "a"}}, []Progress{p(1, ""), p(2, "a"), p(3, "a")}},
		{"numbers after none", []wire.Report{{}, {}, {Progress: f(1), Total: f(10), Message: "x"}, {Progress: f(3), Total: f(10)}}, []Progress{p(1, ""), p(2, ""), of(up(2), 10, "x"), of(3, 10, "")}},
		{"not finite", []wire.Report{{Progress: f(1)}, {Progress: f(math.NaN()), Message: "a"}, {Progress: f(math.Inf(1))}}, []Progress{p(1, ""), p(up(1), "a")}},
		{"marked invalid", []wire.Report{{Invalid: true, Message: "a"}, {Invalid: true, Total: f(5)}}, []Progress{p(1, "a"), p(2, "")}},
		{"negative", []wire.Report{{Progress: f(-1)}, {Progress: f(0)}, {Progress: f(1), Total: f(-1)}}, []Progress{p(1, "")}},
		{"beyond total", []wire.Report{{Progress: f(150), Total: f(100), Message: "a"}, {Progress: f(2), Total: f(100)}}, []Progress{p(1, "a"), of(2, 100, "")}},
		{"beyond total by rounding", []wire.Report{{Progress: f(100.00000001), Total: f(100)}}, []Progress{of(100, 100, "")}},
		{"percent", []wire.Report{{Percent: f(40), Message: "a"}, {Percent: f(101)}}, []Progress{of(40, 100, "a")}},
		{"loaded alone", []wire.Report{{Loaded: f(4096)}, {Loaded: f(8192)}}, []Progress{p(4096, ""), p(8192, "")}},
		{"loaded beside progress", []wire.Report{{Progress: f(1), Total: f(2), Loaded: f(512)}}, []Progress{of(1, 2, "")}},
		{"zero of zero", []wire.Report{{Progress: f(0), Total: f(0)}}, []Progress{of(0, 0, "")}},
		{"greatest number", []wire.Report{{Progress: f(math.MaxFloat64)}, {Message: "a"}}, []Progress{p(math.MaxFloat64, "")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := feed(tt.in...)
			if len(got) != len(tt.want) {
				t.Fatalf("got %+v, want %+v", got, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("notification %d is %+v, want %+v", i, got[i], tt.want[i])
				}
			}
		})
	}
}

// TestMeterProperty feeds random reports at random times: progress increases
// strictly and is finite, the rate holds but for one final report, and a total
// is never smaller than its progress by more than rounding.
func TestMeterProperty(t *testing.T) {
	values := []float64{0, 1, 1, 2, 3, 10, 99.999, 100, 1e300, -1, math.NaN(), math.Inf(1), 1e-320}
	messages := []string{"", "", "a", "b", "c"}
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		m := meter{interval: 100 * time.Millisecond}
		now := time.Unix(0, 0)
		last, early := -1.0, 0
		var sent time.Time
		for range 60 {
			r := wire.Report{Message: messages[rnd.IntN(len(messages))]}
			if rnd.IntN(4) > 0 {
				r.Progress = f(values[rnd.IntN(len(values))])
			}
			if rnd.IntN(2) > 0 {
				r.Total = f(values[rnd.IntN(len(values))])
			}
			n, _ := numbersOf(&r)
			m.accept(n, r.Message, "")
			now = now.Add(time.Duration(rnd.IntN(80)) * time.Millisecond)
			p, ok, _ := m.take(now)
			if !ok {
				continue
			}
			if p.Progress <= last || math.IsInf(p.Progress, 0) || math.IsNaN(p.Progress) {
				t.Fatalf("seed %d: progress %v after %v", seed, p.Progress, last)
			}
			if p.HasTotal && p.Progress-p.Total > p.Total*epsilon {
				t.Fatalf("seed %d: progress %v of %v", seed, p.Progress, p.Total)
			}
			if !sent.IsZero() && now.Sub(sent) < 100*time.Millisecond {
				early++
			}
			last, sent = p.Progress, now
		}
		if early > 1 {
			t.Fatalf("seed %d: %d notifications came too early, want at most the final one", seed, early)
		}
	}
}
