// Package testrun runs the tests of a plugin and prints whether each test passed.
package testrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"opentabs/internal/browsertest"
	"opentabs/internal/codeframe"
	"opentabs/internal/jsbuild"
	"opentabs/internal/terminal"
	"opentabs/internal/usererr"
)

// Options select the tests to run and configure the run.
type Options struct {
	// Dir is the directory of the plugin; required.
	Dir string
	// Filter is a regular expression for the names of tests. By default, all tests run.
	Filter string
	// Timeout limits the real time of one test; required.
	Timeout time.Duration
	// JSON makes Run print one JSON object per line. By default, Run prints the results
	// as text for users.
	JSON bool
	// Browser runs the tests in a real browser. By default, the tests run in a simulated
	// page.
	Browser bool
	// Getenv reads the environment variables that the browser needs; required.
	Getenv func(string) string
}

func (o Options) check() error {
	if _, err := regexp.Compile(o.Filter); err != nil {
		return usererr.Errorf("--filter: %v: give it a regular expression, as in 'stop|cancel'", err)
	}
	if o.Timeout <= 0 {
		return usererr.Errorf("--timeout is %v: give it more than 0, as in 30s", o.Timeout)
	}
	return nil
}

// Run runs the tests of the plugin and prints their results to out. Run returns an error
// if a test fails or no test runs, and a [usererr.Error] for invalid options.
func Run(ctx context.Context, o Options, terminalOut *terminal.Output) error {
	if err := o.check(); err != nil {
		return err
	}
	files, err := jsbuild.FindTests(o.Dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(o.Dir, "package.json")); len(files) == 0 && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no plugin in %s: name the folder that contains the plugin's package.json", o.Dir)
	}
	startTime, p := time.Now(), printer{terminalOut: terminalOut, dir: o.Dir, json: o.JSON}
	tests := jsbuild.TestOptions{Timeout: o.Timeout, Filter: o.Filter}
	if o.Browser && slices.ContainsFunc(files, func(f jsbuild.TestFile) bool { return !f.UsesNode }) {
		browser, err := browsertest.Start(ctx, browsertest.Options{Dir: o.Dir, Getenv: o.Getenv, Warnf: terminalOut.Notef})
		if err != nil {
			return err
		}
		defer browser.Close()
		terminalOut.Notef("the tests run in %s", browser.Program())
		tests.Browser = browser
	}
	for _, file := range files {
		if file.UsesNode {
			terminalOut.Notef("%s imports node:test: run it with node --test", terminal.SafeLine(file.Name))
			continue
		}
		if err := p.runFile(ctx, o.Dir, file, tests); err != nil {
			return err
		}
	}
	if o.JSON {
		if err := terminalOut.PrintValueLine(p.counts); err != nil {
			return err
		}
	}
	if err := p.counts.failureError(o.Filter); err != nil {
		return err
	}
	terminalOut.Notef("%s, in %s", p.counts, terminal.Elapsed(time.Since(startTime)))
	return nil
}

// testCounts counts the tests of a plugin by result.
type testCounts struct {
	PassedCount int `json:"passed"`
	Failed      int `json:"failed"`
	// SkippedCount is the number of tests that did not run, because they cannot run in a real
	// browser.
	SkippedCount int `json:"skipped,omitempty"`
}

func (t testCounts) String() string {
	summary := fmt.Sprintf("%d passed, %d failed", t.PassedCount, t.Failed)
	if t.SkippedCount > 0 {
		summary += fmt.Sprintf(", %d skipped", t.SkippedCount)
	}
	return summary
}

func (t testCounts) failureError(filter string) error {
	switch {
	case t.Failed > 0:
		return errors.New(t.String())
	case t.PassedCount > 0:
		return nil
	case t.SkippedCount > 0:
		return errors.New("no test can run in a real browser: run them without --browser")
	case filter != "":
		return fmt.Errorf("no test has a name that matches %q: leave --filter out to run all", filter)
	}
	return errors.New("there are no tests: write one in src/index.test.ts with test() and simulate() of @opentabs/sdk/testing")
}

// The type printer prints and counts the results of tests.
type printer struct {
	terminalOut *terminal.Output
	dir         string
	json        bool
	counts      testCounts
	err         error
}

// A test file that does not compile counts as a failed test.
func (p *printer) runFile(ctx context.Context, dir string, file jsbuild.TestFile, o jsbuild.TestOptions) error {
	if !p.json {
		p.terminalOut.PrintLine("%s", terminal.SafeLine(file.Name))
	}
	err := jsbuild.RunTests(ctx, dir, file, o, func(n jsbuild.TestEvent) {
		if n.Op == "end" || n.Op == "skipped" {
			p.print(file.Name, n)
		}
	})
	var buildErr *jsbuild.BuildError
	if errors.As(err, &buildErr) {
		err = nil
		for _, buildProblem := range buildErr.Problems {
			p.print(file.Name, jsbuild.TestEvent{Error: buildProblem.Text, Location: buildProblem.Location})
		}
	}
	return cmp.Or(err, p.err)
}

// testLine is the JSON line for the result of one test.
type testLine struct {
	File      string  `json:"file"`
	Test      string  `json:"test,omitempty"`
	OK        bool    `json:"ok"`
	Skipped   bool    `json:"skipped,omitempty"`
	Error     string  `json:"error,omitempty"`
	Location  string  `json:"where,omitempty"`
	VirtualMs float64 `json:"virtual_ms"`
	// FailedCalls and Hints describe the failed calls in a failed test.
	FailedCalls []jsbuild.FailedCall `json:"failed_calls,omitempty"`
	Hints       []string             `json:"hints,omitempty"`
}

func (p *printer) print(file string, n jsbuild.TestEvent) {
	name := cmp.Or(terminal.SafeLine(n.Test), "the file")
	line := testLine{file, n.Test, n.Error == "", n.Op == "skipped", n.Error, n.Location, n.VirtualMs, n.FailedCalls, n.Hints}
	switch {
	case line.Skipped:
		p.counts.SkippedCount++
	case line.OK:
		p.counts.PassedCount++
	default:
		p.counts.Failed++
	}
	switch {
	case p.json:
		p.err = cmp.Or(p.err, p.terminalOut.PrintValueLine(line))
	case line.OK && n.VirtualMs >= 1000:
		p.terminalOut.PrintLine("  ok    %s (%s in the page)", name, terminal.Elapsed(time.Duration(n.VirtualMs*float64(time.Millisecond))))
	case line.OK:
		p.terminalOut.PrintLine("  ok    %s", name)
	case line.Skipped:
		p.terminalOut.PrintLine("  skip  %s (%s)", name, terminal.SafeLine(n.Error))
	default:
		p.terminalOut.PrintLine("  FAIL  %s", name)
		for errorLine := range strings.Lines(n.Error) {
			p.terminalOut.PrintLine("        %s", terminal.SafeLine(errorLine))
		}
		p.printLocation(n.Location)
		for _, call := range n.FailedCalls {
			p.terminalOut.PrintLine("      the tool %s threw: %s", terminal.SafeLine(call.Tool), terminal.SafeLine(call.Message))
			p.printLocation(call.Location)
		}
		for _, hint := range n.Hints {
			p.terminalOut.PrintLine("      hint: %s", terminal.SafeLine(hint))
		}
	}
}

func (p *printer) printLocation(locationText string) {
	if locationText == "" {
		return
	}
	p.terminalOut.PrintLine("        at %s", terminal.SafeLine(locationText))
	for _, line := range codeframe.ReadCodeFrame(p.dir, locationText) {
		p.terminalOut.PrintLine("        %s", line)
	}
}
