// Package lazyregexp compiles each regular expression at its first use. A program with
// many regular expressions starts faster with lazyregexp, because one run usually needs
// only a few of the expressions.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// New returns a function that compiles a regular expression pattern once and returns the
// compiled expression. The returned function compiles the pattern when it is first
// called, and is safe for concurrent use.
//
// An invalid pattern panics at the first call of the returned function. In tests, New
// itself panics on an invalid pattern, so a test fails even if it never uses the pattern.
func New(pattern string) func() *regexp.Regexp {
	getPattern := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	if isTest {
		getPattern()
	}
	return getPattern
}

// isTest is true in a test binary, whose file name ends with ".test". The function
// testing.Testing would return the same value as isTest, but would link the package
// testing into every program.
var isTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")
