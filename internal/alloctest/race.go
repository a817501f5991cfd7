//go:build race

package alloctest

// isRaceEnabled reports whether the binary was built with the race detector (-race).
const isRaceEnabled = true
