package mcpserver

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// TestMain fails the package if a test leaves a goroutine behind.
func TestMain(m *testing.M) {
	code := m.Run()
	fuzzing := flag.Lookup("test.fuzz").Value.String() != "" // which has goroutines of its own
	if code == 0 && !fuzzing && leaks() {
		buf := make([]byte, 4<<20)
		fmt.Fprintf(os.Stderr, "goroutines were left behind:\n%s\n", buf[:runtime.Stack(buf, true)])
		code = 1
	}
	os.Exit(code)
}

// leaks gives goroutines that are about to end a moment to do so.
func leaks() bool {
	for range 100 {
		if runtime.NumGoroutine() == 1 {
			return false
		}
		<-time.After(20 * time.Millisecond)
	}
	return true
}
