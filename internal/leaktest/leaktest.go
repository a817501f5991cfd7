// Package leaktest makes the tests of a package fail if a goroutine still runs after all
// tests.
package leaktest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// Even on a slow machine, only leaked goroutines run longer than goroutineExitTimeout.
const goroutineExitTimeout = 30 * time.Second

// Main runs the tests of a package and exits the process. Call Main in TestMain. If the
// tests pass but a goroutine still runs, Main prints all stacks and exits with code 1.
// With go test -fuzz, Main does not check for leaks, because the fuzzer runs its own
// goroutines.
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

func hasLeaks() bool {
	for deadline := time.Now().Add(goroutineExitTimeout); runtime.NumGoroutine() > 1; {
		if time.Now().After(deadline) {
			return true
		}
		<-time.After(20 * time.Millisecond)
	}
	return false
}
