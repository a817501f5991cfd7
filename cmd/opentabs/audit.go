package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/audit"
	"opentabs/internal/auditview"
	"opentabs/internal/cli"
	"opentabs/internal/recorder"
	"opentabs/internal/terminal"
)

type auditOptions struct {
	program   *cli.Program
	lineCount int
	filter    auditFilter
	json      bool
	verbose   bool
}

// auditFilter contains the values of the flags that select audit records.
type auditFilter struct{ tool, client, since string }

func (f *auditFilter) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.tool, "tool", "", "only records of this `TOOL`, or of all tools of a plugin")
	cmd.Flags().StringVar(&f.client, "client", "", "only records of the client with this `NAME`")
	cmd.Flags().StringVar(&f.since, "since", "", "only records after this `TIME`, such as 2h, 7d or 2026-11-20")
}

func (f *auditFilter) selector() (func(audit.Record) bool, error) {
	var since time.Time
	if f.since != "" {
		var err error
		if since, err = recorder.ParseSince(f.since, time.Now()); err != nil {
			return nil, cli.NewUsageError("--since: %v", err)
		}
	}
	return func(r audit.Record) bool {
		return (f.tool == "" || r.Tool == f.tool || strings.HasPrefix(r.Tool, f.tool+"__")) &&
			(f.client == "" || r.Client == f.client || r.ClaimedName == f.client || r.ToClient().String() == f.client) &&
			!r.Time.Before(since)
	}, nil
}

func (f *auditFilter) emptyResultText() string {
	if *f == (auditFilter{}) {
		return "the audit log has no records yet"
	}
	var givenFlags []string
	for _, flag := range []struct{ name, value string }{{"--tool", f.tool}, {"--client", f.client}, {"--since", f.since}} {
		if flag.value != "" {
			givenFlags = append(givenFlags, flag.name)
		}
	}
	flagPhrase := "a flag"
	if len(givenFlags) == 1 {
		flagPhrase = "the flag"
	}
	return fmt.Sprintf("no record matches %s: leave out %s, or list all records with `opentabs audit --last 0`", strings.Join(givenFlags, " and "), flagPhrase)
}

func newAuditCmd(p *cli.Program) *cobra.Command {
	opts := auditOptions{program: p}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show what agents did, and who allowed it",
		Long: `Show the record of calls that ended, of decisions, and of changes of
permissions, oldest first. The arguments and results of calls are not recorded.
--verbose prints all fields of each record, with the last messages that the tool
reported.

Each record has the hash of the record before; opentabs audit verify finds
records that were changed or removed.`,
		Example: `  opentabs audit
  opentabs audit --last 10 --tool messages__export_messages --verbose
  opentabs audit --since 7d --client claude-code
  opentabs audit --json --last 0 | jq '.[] | select(.kind == "decision")'`,
		Args: cli.LimitArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runAudit(cmd.Context(), opts) },
	}
	cmd.AddCommand(newAuditVerifyCmd(p), newAuditExportCmd(p))
	cmd.Flags().IntVar(&opts.lineCount, "last", 50, "show the `NUMBER` newest records (0: all)")
	opts.filter.addFlags(cmd)
	cmd.Flags().BoolVar(&opts.json, "json", false, "print a JSON array, with one record per line")
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "print all fields of each record")
	return cmd
}

