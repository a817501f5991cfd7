package jsbuild

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const simulatedDir = "testdata/simulated"

var simulateArgs = append(slices.Clone(childArgs[:len(childArgs)-1]), "__simulate")

func runTests(t *testing.T, file string, o TestOptions) (failures map[string]string, passedCount int, err error) {
	t.Helper()
	o.Simulate = simulateArgs
	if o.Timeout == 0 {
		o.Timeout = longTimeout
	}
	failures = map[string]string{}
	err = RunTests(t.Context(), simulatedDir, TestFile{Name: file}, o, func(n TestEvent) {
		switch {
		case n.Op != "end":
		case n.Error == "":
			passedCount++
		default:
			failures[n.Test] = n.Location + ": " + n.Error
		}
	})
	return failures, passedCount, err
}

func TestSimulatorPassesGoodTests(t *testing.T) {
	failures, passedCount, err := runTests(t, "src/good.test.ts", TestOptions{})
	if err != nil || len(failures) > 0 || passedCount < 16 {
		t.Errorf("%d tests passed, error %v; want at least 16 passed and no failures", passedCount, err)
		for name, failure := range failures {
			t.Errorf("the test %q failed, want it to pass: %s", name, failure)
		}
	}
}

// TestSimulatorPassesBrowserTests runs the tests that e2e/plugin-test.test.ts also runs in a real
// browser.
func TestSimulatorPassesBrowserTests(t *testing.T) {
	failures, passedCount, err := runTests(t, "src/both.test.ts", TestOptions{})
	if err != nil || len(failures) > 0 || passedCount != 10 {
		t.Errorf("%d tests passed, failures %v, error %v; want 10 passed and no failures", passedCount, failures, err)
	}
}

func TestSimulatorReportsFailures(t *testing.T) {
	failures, passedCount, err := runTests(t, "src/bad.test.ts", TestOptions{})
	if err != nil || passedCount != 1 {
		t.Errorf("%d tests passed, error %v; want 1 passed and no error", passedCount, err)
	}
	for name, want := range map[string]string{
		"wrong":               `src/bad.test.ts:6:23: expected {"counted":3} to equal {"counted":4}`,
		"waits for nothing":   "the test cannot continue: it set no timer and made no request",
		"asks for ever":       "the test did not end within an hour of virtual time",
		"throws from a timer": "src/bad.test.ts:18:15: in a timer",
		"throws nothing":      "the test threw undefined",
	} {
		if !strings.Contains(failures[name], want) {
			t.Errorf("failure of the test %q = %s, want %s", name, failures[name], want)
		}
	}
}

func TestFilter(t *testing.T) {
	failures, passedCount, err := runTests(t, "src/bad.test.ts", TestOptions{Filter: "^is fi"})
	if err != nil || passedCount != 1 || len(failures) > 0 {
		t.Errorf("%d tests passed, failures %v, error %v; want only the test that matches the filter, passed", passedCount, failures, err)
	}
}

func TestEndlessPluginTestTimesOut(t *testing.T) {
	_, passedCount, err := runTests(t, "src/endless.test.ts", TestOptions{Timeout: 3 * time.Second})
	var buildErr *BuildError
	if !errors.As(err, &buildErr) || passedCount != 1 || !strings.Contains(err.Error(), `"never ends" did not end within 3s of real time`) {
		t.Errorf("%d tests passed, error %v; want 1 passed and an error about the test that never ends", passedCount, err)
	}
}

func TestPluginTestsThatCannotRun(t *testing.T) {
	_, _, err := runTests(t, "src/node.test.ts", TestOptions{})
	if err == nil || !strings.Contains(err.Error(), "tests do not run in Node: use expect from @opentabs/sdk/testing") {
		t.Error(err)
	}
	if _, _, err := runTests(t, "src/none.test.ts", TestOptions{}); err == nil {
		t.Error("RunTests of a missing file returned no error, want an error")
	}
}

func TestFindTests(t *testing.T) {
	files, err := FindTests(simulatedDir)
	if got := fmt.Sprint(files, err); got != "[{src/bad.test.ts false} {src/both.test.ts false} {src/endless.test.ts false} {src/good.test.ts false} {src/node.test.ts true}] <nil>" {
		t.Error(got)
	}
	if files, err := FindTests(t.TempDir()); err != nil || len(files) != 0 {
		t.Errorf("FindTests of an empty directory = %v, error %v; want no files", files, err)
	}
}

func TestSimulatorGivesHints(t *testing.T) {
	events := map[string]TestEvent{}
	o := TestOptions{Simulate: simulateArgs, Timeout: longTimeout}
	err := RunTests(t.Context(), "testdata/mistakes", TestFile{Name: "src/index.test.ts"}, o, func(n TestEvent) {
		if n.Op == "end" {
			events[n.Test] = n
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for test, want := range map[string]string{
		"floating":             "nothing waits for a promise that was rejected: the disk is full; add the missing await, or handle the error with catch | src/index.ts:6:",
		"floating_later":       "nothing waits for a promise that was rejected: the disk was removed; add the missing await, or handle the error with catch | src/index.ts:11:",
		"rejected":             "nothing waits for a promise that was rejected: the queue is closed;",
		"constructed":          "nothing waits for a promise that was rejected: the cache is gone;",
		"constructed_later":    "nothing waits for a promise that was rejected: the cache was lost;",
		"chained":              "nothing waits for a promise that was rejected: the list is empty;",
		"settled":              "",
		"polling":              "",
		"a call without await": "nothing waits for a promise that was rejected: expected {",
		"handled":              "",
		"bigint":               "",
		"dom_node":             "| dom_node: items[0].el is a DOM node (BODY), which JSON cannot represent. Return its text",
		"no_await":             "| no_await: items[0] is a promise, and the result has {} instead of its value. Add an await.",
		"circular":             "JSON cannot represent: parts[0].whole is circular: it refers back to an object that contains it; copy only the fields that agents need",
		"text":                 "| text: The tool threw a text, which has no stack trace and no code. Throw new ToolError(message, code) instead.",
		"status":               "| status: The tool threw a value that is not an Error, so it has no stack trace and no code.",
		"mixed":                "| mixed: A bigint and a number cannot be combined. Convert one of them",
		"html":                 "| html: The answer is a web page (HTML), not JSON",
		"broken":               "| broken: cannot read property 'length' of undefined at src/index.ts:87:",
	} {
		n, ok := events[test]
		errorText := n.Error
		if n.Error != "" {
			errorText += " | " + n.Location
			for _, call := range n.FailedCalls {
				errorText += " | " + call.Tool + ": " + call.Message + " at " + call.Location
			}
			for _, hint := range n.Hints {
				errorText += " | " + hint
			}
		}
		if !ok || !strings.Contains(errorText, want) || want == "" && errorText != "" {
			t.Errorf("the test %q: has a result = %v, error text = %s\nwant %s", test, ok, errorText, want)
		}
	}
}
