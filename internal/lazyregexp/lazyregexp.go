// Package lazyregexp compiles regular expressions at their first use. A program with
// many expressions starts sooner, because each run uses only a few.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// New returns a function that returns the compiled pattern. New compiles the pattern
// once, at its first call. The pattern is safe for concurrent use.
//
// An invalid pattern panics at the first call; in tests New itself panics, so that
// no invalid pattern stays unnoticed.
func New(pattern string) func() *regexp.Regexp {
	compile := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	if isTest {
		compile()
	}
	return compile
}

// isTest is set in a test binary, which go test names after its package. A call of
// testing.Testing would add the package testing to every program.
var isTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")
