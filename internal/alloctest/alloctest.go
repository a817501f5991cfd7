// Package alloctest checks how many allocations a piece of code makes.
package alloctest

import "testing"

// runs is the number of runs of one check. The average number of allocations per run is
// rounded down, so fewer than runs allocations of other goroutines do not change the
// average.
const runs = 2000

// Check fails the test unless one run of f makes exactly want allocations. Under the
// race detector, which moves variables to the heap and makes sync.Pool drop values,
// Check allows up to want+extra allocations.
//
// The expected number of allocations is exact, so that each change of the number is
// noticed and justified.
func Check(t *testing.T, what string, want, extra int, f func()) {
	t.Helper()
	limit := want
	if isRace {
		limit += extra
	}
	if got := testing.AllocsPerRun(runs, f); got < float64(want) || got > float64(limit) {
		t.Errorf("%s makes %v allocations, want %d to %d", what, got, want, limit)
	}
}
