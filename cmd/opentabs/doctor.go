package main

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/cli/setupcmd"
	"opentabs/internal/config"
	"opentabs/internal/diskspace"
	"opentabs/internal/doctor"
	"opentabs/internal/setup"
)

type doctorOptions struct {
	program *cli.Program
	fix     bool
	json    bool
}

func newDoctorCmd(p *cli.Program) *cobra.Command {
	opts := doctorOptions{program: p}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and suggest remedies",
		Long: `Check each hop between your MCP clients and your pages: the files, the disk, the
clock, the settings, the port, the server and its rules, MCP over HTTP and
stdio, the extension, the browsers with their tabs, the plugins, and the
configuration of each MCP client, by running the command in it. Each line is ok,
warn or fail, followed by what to do. The command exits with code 1 if a check
fails.

With --fix, the command first repairs what it can without losing data: the modes
of files, a damaged token, the record of a killed server, an old server without
calls, the extension's folder, and the entry in the configuration of a client.
Without --fix, it changes nothing.

The table at the end shows how MCP clients behave: how long each waits for a
call, and how it handles progress and approvals.`,
		Example: "  opentabs doctor\n  opentabs doctor --fix\n  opentabs doctor --json",
		Args:    cli.LimitArgs(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.fix, "fix", false, "repair what can be repaired, then check")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runDoctor(ctx context.Context, opts doctorOptions) error {
	p := opts.program
	dirs, err := config.FindDirs(p.Getenv)
	if err != nil {
		return cli.NewUsageError("%v", err)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program opentabs: %w", err)
	}
	checkOptions := doctor.Options{
		Dirs: dirs, Getenv: p.Getenv, Warn: func(warning string) { p.Out.Notef("%s", warning) },
		Program: program, FreeBytes: diskspace.FreeBytes,
		SetUpClient: func(ctx context.Context, clientID string) error { return setupcmd.SetUpClient(ctx, p, clientID) },
	}
	if machine, err := setup.ThisMachine(runtime.GOOS, p.Getenv); err == nil {
		checkOptions.Machine = &machine
	}
	run := doctor.Check
	if opts.fix {
		run = doctor.Fix
	}
	report, err := run(ctx, checkOptions)
	if err != nil {
		return err
	}
	if !opts.json {
		report.Print(p.Out)
	} else if err := p.Out.PrintValue(report); err != nil {
		return err
	}
	return report.Failure()
}
