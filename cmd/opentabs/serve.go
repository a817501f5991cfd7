package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"opentabs/internal/cli"
	"opentabs/internal/config"
	"opentabs/internal/daemon"
	"opentabs/internal/logfile"
)

var logFormats = []string{"auto", "console", "json"}

type serveOptions struct {
	program   *cli.Program
	flags     map[string]string
	logFormat string
	logFile   string
}

func newServeCmd(p *cli.Program) *cobra.Command {
	opts := serveOptions{program: p, flags: map[string]string{}}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the server",
		Long: `Start the server that agents and browsers connect to, on 127.0.0.1 only. It runs
until Ctrl-C. One server runs per installation; opentabs mcp starts it if none
runs.

Each setting can also be in config.json (idleTimeout for --idle-timeout) or in
an environment variable (OPENTABS_IDLE_TIMEOUT). A flag overrides the variable,
and the variable overrides the file.`,
		Example: `  opentabs serve
  opentabs serve --port 9600 --idle-timeout 1m
  OPENTABS_HOME=/tmp/try opentabs serve --port 0 --log-level debug`,
		Args: cli.LimitArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.Flags().Visit(func(f *pflag.Flag) { opts.flags[f.Name] = f.Value.String() })
			return runServe(cmd.Context(), opts)
		},
	}
	for _, f := range config.Flags() {
		cmd.Flags().String(f.Name, f.Default, f.Description)
	}
	cmd.Flags().StringVar(&opts.logFormat, "log-format", "auto", "the `FORMAT` of the log on stderr: "+strings.Join(logFormats, ", "))
	cmd.Flags().StringVar(&opts.logFile, "log-file", "", "write the log to `FILE` instead of stderr; at 10 MiB it is renamed to FILE.1")
	return cmd
}

func runServe(ctx context.Context, opts serveOptions) error {
	if !slices.Contains(logFormats, opts.logFormat) {
		return cli.NewUsageError("--log-format is %q: give it one of %s", opts.logFormat, strings.Join(logFormats, ", "))
	}
	p := opts.program
	h, err := p.OpenHome(opts.flags)
	if err != nil {
		return err
	}
	h.StopOlderServer(ctx)
	var logFile io.Writer // a nil writer selects stderr
	if opts.logFile != "" {
		file, err := logfile.Open(opts.logFile, logfile.MaxBytes)
		if err != nil {
			return err
		}
		defer file.Close()
		logFile = file
	}
	log, err := p.Out.NewLogger(logFile, h.Settings.LogLevel, opts.logFormat)
	if err != nil {
		return err
	}
	d, err := daemon.Start(ctx, h, log)
	if err != nil {
		return err
	}
	p.Out.Notef("serving MCP on http://%s/mcp", d.Address())
	return d.Serve(ctx)
}
