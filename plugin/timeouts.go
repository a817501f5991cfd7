package plugin

import (
	"strconv"
	"time"

	"opentabs/internal/jsonread"
)

// The shortest and the longest limit that a package may ask for.
const (
	minTimeout = time.Second
	maxTimeout = 5 * time.Minute
)

// readTimeouts reads what a tool or prompt says of its limits; zero means those of
// the server.
func readTimeouts(f *jsonread.Reader) (idle, hard time.Duration) {
	limits := f.Object("limits")
	if limits == nil {
		return 0, 0
	}
	return readTimeout(limits, "idleTimeoutMs"), readTimeout(limits, "hardTimeoutMs")
}

func readTimeout(f *jsonread.Reader, key string) time.Duration {
	if !f.Has(key) {
		return 0
	}
	raw := f.Members[key]
	ms, err := strconv.Atoi(string(raw))
	d := time.Duration(ms) * time.Millisecond
	if err != nil || ms > int(maxTimeout/time.Millisecond) || d < minTimeout {
		f.Add(key, "is %.40s; use a whole number of milliseconds from %d to %d", raw, minTimeout.Milliseconds(), maxTimeout.Milliseconds())
		return 0
	}
	return d
}
