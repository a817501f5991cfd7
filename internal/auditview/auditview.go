// Package auditview formats records of the audit log for a terminal. Control characters
// in the text of tools, pages and clients are escaped, so that the text cannot manipulate
// the terminal.
package auditview

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"opentabs/internal/audit"
	"opentabs/internal/callview"
	"opentabs/internal/humanize"
	"opentabs/internal/terminal"
)

const browserPrefix = "browser_"

// Line formats a record of the audit log as one line: the time, the tool and the event,
// such as "2026-05-04 03:02:01 messages__send denied by the side panel".
func Line(r audit.Record) string {
	line := r.Time.Local().Format(time.DateTime) + "  "
	if r.Tool != "" {
		line += terminal.SafeLine(r.Tool) + "  "
	}
	if strings.HasPrefix(r.Tool, browserPrefix) && r.Origin != "" {
		line += terminal.SafeLine(r.Origin) + "  "
	}
	return line + terminal.SafeLine(eventText(r))
}

func eventText(r audit.Record) string {
	isAllowed := r.Allow != nil && *r.Allow
	switch r.Kind {
	case audit.KindCall:
		return callText(r)
	case audit.KindDecision:
		decisionText := "denied"
		if isAllowed {
			decisionText = "allowed " + callview.ScopeText(r.Scope, time.Duration(r.DurationMs)*time.Millisecond)
		}
		return decisionText + callerText(r) + " by " + r.By
	case audit.KindAnswer:
		return "waited for the user: " + chooseText(isAllowed, "yes", "no") + " by " + r.By
	case audit.KindReview:
		return "reviewed with the permission " + r.New + " by " + r.By
	case audit.KindPermission, audit.KindLimit:
		return fmt.Sprintf("%s %s, was %s, by %s", r.Kind, cmp.Or(r.New, "default"), cmp.Or(r.Old, "default"), r.By)
	case audit.KindSite:
		return fmt.Sprintf("browser tools %s, was %s, by %s", cmp.Or(r.New, "default"), cmp.Or(r.Old, "default"), r.By)
	case audit.KindTabOpening:
		return chooseText(r.New == "", "tabs may not be opened any more", "calls may open "+r.New) + ", by " + r.By
	case audit.KindCalls:
		return chooseText(r.New == "", "may not call "+r.Old+" any more", "may call "+r.New) + ", by " + r.By
	case audit.KindLateAccess:
		return "late access " + chooseText(r.New != "", "on", "off") + ", by " + r.By
	case audit.KindSettings:
		return chooseText(r.New == "", "all settings removed", "settings changed ("+r.New+")") + " by " + r.By
	case audit.KindRecommendation:
		return fmt.Sprintf("an agent (%s) recommends the permission %s", r.By, r.New)
	case audit.KindClient:
		return fmt.Sprintf("the token of the client %s was %s by %s", r.Client, r.New, r.By)
	case audit.KindForget:
		return "removed by " + r.By
	case audit.KindLog:
		logText := fmt.Sprintf("logged (%s) %s", r.Level, r.Message)
		if r.Dropped > 0 {
			logText += fmt.Sprintf(" (and %d more before it)", r.Dropped)
		}
		return logText
	case audit.KindDropped:
		return terminal.CountNoun(r.Dropped, "event") + " could not be recorded"
	}
	return string(r.Kind)
}

func chooseText(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

func callText(r audit.Record) string {
	statusText := string(r.Status)
	if r.ErrorCode != "" && string(r.ErrorCode) != string(r.Status) {
		statusText += fmt.Sprintf(" (%s)", r.ErrorCode)
	}
	total := time.Duration(r.RanMs * float64(time.Millisecond))
	if !r.CreatedAt.IsZero() { // the total includes the time in which the call waited for the user
		total = max(total, r.EndedAt.Sub(r.CreatedAt))
	}
	statusText += " after " + humanize.Duration(total) + callerText(r)
	if a := r.Approval; a != nil {
		statusText += ", allowed " + callview.ScopeText(a.Scope, 0)
		if a.By != "" {
			statusText += " by " + a.By
		}
	}
	return statusText
}

func callerText(r audit.Record) string {
	client := r.ToClient().String()
	switch {
	case r.Caller == nil && (client == "" || r.Kind == audit.KindDecision):
		return ""
	case r.Caller == nil:
		return ", called by " + client
	case client == "":
		return ", called by " + callview.CallerText(r.Caller)
	}
	return ", called by " + callview.CallerText(r.Caller) + " for " + client
}

// Details returns the fields of an audit record that [Line] does not show, one line per
// field.
func Details(r audit.Record) []string {
	var lines []string
	addLine := func(name, value string) {
		if value != "" && value != "0" {
			lines = append(lines, fmt.Sprintf("%-9s %s", name, terminal.SafeLine(value)))
		}
	}
	addLine("call", r.CallID)
	addLine("parent", r.ParentCallID)
	addLine("session", r.Session)
	addLine("origin", r.Origin)
	addLine("browser", cmp.Or(r.BrowserName, r.Browser))
	addLine("tab", fmt.Sprint(r.TabID))
	addLine("hash", r.Hash)
	addLine("reason", r.Reason)
	addLine("stopped", string(r.StopOutcome))
	addLine("reports", fmt.Sprint(r.ReportCount))
	addLine("audience", r.Audience)
	if r.Approval != nil && !r.Approval.At.IsZero() {
		addLine("allowed", r.Approval.At.Local().Format(time.DateTime))
	}
	for _, d := range r.Decisions {
		answerText, requestedBy := "no", "asked by the tool"
		if d.Allow {
			answerText = "yes, " + callview.ScopeText(d.Scope, 0)
		}
		if d.RequestReason != "" {
			requestedBy = "asked for its " + d.RequestReason
		}
		addLine("decided", fmt.Sprintf("%s %s by %s (%s)", d.At.Local().Format(time.TimeOnly), answerText, d.By, requestedBy))
	}
	for _, m := range r.LastMessages {
		addLine("message", fmt.Sprintf("%s (%s) %s", m.Time.Local().Format(time.TimeOnly), cmp.Or(m.Audience, "internal"), m.Message))
	}
	return lines
}

// VerificationLines describes the result of [audit.Verify] for the user, in one or more
// lines.
func VerificationLines(v audit.Verification) []string {
	lines := []string{fmt.Sprintf("%s in %s checked", terminal.CountNoun(v.Lines, "record"), terminal.CountNoun(v.Files, "file"))}
	if v.LinesBeforeChain > 0 {
		beforeClause := ""
		if !v.FirstTime.IsZero() {
			beforeClause = " before " + v.FirstTime.Local().Format(time.DateTime)
		}
		lines = append(lines, fmt.Sprintf("%s not protected: an early build of opentabs wrote records without numbers, so a change cannot be noticed",
			terminal.CountWithVerb(v.LinesBeforeChain, "record"+beforeClause+" is", "records"+beforeClause+" are")))
	}
	switch {
	case v.Problem != nil:
	case v.Lines+v.LinesBeforeChain == 0:
		return append(lines, "the audit log is empty")
	case v.Lines == 0:
		return lines
	case v.LinesBeforeChain > 0:
		return append(lines, "no checked record was changed or removed")
	default:
		return append(lines, "no record was changed or removed")
	}
	locationText := v.Problem.File
	if v.Problem.Line > 0 {
		locationText += fmt.Sprintf(":%d", v.Problem.Line)
	}
	return append(lines, terminal.SafeLine(locationText)+": "+strings.ToLower(v.Problem.Text[:1])+v.Problem.Text[1:])
}
