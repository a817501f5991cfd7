package plugin

import (
	"regexp"
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
	return slowPattern{re}, nil
}

// slowPattern is a pattern that runs under a time limit.
type slowPattern struct{ re *regexp2.Regexp }

func (p slowPattern) String() string { return p.re.String() }

// MatchString reports whether s matches; a text that takes too long does not.
func (p slowPattern) MatchString(s string) bool {
	ok, err := p.re.MatchString(s)
	return ok && err == nil
}
