// Package leaktest fails a package whose tests leave goroutines behind.
package leaktest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// exitTimeout is how long Main waits for goroutines to exit. exitTimeout is long enough
// for the slowest machine; only leaked goroutines take that long.
const exitTimeout = 30 * time.Second

// Main runs the tests of a package and exits; call Main in TestMain. If the tests pass
// but a goroutine is left, Main prints all stacks and exits with code 1. Under go test
// -fuzz, Main does not check, because the fuzzer has its own goroutines.
func Main(m *testing.M) {
	code := m.Run()
	isFuzzing := flag.Lookup("test.fuzz").Value.String() != ""
	if code == 0 && !isFuzzing && hasLeaks() {
		buf := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "goroutines were left behind:\n%s\n", buf[:runtime.Stack(buf, true)])
		code = 1
	}
	os.Exit(code)
}

// hasLeaks reports whether another goroutine still runs after exitTimeout.
func hasLeaks() bool {
	for deadline := time.Now().Add(exitTimeout); runtime.NumGoroutine() > 1; {
		if time.Now().After(deadline) {
			return true
		}
		<-time.After(20 * time.Millisecond)
	}
	return false
}
