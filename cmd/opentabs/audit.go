package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opentabs/dispatch"
	"opentabs/internal/audit"
	"opentabs/internal/callview"
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
  opentabs audit --last 10 --tool messages__export --verbose
  opentabs audit --json --last 0 | jq 'select(.kind == "decision")'`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runAudit(cmd.Context(), opts) },
	}
	cmd.Flags().IntVar(&opts.last, "last", 50, "how many records to show (0 for all)")
	cmd.Flags().StringVar(&opts.tool, "tool", "", "only records of this `TOOL`, or of all tools of this plugin")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print one JSON object per line")
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "print all fields of each record")
	return cmd
}

// runAudit prints the audit log. It reads the files, so that it works without a server.
func runAudit(_ context.Context, opts auditOptions) error {
	if opts.last < 0 {
		return usage("--last is %d: give it 0 or more", opts.last)
	}
	p := opts.program
	dirs, err := p.dirs()
	if err != nil {
		return err
	}
	entries, damaged, err := audit.Read(dirs.State, opts.last, func(r audit.Record) bool {
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
		p.out.PrintLine("%s", auditLine(e.Record))
		if opts.verbose {
			for _, line := range auditDetails(e.Record) {
				p.out.PrintLine("    %s", line)
			}
		}
	}
	if len(entries) == 0 {
		p.out.Notef("nothing is recorded yet")
	}
	if damaged > 0 {
		p.out.Notef("%s of the record cannot be read", terminal.Plural(damaged, "line"))
	}
	return nil
}

// auditLine returns a record as one line.
func auditLine(r audit.Record) string {
	head := r.Time.Local().Format(time.DateTime) + "  " + terminal.SafeLine(r.Tool)
	switch r.Kind {
	case audit.KindCall:
		return head + callText(r)
	case audit.KindDecision:
		text := "denied"
		if r.Allow != nil && *r.Allow {
			text = "allowed " + callview.ScopeText(r.Scope, time.Duration(r.ForMs)*time.Millisecond)
		}
		return fmt.Sprintf("%s  %s%s by %s", head, text, callerText(r), terminal.SafeLine(r.By))
	case audit.KindAnswer:
		text := "no"
		if r.Allow != nil && *r.Allow {
			text = "yes"
		}
		return fmt.Sprintf("%s  waited for the user: %s by %s", head, text, terminal.SafeLine(r.By))
	case audit.KindReview:
		return fmt.Sprintf("%s  reviewed with the permission %s by %s", head, terminal.SafeLine(r.New), terminal.SafeLine(r.By))
	case audit.KindPermission, audit.KindLimit:
		return fmt.Sprintf("%s  %s %s, was %s, by %s", head, r.Kind, orDefault(r.New), orDefault(r.Old), terminal.SafeLine(r.By))
	case audit.KindOpening:
		if r.New == "" {
			return fmt.Sprintf("%s  tabs may not be opened any more, by %s", head, terminal.SafeLine(r.By))
		}
		return fmt.Sprintf("%s  calls may open %s, by %s", head, terminal.SafeLine(r.New), terminal.SafeLine(r.By))
	case audit.KindCalls:
		if r.New == "" {
			return fmt.Sprintf("%s  may not call %s any more, by %s", head, terminal.SafeLine(r.Old), terminal.SafeLine(r.By))
		}
		return fmt.Sprintf("%s  may call %s, by %s", head, terminal.SafeLine(r.New), terminal.SafeLine(r.By))
	case audit.KindLateAccess:
		return fmt.Sprintf("%s  late access %s, by %s", head, onOff(r.New != ""), terminal.SafeLine(r.By))
	case audit.KindSettings:
		if r.New == "" {
			return fmt.Sprintf("%s  all settings removed by %s", head, terminal.SafeLine(r.By))
		}
		return fmt.Sprintf("%s  settings changed (%s) by %s", head, terminal.SafeLine(r.New), terminal.SafeLine(r.By))
	case audit.KindRecommendation:
		return fmt.Sprintf("%s  an agent (%s) recommends the permission %s", head, terminal.SafeLine(r.By), terminal.SafeLine(r.New))
	case audit.KindClient:
		return fmt.Sprintf("%sthe token of the client %s was %s by %s", head, terminal.SafeLine(r.Client), terminal.SafeLine(r.New), terminal.SafeLine(r.By))
	case audit.KindForget:
		return fmt.Sprintf("%s  removed by %s", head, terminal.SafeLine(r.By))
	case audit.KindLog:
		text := fmt.Sprintf("%s  logged (%s) %s", head, terminal.SafeLine(string(r.Level)), terminal.SafeLine(r.Message))
		if r.Dropped > 0 {
			text += fmt.Sprintf(" (and %d more before it)", r.Dropped)
		}
		return text
	case audit.KindDropped:
		return fmt.Sprintf("%s%s could not be recorded", head, terminal.Plural(r.Dropped, "event"))
	}
	return head + "  " + terminal.SafeLine(string(r.Kind))
}

// callText returns how a call ended: its status, its time, its caller, and its approval.
func callText(r audit.Record) string {
	text := "  " + terminal.SafeLine(string(r.Status))
	if r.Code != "" && string(r.Code) != string(r.Status) {
		text += fmt.Sprintf(" (%s)", terminal.SafeLine(string(r.Code)))
	}
	text += " after " + terminal.Elapsed(time.Duration(r.RanMs*float64(time.Millisecond)))
	text += callerText(r)
	if a := r.Approved; a != nil {
		text += ", allowed " + callview.ScopeText(a.Scope, 0)
		if a.By != "" {
			text += " by " + terminal.SafeLine(a.By)
		}
	}
	return text
}

// callerText names who made a call: the client, or the calling tool with its tab
// and site, and the client that it works for.
func callerText(r audit.Record) string {
	by := r.Caller
	client := dispatch.View{Client: r.Client, ClientVia: r.ClientVia, ClientClaims: r.ClientClaims}.Who().String()
	switch {
	case by == nil && (client == "" || r.Kind == audit.KindDecision):
		return ""
	case by == nil:
		return ", called by " + terminal.SafeLine(client)
	}
	text := ", called by " + terminal.SafeLine(callview.CallerText(by))
	if client != "" {
		text += " for " + terminal.SafeLine(client)
	}
	return text
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func orDefault(text string) string {
	if text == "" {
		return "default"
	}
	return terminal.SafeLine(text)
}

// auditDetails returns the other fields of a record, one per line.
func auditDetails(r audit.Record) []string {
	var lines []string
	fact := func(name, value string) {
		if value != "" && value != "0" {
			lines = append(lines, fmt.Sprintf("%-9s %s", name, terminal.SafeLine(value)))
		}
	}
	fact("call", r.CallID)
	fact("parent", r.Parent)
	fact("session", r.Session)
	fact("origin", r.Origin)
	fact("browser", r.Browser)
	fact("tab", fmt.Sprint(r.Tab))
	fact("hash", r.Hash)
	fact("reason", r.Reason)
	fact("stopped", string(r.Stopped))
	fact("reports", fmt.Sprint(r.Reports))
	fact("audience", r.Audience)
	if r.Approved != nil && !r.Approved.At.IsZero() {
		fact("allowed", r.Approved.At.Local().Format(time.DateTime))
	}
	for _, d := range r.Decisions {
		text := "no"
		if d.Allow {
			text = "yes, " + callview.ScopeText(d.Scope, 0)
		}
		asked := "asked by the tool"
		if d.Asked != "" {
			asked = "asked for its " + d.Asked
		}
		fact("decided", fmt.Sprintf("%s %s by %s (%s)", d.At.Local().Format(time.TimeOnly), text, d.By, asked))
	}
	for _, s := range r.LastMessages {
		audience := s.Audience
		if audience == "" {
			audience = "internal"
		}
		fact("message", fmt.Sprintf("%s (%s) %s", s.Time.Local().Format(time.TimeOnly), audience, s.Message))
	}
	return lines
}
