// Package alloctest checks how many allocations a piece of code makes.
package alloctest

import "testing"

// runs is the number of runs of one check. The result is rounded down, so fewer than
// runs allocations of other goroutines do not change it.
const runs = 2000

// Check fails the test unless one run of f makes exactly want allocations. extra is how
// many more the race detector causes, because it moves variables to the heap.
//
// The number is exact on purpose: a change that adds an allocation to the path of a
// call needs a reason, and a change that removes one should keep the gain.
func Check(t *testing.T, what string, want, extra int, f func()) {
	t.Helper()
	if isRace {
		want += extra
	}
	if got := testing.AllocsPerRun(runs, f); got != float64(want) {
		t.Errorf("%s makes %v allocations, want %d", what, got, want)
	}
}
