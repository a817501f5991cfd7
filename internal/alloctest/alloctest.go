// Package alloctest helps tests check how many heap allocations a function makes.
package alloctest

import "testing"

// Check rounds the average of runs down, so a few allocations by other goroutines do not change the result.
const measuredRuns = 2000

// Check fails the test unless one run of f makes exactly want heap allocations. With the
// race detector on, Check allows up to want+extra allocations, because the race detector
// moves variables to the heap and makes sync.Pool drop items.
//
// The number of allocations must match want exactly, so that a commit that changes the
// number must also change the test.
func Check(t *testing.T, description string, want, raceExtra int, f func()) {
	t.Helper()
	limit := want
	if isRaceEnabled {
		limit += raceExtra
	}
	if got := testing.AllocsPerRun(measuredRuns, f); got < float64(want) || got > float64(limit) {
		t.Errorf("%s makes %v allocations, want %d to %d", description, got, want, limit)
	}
}
