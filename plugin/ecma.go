package plugin

import (
	"regexp"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// patternTimeout is how long one pattern may take on one text. Only patterns
// that Go's own engine cannot run can take long.
const patternTimeout = 100 * time.Millisecond

var uriScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*$`)

// compilePattern compiles a JavaScript pattern: by Go's engine, which takes
// linear time, or, if it uses what that lacks (look-around, back references,
// \u escapes), by one that backtracks under a time limit.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	pattern = browserClasses(pattern)
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

// slowPattern is a pattern that runs under a time limit. An array has many
// texts, so a pattern that reached its limit several times in a row rests: for
// a while it takes no text at all.
type slowPattern struct {
	re *regexp2.Regexp
	// late counts how often in a row the limit was reached.
	late atomic.Int32
	// rest is until when it rests, in nanoseconds since 1970.
	rest atomic.Int64
}

const (
	// maxLate is how often in a row a pattern may reach its limit.
	maxLate = 5
	// patternRest is how long it rests then.
	patternRest = time.Second
)

func (p *slowPattern) String() string { return p.re.String() }

// MatchString reports whether s matches; a text that takes too long does not.
func (p *slowPattern) MatchString(s string) bool {
	if time.Now().UnixNano() < p.rest.Load() {
		return false
	}
	ok, err := p.re.MatchString(s)
	switch {
	case err == nil:
		p.late.Store(0)
	case p.late.Add(1) >= maxLate:
		p.late.Store(0)
		p.rest.Store(time.Now().Add(patternRest).UnixNano())
	}
	return ok && err == nil
}
