package schema

import (
	"regexp"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// patternTimeout is the maximum time for matching a pattern against one string. Only a
// pattern with features that Go's regexp package lacks can be slow.
const patternTimeout = 100 * time.Millisecond

// A pattern that Go's regexp package supports is matched in linear time. A pattern with features that Go lacks
// (look-around, back references, \u escapes) runs in a backtracking engine under a time limit.
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
	return &timedPattern{re: re}, nil
}

// timedPattern is a regular expression that runs under a time limit. After maxConsecutiveTimeouts
// timeouts in a row, a timedPattern rejects every string for patternPauseTime, which limits the
// time for checking a long array of strings.
type timedPattern struct {
	re          *regexp2.Regexp
	timeouts    atomic.Int32
	pausedUntil atomic.Int64
}

const (
	// maxConsecutiveTimeouts is the number of consecutive timeouts after which a pattern is not
	// tried for patternPauseTime.
	maxConsecutiveTimeouts = 5
	// patternPauseTime is how long a pattern rejects every string after too many timeouts.
	patternPauseTime = time.Second
)

func (p *timedPattern) String() string { return p.re.String() }

// MatchString reports whether s matches the pattern.
func (p *timedPattern) MatchString(s string) bool {
	if time.Now().UnixNano() < p.pausedUntil.Load() {
		return false
	}
	ok, err := p.re.MatchString(s)
	switch {
	case err == nil:
		p.timeouts.Store(0)
	case p.timeouts.Add(1) >= maxConsecutiveTimeouts:
		p.timeouts.Store(0)
		p.pausedUntil.Store(time.Now().Add(patternPauseTime).UnixNano())
	}
	return ok && err == nil
}
