package main

import (
	"context"

	"github.com/spf13/cobra"

	"opentabs/internal/config"
	"opentabs/internal/doctor"
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
		Args:    limitArgs(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runDoctor(ctx context.Context, opts doctorOptions) error {
	p := opts.program
	dirs, err := config.FindDirs(p.getenv)
	if err != nil {
		return newUsageError("%v", err)
	}
	report, err := doctor.Check(ctx, dirs, p.getenv, func(sentence string) { p.out.Notef("%s", sentence) })
	if err != nil {
		return err
	}
	if !opts.json {
		report.Print(p.out)
	} else if err := p.out.PrintValue(report); err != nil {
		return err
	}
	return report.Failure()
}
