package plugincmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/humanize"
	"opentabs/internal/jsbuild"
	"opentabs/internal/testrun"
)

type pluginTestOptions struct {
	program *cli.Program
	tests   testrun.Options
}

func newPluginTestCmd(p *cli.Program) *cobra.Command {
	opts := pluginTestOptions{program: p, tests: testrun.Options{Dir: "."}}
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
		Args:    cli.LimitArgs(1),
		RunE:    cli.ActionWithArg(&opts.tests.Dir, func(ctx context.Context) error { return runPluginTest(ctx, opts) }),
	}
	f := cmd.Flags()
	f.StringVar(&opts.tests.Filter, "filter", "", "run only the tests whose name matches this `PATTERN`, a regular expression")
	f.DurationVar(&opts.tests.Timeout, "timeout", time.Minute, "the `TIME` that one test may take, in real time")
	f.Lookup("timeout").DefValue = humanize.ShortDuration(time.Minute)
	f.BoolVar(&opts.tests.JSON, "json", false, "print one JSON object per line: each test that ended, then the totals")
	f.BoolVar(&opts.tests.Browser, "browser", false, "run the tests in a real browser, without a window")
	return cmd
}

func runPluginTest(ctx context.Context, opts pluginTestOptions) error {
	opts.tests.Getenv = opts.program.Getenv
	return testrun.Run(ctx, opts.tests, opts.program.Out)
}

// NewSimulateCmd returns the hidden command that runs the tests of a plugin. `opentabs
// plugin test` starts this hidden command, `opentabs __simulate`, as a child process.
func NewSimulateCmd(p *cli.Program) *cobra.Command {
	return &cobra.Command{
		Use:    "__simulate",
		Short:  "Run the tests of a plugin (started by plugin test)",
		Hidden: true,
		Args:   cli.LimitArgs(0),
		RunE: func(*cobra.Command, []string) error {
			if jsbuild.Simulate(p.In, p.Out.Stdout()) != cli.ExitOK {
				return cli.NewUsageError("the tests could not be run: this command is started by opentabs plugin test")
			}
			return nil
		},
	}
}
