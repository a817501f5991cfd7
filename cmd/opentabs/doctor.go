package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"opentabs/internal/config"
	"opentabs/internal/doctor"
	"opentabs/internal/terminal"
)

type doctorOptions struct {
	program *program
	json    bool
}

func newDoctorCmd(p *program) *cobra.Command {
	opts := doctorOptions{program: p}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and suggest remedies",
		Long: `Check the directories, the token, the settings, the server, the extension, the
browsers, the plugins and the log. Each line is ok, warn or fail, followed by
what to do. The command changes nothing. It exits with code 1 if a check fails.

The table at the end shows how MCP clients behave: how long each waits for a
call, and how it handles progress and approvals.`,
		Example: "  opentabs doctor\n  opentabs doctor --json",
		Args:    atMost(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runDoctor(ctx context.Context, opts doctorOptions) error {
	p := opts.program
	dirs, err := config.FindDirs(p.getenv)
	if err != nil {
		return usage("%v", err)
	}
	report, err := doctor.Check(ctx, dirs, p.getenv, func(sentence string) { p.out.Notef("%s", sentence) })
	if err != nil {
		return err
	}
	if opts.json {
		err = p.out.PrintValue(report)
	} else {
		printReport(p.out, report)
	}
	if n := report.Failures(); err == nil && n > 0 {
		err = &failure{code: exitFailed, err: errors.New(terminal.Plural(n, "check") + " failed: follow the lines that begin with \"do:\", then run `opentabs doctor` again")}
	}
	return err
}

func printReport(out *terminal.Output, report doctor.Report) {
	for _, f := range report.Findings {
		out.PrintLine("%-4s  %-11s  %s", f.Level, f.Check, terminal.SafeLine(f.Fact))
		if f.Remedy != "" {
			out.PrintLine("%-4s  %-11s  do: %s", "", "", terminal.SafeLine(f.Remedy))
		}
	}
	out.PrintLine("")
	out.PrintLine("Behavior of MCP clients (`opentabs doctor --json` has the sources):")
	out.PrintTable("  ", doctor.ClientTable(), "NEW TOOLS", "PICTURES", "PROGRESS")
}
