//go:build !race

package alloctest

// isRace reports whether the test binary was built with the race detector (-race).
const isRace = false
