package jsbuild

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// longTimeout is long, because the race detector is slow on a busy machine.
const longTimeout = 10 * time.Minute

// The variable GORACE=atexit_sleep_ms=0 keeps a program that was built with -race from sleeping for a second before it
// exits (go.dev/doc/articles/race_detector).
var childArgs = func() []string {
	if runtime.GOOS == "windows" {
		return []string{os.Args[0], "__extract"}
	}
	return []string{"/usr/bin/env", "GORACE=atexit_sleep_ms=0", os.Args[0], "__extract"}
}()

func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case "__extract":
			os.Exit(Extract(os.Stdin, os.Stdout))
		case "__simulate":
			os.Exit(Simulate(os.Stdin, os.Stdout))
		case "__surroundings":
			dir, err := os.Getwd()
			processInfo, marshalErr := json.Marshal(map[string]any{"env": os.Environ(), "dir": dir})
			if err = errors.Join(err, marshalErr); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			fmt.Printf(`{"extracted":%s}`, processInfo)
			os.Exit(0)
		case "__hang":
			<-time.After(time.Hour)
		case "__crash":
			fmt.Fprintln(os.Stderr, "out of luck")
			os.Exit(3)
		case "__flood":
			for {
				if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
					os.Exit(1)
				}
			}
		}
	}
	code := m.Run()
	if b, err := buildSharedExample(); err == nil {
		if err := os.RemoveAll(b.Dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

func TestExtractRunsScript(t *testing.T) {
	script := `globalThis.` + extractedGlobalName + ` = JSON.stringify({answer: 6 * 7, page: typeof document});`
	extraction, err := runExtract(t.Context(), childArgs, []byte(script), longTimeout, extractKillDelay)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(extraction.Extracted), `{"answer":42,"page":"function"}`; got != want {
		t.Errorf("result of the script = %s (%+v), want %s", got, extraction, want)
	}
}

func TestExtractLimits(t *testing.T) {
	tests := []struct{ name, script, limit, err string }{
		{name: "endless loop", script: `for (;;) {}`, limit: "time"},
		{name: "endless loop that catches", script: `for (;;) { try { for (;;) {} } catch {} }`, limit: "time"},
		{name: "slow pattern", script: `/^(a+)+$/.test('a'.repeat(40) + 'b')`, limit: "time"},
		{name: "memory", script: `const kept = []; for (;;) kept.push(new Uint8Array(1 << 20).fill(1))`, limit: "memory"},
		{name: "memory of strings", script: `let s = 'x'; for (;;) s += s + s;`, err: "string too long"},
		{name: "deep recursion", script: `(function f() { f(); })()`, err: "stack overflow"},
		{name: "thrown error", script: `throw new TypeError('no luck')`, err: "no luck"},
		{name: "thrown value", script: `throw {toString() { throw 1 }}`, err: "without a message"},
		{name: "syntax", script: `let let`, err: "SyntaxError"},
		{name: "overwritten answer", script: `globalThis.` + extractedGlobalName + ` = 1`, err: "overwrote the result"},
		{name: "answer that is not JSON", script: `globalThis.` + extractedGlobalName + ` = 'x'`, err: "overwrote the result"},
		{name: "no answer", script: ``, err: extractedGlobalName},
	}
	for _, testCase := range tests {
		t.Run(testCase.name, func(t *testing.T) {
			timeout := longTimeout
			if testCase.limit == "time" {
				timeout = 300 * time.Millisecond
			}
			extraction, err := runExtract(t.Context(), childArgs, []byte(testCase.script), timeout, extractKillDelay)
			if err != nil {
				t.Fatal(err)
			}
			if extraction.Extracted != nil || extraction.Limit != testCase.limit || !strings.Contains(extraction.Error, testCase.err) {
				t.Errorf("answer of the child process = %+v, want limit %q and an error with %q", extraction, testCase.limit, testCase.err)
			}
			if extraction.extractProblem(bundledScript{}, timeout) == nil {
				t.Errorf("extractProblem of %+v = nil, want a problem", extraction)
			}
		})
	}
}

func TestExtractIsolatesChildEnvironment(t *testing.T) {
	t.Setenv("OPENTABS_SECRET", "token")
	extraction, err := runExtract(t.Context(), []string{os.Args[0], "__surroundings"}, nil, longTimeout, extractKillDelay)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Env []string
		Dir string
	}
	if err := json.Unmarshal(extraction.Extracted, &got); err != nil {
		t.Fatal(err)
	}
	for _, variable := range got.Env {
		if strings.HasPrefix(variable, "OPENTABS_") || strings.HasPrefix(variable, "HOME=") || strings.HasPrefix(variable, "PATH=") {
			t.Errorf("the child process has the environment variable %s, want no such variable", variable)
		}
	}
	if _, err := os.Stat(got.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the child's directory %s is left: %v; want the error %v", got.Dir, err, os.ErrNotExist)
	}
}

func TestExtractReportsFailedProcess(t *testing.T) {
	run := func(ctx context.Context, arg string, gracePeriod time.Duration) (extractAnswer, error) {
		return runExtract(ctx, []string{os.Args[0], arg}, nil, 100*time.Millisecond, gracePeriod)
	}
	const shortGracePeriod = 400 * time.Millisecond
	if extraction, err := run(t.Context(), "__hang", shortGracePeriod); err != nil || extraction.Limit != "time" {
		t.Errorf("hanging child: got %+v, error %v; want the time limit", extraction, err)
	}
	if _, err := run(t.Context(), "__crash", extractKillDelay); err == nil || !strings.Contains(err.Error(), "exit status 3: out of luck") {
		t.Errorf("crashing child: got %v, want its exit code and its output", err)
	}
	if extraction, err := run(t.Context(), "__flood", shortGracePeriod); err != nil || extraction.Limit != "time" {
		t.Errorf("flooding child: got %+v, error %v; want the time limit", extraction, err)
	}
	if _, err := runExtract(t.Context(), []string{"/no/such/program"}, nil, time.Second, extractKillDelay); err == nil {
		t.Error("runExtract of a missing program returned no error, want an error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(ctx, "__hang", extractKillDelay); !errors.Is(err, context.Canceled) {
		t.Errorf("runExtract with a cancelled context: error %v; want %v", err, context.Canceled)
	}
}

func TestExtractRejectsInvalidInput(t *testing.T) {
	for _, in := range []string{"", "no limits\n", `{"timeoutMs":1}`} {
		var outBuffer strings.Builder
		if code := Extract(strings.NewReader(in), &outBuffer); code == 0 || outBuffer.Len() > 0 {
			t.Errorf("Extract with the input %q: exit code %d, output %q; want an error code and no output", in, code, outBuffer.String())
		}
	}
}
