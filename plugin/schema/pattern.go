package schema

import (
	"regexp"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// patternTimeout is how long a pattern may run on one text. Only patterns that Go's
// own engine does not support can take long.
const patternTimeout = 100 * time.Millisecond

// compilePattern compiles a JavaScript pattern. Go's engine runs a pattern in linear
// time. A pattern with features that Go lacks (look-around, back references, \u
// escapes) runs in a backtracking engine under a time limit.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	pattern = expandBrowserClasses(pattern)
	if re, err := regexp.Compile(pattern); err == nil {
		return re, nil
	}
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = patternTimeout
	return &slowPattern{re: re}, nil
}

// slowPattern is a pattern that runs under a time limit. After maxTimeouts timeouts in
// a row, a pattern rejects every text for patternPause, because an array can have many
// texts.
type slowPattern struct {
	re *regexp2.Regexp
	// timeouts counts the timeouts in a row.
	timeouts atomic.Int32
	// pausedUntil is the time until which the pattern rejects every text, in
	// nanoseconds since 1970.
	pausedUntil atomic.Int64
}

const (
	// maxTimeouts is the number of timeouts in a row after which a pattern pauses.
	maxTimeouts = 5
	// patternPause is how long a pattern rejects every text after too many timeouts.
	patternPause = time.Second
)

func (p *slowPattern) String() string { return p.re.String() }

// MatchString reports whether s matches the pattern. MatchString returns false after a
// timeout.
func (p *slowPattern) MatchString(s string) bool {
	if time.Now().UnixNano() < p.pausedUntil.Load() {
		return false
	}
	ok, err := p.re.MatchString(s)
	switch {
	case err == nil:
		p.timeouts.Store(0)
	case p.timeouts.Add(1) >= maxTimeouts:
		p.timeouts.Store(0)
		p.pausedUntil.Store(time.Now().Add(patternPause).UnixNano())
	}
	return ok && err == nil
}
