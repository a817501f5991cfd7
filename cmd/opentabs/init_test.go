package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The largest allocation by the initialization of one package, before main runs, is about 200 KB.
const maxInitBytes = 300_000

// The test measures allocated bytes, because the time would depend on the load of the machine.
func TestPackageInitializationAllocatesLittle(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("opentabs with traced initialization ended with the error %v, want nil; output: %s", err, output)
	}
	packageCount := 0
	for line := range strings.Lines(string(output)) {
		var name string
		var at, clock float64
		var bytes, allocs int
		if _, err := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &name, &at, &clock, &bytes, &allocs); err != nil {
			continue
		}
		packageCount++
		if bytes > maxInitBytes {
			t.Errorf("the initialization of %s allocates %d bytes in %d allocations, want at most %d bytes", name, bytes, allocs, maxInitBytes)
		}
	}
	if packageCount < 50 {
		t.Errorf("the trace lists the initialization of %d packages, want at least 50: %s", packageCount, output)
	}
}
