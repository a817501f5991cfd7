package progress

import (
	"math"
	"testing"

	"opentabs/wire"
)

func TestNumbersOf(t *testing.T) {
	n := func(v float64) *float64 { return &v }
	for _, tt := range []struct {
		name   string
		report wire.Report
		want   Numbers
		ok     bool
	}{
		{"nothing", wire.Report{}, Numbers{}, true},
		{"progress of a total", wire.Report{Progress: n(1), Total: n(4)}, Numbers{Progress: 1, Total: 4, HasProgress: true, HasTotal: true}, true},
		{"a percentage", wire.Report{Percent: n(40)}, Numbers{Progress: 40, Total: 100, HasProgress: true, HasTotal: true}, true},
		{"progress takes precedence over a percentage", wire.Report{Progress: n(1), Percent: n(40)}, Numbers{Progress: 1, HasProgress: true}, true},
		{"loaded alone", wire.Report{Loaded: n(7)}, Numbers{Progress: 7, LoadedBytes: 7, HasProgress: true, HasLoadedBytes: true}, true},
		{"a total alone", wire.Report{Total: n(7)}, Numbers{Total: 7, HasTotal: true}, true},
		{"progress above total by a rounding error", wire.Report{Progress: n(3 * (1 + 1e-10)), Total: n(3)}, Numbers{Progress: 3, Total: 3, HasProgress: true, HasTotal: true}, true},
		{"progress above total by more than rounding", wire.Report{Progress: n(3 * (1 + 1e-8)), Total: n(3)}, Numbers{}, false},
		{"more than 100 percent", wire.Report{Percent: n(101)}, Numbers{}, false},
		{"progress is not a number", wire.Report{Progress: n(math.NaN())}, Numbers{}, false},
		{"progress is infinite", wire.Report{Progress: n(math.Inf(1))}, Numbers{}, false},
		{"below 0", wire.Report{Progress: n(-1)}, Numbers{}, false},
		{"a total that is not a number", wire.Report{Progress: n(1), Total: n(math.NaN())}, Numbers{}, false},
		{"an infinite total", wire.Report{Progress: n(1), Total: n(math.Inf(1))}, Numbers{}, false},
		{"a total below 0", wire.Report{Total: n(-1)}, Numbers{}, false},
		{"a percentage below 0", wire.Report{Percent: n(-1)}, Numbers{}, false},
		{"a count below 0", wire.Report{Progress: n(1), Loaded: n(-1)}, Numbers{}, false},
		{"the page marks the report invalid", wire.Report{Progress: n(1), HasInvalidNumber: true}, Numbers{}, false},
	} {
		if got, ok := NumbersOf(&tt.report); got != tt.want || ok != tt.ok {
			t.Errorf("%s: numbers = %+v, valid %t; want %+v, %t", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}
