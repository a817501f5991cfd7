package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/callview"
	"opentabs/internal/cli"
	"opentabs/internal/httpapi"
	"opentabs/internal/recorder"
	"opentabs/internal/terminal"
)

// historyOptions are the flags of `opentabs calls` that select recorded calls.
type historyOptions struct {
	since, tool, client string
	hasFailed           bool
}

func (o *historyOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.since, "since", "", "list recorded calls that ended after this `TIME`, such as 2h, 7d or 2026-11-20")
	cmd.Flags().StringVar(&o.tool, "tool", "", "list recorded calls of this `TOOL`, or of all tools of a plugin")
	cmd.Flags().StringVar(&o.client, "client", "", "list recorded calls of the client with this `NAME`")
	cmd.Flags().BoolVar(&o.hasFailed, "failed", false, "list recorded calls that failed, timed out or were cancelled")
}

func (o *historyOptions) isSet() bool { return *o != historyOptions{} }

// `opentabs calls` reads recorded calls from files, so that the command works without a server.
func runHistory(opts callsOptions) error {
	p, o := opts.program, opts.history
	if opts.follow {
		return cli.NewUsageError("--follow shows new calls, not recorded calls: leave out --since, --tool, --client and --failed")
	}
	query := recorder.Query{Tool: o.tool, Client: o.client, OnlyFailed: o.hasFailed}
	if o.since != "" {
		since, err := recorder.ParseSince(o.since, time.Now())
		if err != nil {
			return cli.NewUsageError("--since: %v", err)
		}
		query.Since = since
	}
	dirs, err := p.MakeDirs()
	if err != nil {
		return err
	}
	recordedEntries, err := recorder.ReadAll(dirs.State, query)
	if err != nil {
		return err
	}
	if opts.json {
		lines := make([][]byte, len(recordedEntries))
		for i, e := range recordedEntries {
			lines[i] = e.Line
		}
		return terminal.PrintJSONList(p.Out, lines)
	}
	if len(recordedEntries) == 0 {
		p.Out.Notef("no recorded call matches")
		return nil
	}
	printCalls(p.Out, callview.RecordRows(recordedEntries, opts.verbose), "SITE", "CLIENT", "RAN", "TIME")
	return nil
}

// `opentabs calls show` reads recorded calls from files, so that the command works without a server.
func showRecord(opts callsShowOptions) error {
	dirs, err := opts.program.MakeDirs()
	if err != nil {
		return err
	}
	id, err := callview.FindRecordedID(dirs.State, opts.id, nil)
	if err != nil {
		return err
	}
	recordedEntry, ok, err := recorder.Find(dirs.State, id)
	if err != nil {
		return err
	}
	if id == "" || !ok {
		return cli.NewUsageError("no call %s is recorded, and no server is running: list recorded calls with `opentabs calls --since 7d`", opts.id)
	}
	return printRecord(opts, recordedEntry.Record)
}

func findRecordedCallID(ctx context.Context, p *cli.Program, client *httpapi.Client, typedID string) (string, error) {
	dirs, err := p.MakeDirs()
	if err != nil {
		return "", err
	}
	listedViews, err := client.Calls.List(ctx)
	if err != nil {
		return "", err
	}
	id, err := callview.FindRecordedID(dirs.State, typedID, listedViews)
	if err == nil && id == "" {
		err = callview.NewUnknownCallError(typedID)
	}
	return id, err
}
