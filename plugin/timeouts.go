package plugin

import (
	"strconv"
	"time"
)

// The shortest and the longest limit that a package may ask for.
const (
	minTimeout = time.Second
	maxTimeout = 5 * time.Minute
)

// timeouts reads what a tool or prompt says of its limits; zero means those of
// the server.
func (f *fields) timeouts() (idle, hard time.Duration) {
	limits := f.object("limits")
	if limits == nil {
		return 0, 0
	}
	return limits.timeout("idleTimeoutMs"), limits.timeout("hardTimeoutMs")
}

func (f *fields) timeout(key string) time.Duration {
	if !f.has(key) {
		return 0
	}
	raw := f.member[key]
	ms, err := strconv.Atoi(string(raw))
	d := time.Duration(ms) * time.Millisecond
	if err != nil || ms > int(maxTimeout/time.Millisecond) || d < minTimeout {
		f.add(key, "is %.40s; use a whole number of milliseconds from %d to %d", raw, minTimeout.Milliseconds(), maxTimeout.Milliseconds())
		return 0
	}
	return d
}
