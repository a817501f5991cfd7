package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/browsertest"
	"opentabs/internal/jsbuild"
	"opentabs/internal/terminal"
)

type pluginTestOptions struct {
	program *program
	dir     string
	filter  string
	timeout time.Duration
	json    bool
	// browser runs the tests in a real browser.
	browser bool
}

func newPluginTestCmd(p *program) *cobra.Command {
	opts := pluginTestOptions{program: p}
	cmd := &cobra.Command{
		Use:   "test [DIR]",
		Short: "Run a plugin's tests in a simulated page",
		Long: `Run the tests of the plugin in DIR (default: this directory): the files whose
name ends in .test.ts in src and test. They run in a simulated page with a
virtual clock: five minutes of waiting take no time. Neither a browser nor Node
is needed.

A test opens a tab with simulate() of @opentabs/sdk/testing, calls tools in it
as an agent does, and checks the results.

With --browser the same tests run in a real Chromium (the one in CHROMIUM, else
one with a usual name) with a temporary profile and server. The plugin's sites
are simulated, and time is real. Tests that need a simulated page are skipped.`,
		Example: "  opentabs plugin test\n  opentabs plugin test --filter 'stop|cancel'\n  opentabs plugin test plugins/messages --json\n  opentabs plugin test --browser --filter finds",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.dir = dirOf(args)
			return runPluginTest(cmd.Context(), opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.filter, "filter", "", "run only the tests whose name matches this `PATTERN`, a regular expression")
	f.DurationVar(&opts.timeout, "timeout", time.Minute, "how long one test may take in real time")
	f.BoolVar(&opts.json, "json", false, "print one JSON object per line: each test that ended, then the totals")
	f.BoolVar(&opts.browser, "browser", false, "run the tests in a real browser, without a window")
	return cmd
}

// testTally counts the tests of a plugin.
type testTally struct {
	Passed int `json:"passed"`
	Failed int `json:"failed"`
	// Skipped are those that a real browser can't run.
	Skipped int `json:"skipped,omitempty"`
}

func (t testTally) String() string {
	text := fmt.Sprintf("%d passed, %d failed", t.Passed, t.Failed)
	if t.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", t.Skipped)
	}
	return text
}

func runPluginTest(ctx context.Context, opts pluginTestOptions) error {
	if _, err := regexp.Compile(opts.filter); err != nil {
		return usage("--filter: %v: give it a regular expression, as in 'stop|cancel'", err)
	}
	if opts.timeout <= 0 {
		return usage("--timeout is %v: give it more than 0, as in 30s", opts.timeout)
	}
	files, err := jsbuild.FindTests(opts.dir)
	if err != nil {
		return err
	}
	out, began := opts.program.out, time.Now()
	var real jsbuild.Real
	if opts.browser && slices.ContainsFunc(files, func(f jsbuild.TestFile) bool { return !f.Node }) {
		browser, err := browsertest.Start(ctx, browsertest.Options{Dir: opts.dir, Getenv: opts.program.getenv, Warnf: opts.program.out.Notef})
		if err != nil {
			return err
		}
		defer browser.Close()
		out.Notef("the tests run in %s", browser.Program())
		real = browser
	}
	var tally testTally
	for _, file := range files {
		if file.Node {
			out.Notef("%s imports node:test: run it with node --test", terminal.SafeLine(file.Name))
			continue
		}
		if err := opts.run(ctx, file, real, &tally); err != nil {
			return err
		}
	}
	if opts.json {
		if err := out.PrintValueLine(tally); err != nil {
			return err
		}
	}
	switch {
	case tally.Failed > 0:
		return &failure{code: exitFailed, err: errors.New(tally.String())}
	case tally.Passed == 0 && tally.Skipped > 0:
		return &failure{code: exitFailed, err: errors.New("no test can run in a real browser: run them without --browser")}
	case tally.Passed == 0 && opts.filter != "":
		return &failure{code: exitFailed, err: fmt.Errorf("no test has a name that matches %q: leave --filter out to run all", opts.filter)}
	case tally.Passed == 0:
		return &failure{code: exitFailed, err: errors.New("there are no tests: write one in src/index.test.ts with test() and simulate() of @opentabs/sdk/testing")}
	}
	out.Notef("%s, in %s", tally, terminal.Elapsed(time.Since(began)))
	return nil
}

// run runs the tests of one file. A file that does not build counts as a failed test.
func (o pluginTestOptions) run(ctx context.Context, file jsbuild.TestFile, real jsbuild.Real, tally *testTally) error {
	out := o.program.out
	if !o.json {
		out.PrintLine("%s", terminal.SafeLine(file.Name))
	}
	var printErr error
	err := jsbuild.RunTests(ctx, o.dir, file, jsbuild.TestOptions{Timeout: o.timeout, Filter: o.filter, Real: real}, func(n jsbuild.TestNews) {
		if n.Op == "end" || n.Op == "skipped" {
			printErr = errors.Join(printErr, o.show(file.Name, n, tally))
		}
	})
	var broken *jsbuild.BuildError
	switch {
	case errors.As(err, &broken):
		for _, p := range broken.Problems {
			printErr = errors.Join(printErr, o.show(file.Name, jsbuild.TestNews{Error: p.Text, Where: p.Where}, tally))
		}
	case err != nil:
		return err
	}
	return printErr
}

// show prints how one test ended.
func (o pluginTestOptions) show(file string, n jsbuild.TestNews, tally *testTally) error {
	skipped := n.Op == "skipped"
	switch {
	case skipped:
		tally.Skipped++
	case n.Error == "":
		tally.Passed++
	default:
		tally.Failed++
	}
	out := o.program.out
	if o.json {
		return out.PrintValueLine(struct {
			File      string  `json:"file"`
			Test      string  `json:"test,omitempty"`
			OK        bool    `json:"ok"`
			Skipped   bool    `json:"skipped,omitempty"`
			Error     string  `json:"error,omitempty"`
			Where     string  `json:"where,omitempty"`
			VirtualMs float64 `json:"virtual_ms"`
		}{file, n.Test, n.Error == "", skipped, n.Error, n.Where, n.VirtualMs})
	}
	name := terminal.SafeLine(n.Test)
	if name == "" {
		name = "the file"
	}
	if n.Error == "" {
		passed := "  ok    " + name
		if n.VirtualMs >= 1000 {
			passed += fmt.Sprintf(" (%s in the page)", terminal.Elapsed(time.Duration(n.VirtualMs*float64(time.Millisecond))))
		}
		out.PrintLine("%s", passed)
		return nil
	}
	if skipped {
		out.PrintLine("  skip  %s (%s)", name, terminal.SafeLine(n.Error))
		return nil
	}
	out.PrintLine("  FAIL  %s", name)
	for line := range strings.Lines(n.Error) {
		out.PrintLine("        %s", terminal.SafeLine(line))
	}
	if n.Where != "" {
		out.PrintLine("        at %s", terminal.SafeLine(n.Where))
	}
	return nil
}

// newSimulateCmd is the child process in which `plugin test` runs tests. Users do not
// run it.
func newSimulateCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:    "__simulate",
		Short:  "Run the tests of a plugin (started by plugin test)",
		Hidden: true,
		Args:   atMost(0),
		RunE: func(*cobra.Command, []string) error {
			if code := jsbuild.Simulate(p.in, p.out.Stdout()); code != exitOK {
				return &failure{code: code, err: errors.New("the tests could not be run: this command is started by opentabs plugin test")}
			}
			return nil
		},
	}
}
