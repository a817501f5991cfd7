package dispatch

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
		want   numbers
		ok     bool
	}{
		{"nothing", wire.Report{}, numbers{}, true},
		{"progress of a total", wire.Report{Progress: n(1), Total: n(4)}, numbers{progress: 1, total: 4, hasProgress: true, hasTotal: true}, true},
		{"a percentage", wire.Report{Percent: n(40)}, numbers{progress: 40, total: 100, hasProgress: true, hasTotal: true}, true},
		{"progress goes before a percentage", wire.Report{Progress: n(1), Percent: n(40)}, numbers{progress: 1, hasProgress: true}, true},
		{"loaded alone", wire.Report{Loaded: n(7)}, numbers{progress: 7, loaded: 7, hasProgress: true, hasLoaded: true}, true},
		{"a total alone", wire.Report{Total: n(7)}, numbers{total: 7, hasTotal: true}, true},
		{"rounding is clamped", wire.Report{Progress: n(3 * (1 + 1e-10)), Total: n(3)}, numbers{progress: 3, total: 3, hasProgress: true, hasTotal: true}, true},
		{"more than rounding", wire.Report{Progress: n(3 * (1 + 1e-8)), Total: n(3)}, numbers{}, false},
		{"more than all", wire.Report{Percent: n(101)}, numbers{}, false},
		{"not a number", wire.Report{Progress: n(math.NaN())}, numbers{}, false},
		{"no end", wire.Report{Progress: n(math.Inf(1))}, numbers{}, false},
		{"below 0", wire.Report{Progress: n(-1)}, numbers{}, false},
		{"a total that is not a number", wire.Report{Progress: n(1), Total: n(math.NaN())}, numbers{}, false},
		{"a total without end", wire.Report{Progress: n(1), Total: n(math.Inf(1))}, numbers{}, false},
		{"a total below 0", wire.Report{Total: n(-1)}, numbers{}, false},
		{"a percentage below 0", wire.Report{Percent: n(-1)}, numbers{}, false},
		{"a count below 0", wire.Report{Progress: n(1), Loaded: n(-1)}, numbers{}, false},
		{"the page says that it is not valid", wire.Report{Progress: n(1), Invalid: true}, numbers{}, false},
	} {
		if got, ok := numbersOf(&tt.report); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %+v, %t; want %+v, %t", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}
