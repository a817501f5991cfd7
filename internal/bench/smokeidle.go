package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	// idleTime is how long a server runs before its memory is measured. The server returns
	// the memory of its start to the system after 3 s.
	idleTime = 5 * time.Second
	// idleStartTimeout is how long the server may take to start and to end.
	idleStartTimeout = time.Minute
)

// measureIdleServer starts a server without plugins in dir and returns its goroutines,
// its resident memory, and its resident memory without file pages, both in MB. A signal
// makes the server write its goroutines to stderr and end.
func measureIdleServer(ctx context.Context, dir string) ([]float64, error) {
	ctx, stop := context.WithTimeout(ctx, idleStartTimeout)
	defer stop()
	cmd := exec.CommandContext(ctx, program, "serve")
	cmd.Env = append(os.Environ(), "OPENTABS_HOME="+dir, "OPENTABS_PORT=0", "GOTRACEBACK=all")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	time.Sleep(idleTime)
	rss, private, err := residentMemory(cmd.Process.Pid)
	if err != nil {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("%w; the server wrote: %s", err, stderr.Bytes())
	}
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		return nil, err
	}
	_ = cmd.Wait() // a server that is ended by SIGQUIT has an exit code other than 0
	goroutines := strings.Count(stderr.String(), "\ngoroutine ")
	if goroutines == 0 {
		return nil, fmt.Errorf("the server wrote no goroutines: %s", stderr.Bytes())
	}
	return []float64{float64(goroutines), float64(rss) / 1e6, float64(private) / 1e6}, nil
}

// measureProgram returns how many allocations the program makes before its first
// statement, and the size of the program in MB.
func measureProgram(ctx context.Context, _ string) ([]float64, error) {
	cmd := exec.CommandContext(ctx, program, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	output, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", cmd, err, output)
	}
	allocs := 0
	for line := range strings.Lines(string(output)) {
		var name string
		var at, clock float64
		var bytes, n int
		if _, err := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &name, &at, &clock, &bytes, &n); err == nil {
			allocs += n
		}
	}
	info, err := os.Stat(program)
	if err != nil {
		return nil, err
	}
	return []float64{float64(allocs), float64(info.Size()) / 1e6}, nil
}
