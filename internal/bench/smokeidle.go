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
	// The measurement waits for idleMeasureDuration, because the server returns unused memory about 3 s after its start.
	idleMeasureDuration = 5 * time.Second
	idleStartTimeout    = time.Minute
)

// To count the goroutines, measureIdleServer sends SIGQUIT, which makes the server write its goroutines to stderr and
// exit.
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
	time.Sleep(idleMeasureDuration)
	residentBytes, privateBytes, err := residentMemory(cmd.Process.Pid)
	if err != nil {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("%w; the server wrote: %s", err, stderr.Bytes())
	}
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		return nil, err
	}
	_ = cmd.Wait() // after SIGQUIT, the exit code is not 0
	goroutines := strings.Count(stderr.String(), "\ngoroutine ")
	if goroutines == 0 {
		return nil, fmt.Errorf("the server wrote no goroutines: %s", stderr.Bytes())
	}
	return []float64{float64(goroutines), float64(residentBytes) / 1e6, float64(privateBytes) / 1e6}, nil
}

func measureProgramSize(ctx context.Context, _ string) ([]float64, error) {
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
	fileInfo, err := os.Stat(program)
	if err != nil {
		return nil, err
	}
	return []float64{float64(allocs), float64(fileInfo.Size()) / 1e6}, nil
}
