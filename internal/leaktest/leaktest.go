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

// patience is how long goroutines that are about to end are waited for, on the
// slowest machine too: only what is left behind takes so long.
const patience = 30 * time.Second

// Main is a TestMain: it runs the tests and ends the process, with 1 and all
// stacks if a goroutine is left although the tests passed. Under go test -fuzz it
// only runs them, because the fuzzer has goroutines of its own.
func Main(m *testing.M) {
	code := m.Run()
	fuzzing := flag.Lookup("test.fuzz").Value.String() != ""
	if code == 0 && !fuzzing && leaks() {
		buf := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "goroutines were left behind:\n%s\n", buf[:runtime.Stack(buf, true)])
		code = 1
	}
	os.Exit(code)
}

// leaks reports whether any goroutine but this one is there after a while.
func leaks() bool {
	for end := time.Now().Add(patience); runtime.NumGoroutine() > 1; {
		if time.Now().After(end) {
			return true
		}
		<-time.After(20 * time.Millisecond)
	}
	return false
}
