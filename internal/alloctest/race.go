//go:build race

package alloctest

// isRace reports whether the race detector is on.
const isRace = true
