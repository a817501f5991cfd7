// Package alloctest checks how many allocations a piece of code makes.
package alloctest

import "testing"

// runs is the number of runs of one check. The result is rounded down, so fewer than
// runs allocations of other goroutines do not change it.
const runs = 2000

// Check fails the test unless one run of f makes exactly want allocations. Under the
// race detector up to extra more are allowed: it moves variables to the heap and makes
// each sync.Pool forget values at random.
//
// The number is exact on purpose: a change that adds an allocation to the path of a
// call needs a reason, and a change that removes one should keep the gain.
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
