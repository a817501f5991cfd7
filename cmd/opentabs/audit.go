package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/audit"
	"opentabs/internal/auditview"
	"opentabs/internal/terminal"
)

type auditOptions struct {
	program *program
	last    int
	tool    string
	json    bool
	verbose bool
}

func newAuditCmd(p *program) *cobra.Command {
	opts := auditOptions{program: p}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show what agents did, and who allowed it",
		Long: `Show the record of calls that ended, of decisions, and of changes of
permissions, oldest first. The arguments and results of calls are not recorded.
--verbose prints all fields of each record, with the last messages that the tool
reported.`,
		Example: `  opentabs audit
  opentabs audit --last 10 --tool messages__export_messages --verbose
  opentabs audit --json --last 0 | jq 'select(.kind == "decision")'`,
		Args: limitArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runAudit(cmd.Context(), opts) },
	}
	cmd.Flags().IntVar(&opts.last, "last", 50, "show the `NUMBER` newest records (0: all)")
	cmd.Flags().StringVar(&opts.tool, "tool", "", "only records of this `TOOL`, or of all tools of a plugin")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print one JSON object per line")
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "print all fields of each record")
	return cmd
}

// runAudit prints the audit log. runAudit reads the files of the audit log, so
// `opentabs audit` works without a server.
func runAudit(_ context.Context, opts auditOptions) error {
	if opts.last < 0 {
		return newUsageError("--last is %d: give it 0 or more", opts.last)
	}
	p := opts.program
	dirs, err := p.makeDirs()
	if err != nil {
		return err
	}
	entries, damagedLines, err := audit.Read(dirs.State, opts.last, func(r audit.Record) bool {
		return opts.tool == "" || r.Tool == opts.tool || strings.HasPrefix(r.Tool, opts.tool+"__")
	})
	if err != nil {
		return err
	}
	for _, e := range entries {
		if opts.json {
			if err := p.out.PrintJSONLine(e.Line); err != nil {
				return err
			}
			continue
		}
		p.out.PrintLine("%s", auditview.Line(e.Record))
		if opts.verbose {
			for _, line := range auditview.Details(e.Record) {
				p.out.PrintLine("    %s", line)
			}
		}
	}
	if len(entries) == 0 {
		p.out.Notef("the audit log has no records yet")
	}
	if damagedLines > 0 {
		p.out.Notef("%s of the audit log cannot be read", terminal.Plural(damagedLines, "line"))
	}
	return nil
}
