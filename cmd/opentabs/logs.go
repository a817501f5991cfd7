package main

import (
	"context"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/httpapi"
	"opentabs/internal/pluginlog"
	"opentabs/internal/pluginview"
	"opentabs/internal/rawjson"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

type logsOptions struct {
	program *cli.Program
	query   httpapi.LogQuery
	level   string
	follow  bool
	json    bool
}

func newLogsCmd(p *cli.Program) *cobra.Command {
	opts := logsOptions{program: p}
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show what plugins log",
		Long: `Show what plugins have logged in their pages, oldest first. Text that looks like
a password or a key is removed before it is stored. --follow also prints new
entries; it needs a running server.`,
		Example: `  opentabs logs
  opentabs logs --plugin messages --level warning --last 20
  opentabs logs --follow --json | jq .message`,
		Args: cli.LimitArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runLogs(cmd.Context(), opts) },
	}
	cmd.Flags().StringVar(&opts.query.Plugin, "plugin", "", "only entries of the plugin `NAME`")
	cmd.Flags().StringVar(&opts.level, "level", "debug", "only entries of this `LEVEL` and above: debug, info, warning, error")
	cmd.Flags().IntVar(&opts.query.MaxEntries, "last", 100, "show the `NUMBER` newest entries (0: all; with --follow 0: none)")
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "print new entries until Ctrl-C")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print a JSON array; with --follow one entry per line")
	return cmd
}

func runLogs(ctx context.Context, opts logsOptions) error {
	level, err := pluginlog.ParseLevel(opts.level)
	if err != nil {
		return cli.NewUsageError("--level: %v", err)
	}
	if opts.query.Level = level; opts.query.MaxEntries < 0 {
		return cli.NewUsageError("--last is %d: give it 0 or more", opts.query.MaxEntries)
	}
	if opts.follow {
		return followLogs(ctx, opts)
	}
	p := opts.program
	dirs, err := p.MakeDirs()
	if err != nil {
		return err
	}
	// Log files contain all entries, so `opentabs logs` works without a server.
	logEntries, damagedLines, err := pluginlog.Read(dirs.State, opts.query.Filter, opts.query.MaxEntries)
	if err != nil {
		return err
	}
	if opts.json {
		lines := make([][]byte, len(logEntries))
		for i, e := range logEntries {
			if lines[i], err = rawjson.Marshal(e); err != nil {
				return err
			}
		}
		if err := terminal.PrintJSONList(p.Out, lines); err != nil {
			return err
		}
	}
	for _, e := range logEntries {
		if opts.json {
			break
		}
		if err := opts.printEntry(e); err != nil {
			return err
		}
	}
	if len(logEntries) == 0 {
		p.Out.Notef("%s", opts.emptyResultText())
	}
	if damagedLines > 0 {
		p.Out.Notef("%s of the plugin log cannot be read", terminal.CountNoun(damagedLines, "line"))
	}
	return nil
}

func (o logsOptions) emptyResultText() string {
	if o.query.Plugin == "" && o.query.Level == wire.LogDebug {
		return "plugins have logged nothing yet"
	}
	return "no entry matches --plugin and --level: list all entries with `opentabs logs --last 0`"
}

func followLogs(ctx context.Context, opts logsOptions) error {
	client, err := opts.program.NewClient(ctx)
	if err != nil {
		return err
	}
	err = client.Logs.Follow(ctx, opts.query, httpapi.LogListener{
		Entry: opts.printEntry,
		Missed: func(n int) error {
			opts.program.Out.Notef("%s missing here: plugins logged faster than the entries could be printed", terminal.CountWithVerb(n, "entry is", "entries are"))
			return nil
		},
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (o logsOptions) printEntry(e pluginlog.Entry) error {
	if o.json {
		return o.program.Out.PrintValueLine(e)
	}
	for _, line := range pluginview.LogLines(e) {
		o.program.Out.PrintLine("%s", line)
	}
	return nil
}