// runAudit reads the log files itself, so that `opentabs audit` works without a server.
func runAudit(_ context.Context, opts auditOptions) error {
	if opts.lineCount < 0 {
		return cli.NewUsageError("--last is %d: give it 0 or more", opts.lineCount)
	}
	p := opts.program
	auditEntries, damagedLines, err := readAudit(p, opts.filter, opts.lineCount)
	if err != nil {
		return err
	}
	if opts.json {
		lines := make([][]byte, len(auditEntries))
		for i, e := range auditEntries {
			lines[i] = e.Line
		}
		if err := terminal.PrintJSONList(p.Out, lines); err != nil {
			return err
		}
	}
	for _, e := range auditEntries {
		if opts.json {
			break
		}
		terminal.PrintWrapped(p.Out, "    ", auditview.Line(e.Record))
		if opts.verbose {
			for _, line := range auditview.Details(e.Record) {
				terminal.PrintWrapped(p.Out, "          ", "    "+line)
			}
		}
	}
	if len(auditEntries) == 0 {
		p.Out.Notef("%s", opts.filter.emptyResultText())
	}
	if damagedLines > 0 {
		p.Out.Notef("%s of the audit log cannot be read", terminal.CountNoun(damagedLines, "line"))
	}
	return nil
}

func readAudit(p *cli.Program, filter auditFilter, lineCount int) (auditEntries []audit.Entry, damagedLines int, err error) {
	isSelected, err := filter.selector()
	if err != nil {
		return nil, 0, err
	}
	dirs, err := p.MakeDirs()
	if err != nil {
		return nil, 0, err
	}
	return audit.Read(dirs.State, lineCount, isSelected)
}

type auditVerifyOptions struct {
	program *cli.Program
	json    bool
}

func newAuditVerifyCmd(p *cli.Program) *cobra.Command {
	opts := auditVerifyOptions{program: p}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that no record was changed or removed",
		Long: `Check the chain of the audit log: each record has the hash of the record before,
and a separate file has the hash of the last record. The first record that was
changed, removed or inserted is named, and the exit code is 1. Records of builds
before 2026-11-28, which had no chain, are counted, but cannot be checked.

A user who may write the files of opentabs can replace the whole log. To notice
that too, keep the output of opentabs audit export on another computer.`,
		Example: "  opentabs audit verify\n  opentabs audit verify --json",
		Args:    cli.LimitArgs(0),
		RunE:    func(*cobra.Command, []string) error { return runAuditVerify(opts) },
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

// errAuditChanged causes exit code 1 after `opentabs audit verify --json` has printed the
// problem.
var errAuditChanged = errors.New("the audit log is incomplete or was changed")

func runAuditVerify(opts auditVerifyOptions) error {
	p := opts.program
	dirs, err := p.MakeDirs()
	if err != nil {
		return err
	}
	v, err := audit.Verify(dirs.State)
	if err != nil {
		return err
	}
	if opts.json {
		if err := p.Out.PrintValue(v); err != nil {
			return err
		}
	} else {
		p.Out.PrintEscapedLines(auditview.VerificationLines(v)...)
	}
	if v.Problem != nil {
		return errAuditChanged
	}
	return nil
}

type auditExportOptions struct {
	program *cli.Program
	filter  auditFilter
}

func newAuditExportCmd(p *cli.Program) *cobra.Command {
	opts := auditExportOptions{program: p}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print all records as lines of JSON",
		Long: `Print all records, or those that the flags select, oldest first and one per
line. The lines are those of the files, with their numbers and hashes.`,
		Example: "  opentabs audit export >audit.jsonl\n  opentabs audit export --since 2026-11-01 --client claude-code | jq .tool",
		Args:    cli.LimitArgs(0),
		RunE:    func(*cobra.Command, []string) error { return runAuditExport(opts) },
	}
	opts.filter.addFlags(cmd)
	cmd.Flags().Bool("json", true, "print lines of JSON, which is the only format")
	return cmd
}

func runAuditExport(opts auditExportOptions) error {
	p := opts.program
	auditEntries, damagedLines, err := readAudit(p, opts.filter, 0)
	if err != nil {
		return err
	}
	for _, e := range auditEntries {
		if err := p.Out.PrintJSONLine(e.Line); err != nil {
			return err
		}
	}
	if damagedLines > 0 {
		p.Out.Notef("%s of the audit log cannot be read", terminal.CountNoun(damagedLines, "line"))
	}
	return nil
}
