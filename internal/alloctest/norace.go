//go:build !race

package alloctest

// isRaceEnabled reports whether the test binary was built with the race detector (-race).
const isRaceEnabled = false
