package main

import (
	"context"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/clients"
	"opentabs/internal/humanize"
	"opentabs/internal/timeouts"
)

func newClientTimeoutCmd(p *cli.Program) *cobra.Command {
	return cli.GroupCommands(&cobra.Command{
		Use:   "timeout",
		Short: "Show and change how long MCP clients wait for a call",
		Long: `Show and change how long MCP clients wait for a call. Shortly before a client
gives up on a call, opentabs answers with a job, so the call runs on. opentabs
has a table of well-known clients ("opentabs doctor" prints it). The timeout of
any other client is learned when the client first gives up on a call.`,
		Example: "  opentabs client timeout list\n  opentabs client timeout set my-agent 2m\n  opentabs client timeout forget my-agent",
	}, newClientTimeoutListCmd(p), newClientTimeoutSetCmd(p), newClientTimeoutForgetCmd(p))
}

func openTimeouts(p *cli.Program) (*timeouts.Store, error) {
	dirs, err := p.MakeDirs()
	if err != nil {
		return nil, err
	}
	return timeouts.Open(dirs.State, func(warning string) { p.Out.Notef("%s", warning) }, zerolog.Nop()), nil
}

type clientTimeoutListOptions struct {
	program *cli.Program
	json    bool
}

func newClientTimeoutListCmd(p *cli.Program) *cobra.Command {
	opts := clientTimeoutListOptions{program: p}
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the timeouts that were learned or set",
		Example: "  opentabs client timeout list\n  opentabs client timeout list --json",
		Args:    cli.LimitArgs(0),
		RunE:    func(*cobra.Command, []string) error { return runClientTimeoutList(opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runClientTimeoutList(opts clientTimeoutListOptions) error {
	p := opts.program
	store, err := openTimeouts(p)
	if err != nil {
		return err
	}
	if err := store.Problem(); err != nil {
		return err
	}
	entries := store.List()
	if opts.json {
		return p.Out.PrintValue(entries)
	}
	if len(entries) == 0 {
		p.Out.Notef("no timeout was learned or set; `opentabs doctor` prints those of well-known clients")
		return nil
	}
	tableRows := [][]string{{"CLIENT", "WAITS", "FROM", "SINCE"}}
	for _, e := range entries {
		source := "learned"
		if e.IsSetByUser {
			source = "set"
		}
		tableRows = append(tableRows, []string{e.FormatClient(), e.FormatLimit(), source, e.Since.Local().Format(time.DateOnly)})
	}
	p.Out.PrintTable("", tableRows)
	return nil
}

type clientTimeoutOptions struct {
	program                *cli.Program
	name, timeout, version string
	progressRestarts       bool
	json                   bool
}

func newClientTimeoutSetCmd(p *cli.Program) *cobra.Command {
	opts := clientTimeoutOptions{program: p}
	cmd := &cobra.Command{
		Use:   "set CLIENT TIME",
		Short: "Set how long an MCP client waits for a call",
		Long: `Set how long an MCP client waits for a call, such as 90s or 5m. CLIENT is the
name that the client sends, as in "opentabs status". The timeout applies to the
next call; a timeout that you set is not changed by what opentabs learns.`,
		Example: "  opentabs client timeout set my-agent 2m\n  opentabs client timeout set my-agent 60s --progress-restarts",
		Args:    cli.RequireArgs(2, "the name of the client or the time"),
		RunE: func(_ *cobra.Command, args []string) error {
			opts.name, opts.timeout = args[0], args[1]
			return runClientTimeoutSet(opts)
		},
	}
	cmd.Flags().StringVar(&opts.version, "version", "", "only this `VERSION` of the client")
	cli.AddJSONFlag(cmd, &opts.json)
	cmd.Flags().BoolVar(&opts.progressRestarts, "progress-restarts", false, "each progress notification restarts the time")
	return cmd
}

func runClientTimeoutSet(opts clientTimeoutOptions) error {
	limit, err := time.ParseDuration(opts.timeout)
	if err != nil || limit < clients.MinTimeout || limit > clients.MaxTimeout {
		return cli.NewUsageError("the time %q is not a time with its unit from %s to %s: give one such as 90s or 5m",
			opts.timeout, humanize.ShortDuration(clients.MinTimeout), humanize.ShortDuration(clients.MaxTimeout))
	}
	p := opts.program
	store, err := openTimeouts(p)
	if err != nil {
		return err
	}
	e, err := store.Set(clients.ID{Name: opts.name, Version: opts.version}, clients.Timeout{Limit: limit, ProgressRestarts: opts.progressRestarts})
	if err != nil {
		return err
	}
	return p.Report(opts.json, e, "%s waits %s for a call", e.FormatClient(), e.FormatLimit())
}

func newClientTimeoutForgetCmd(p *cli.Program) *cobra.Command {
	opts := clientTimeoutOptions{program: p}
	cmd := &cobra.Command{
		Use:   "forget CLIENT",
		Short: "Remove the timeout of an MCP client that was learned or set",
		Long: `Remove the timeout of an MCP client that was learned or set. Its next calls run
to their end, unless the client is in the table of well-known clients.`,
		Example: "  opentabs client timeout forget my-agent",
		Args:    cli.RequireArgs(1, "the name of the client"),
		RunE:    cli.ActionWithArg(&opts.name, func(context.Context) error { return runClientTimeoutForget(opts) }),
	}
	cmd.Flags().StringVar(&opts.version, "version", "", "only this `VERSION` of the client")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runClientTimeoutForget(opts clientTimeoutOptions) error {
	p := opts.program
	store, err := openTimeouts(p)
	if err != nil {
		return err
	}
	removedEntries, err := store.Forget(clients.ID{Name: opts.name, Version: opts.version})
	if err != nil {
		return err
	}
	if len(removedEntries) == 0 {
		return cli.NewUsageError("no timeout of %q was learned or set: list the timeouts with `opentabs client timeout list`", opts.name)
	}
	if opts.json {
		return p.Out.PrintValue(removedEntries)
	}
	for _, e := range removedEntries {
		p.Out.Notef("the timeout of %s (%s) is removed", e.FormatClient(), e.FormatLimit())
	}
	return nil
}
