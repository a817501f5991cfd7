package pluginview

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"opentabs/internal/httpapi"
	"opentabs/internal/humanize"
	"opentabs/internal/terminal"
	"opentabs/plugin"
)

// PrintReview prints the facts about a plugin that the user should read before enabling
// it.
func PrintReview(out *terminal.Output, p *plugin.Plugin, now httpapi.PluginPermissions) {
	out.PrintLine("%s %s", p.Name, titleOf(p))
	terminal.PrintWrapped(out, "", "  "+terminal.SafeLine(p.Description))
	for _, row := range reviewRows(p, now) { // the rows are not truncated, because the user decides on these facts
		terminal.PrintWrapped(out, "          ", fmt.Sprintf("  %-9s %s", row[0], terminal.SafeLine(row[1])))
	}
	out.PrintLine("%s:", terminal.Plural(len(p.Tools), "tool"))
	for i, t := range p.Tools {
		out.PrintLine("  %s%s%s", t.FullName(), claimsText(t.Annotations), ownText(now.Tools[i]))
		terminal.PrintWrapped(out, "", "      "+terminal.SafeLine(t.Description))
	}
	if len(p.Prompts) > 0 {
		out.PrintLine("%s:", terminal.Plural(len(p.Prompts), "prompt"))
	}
	for _, prompt := range p.Prompts {
		out.PrintLine("  %s", prompt.FullName())
		terminal.PrintWrapped(out, "", "      "+terminal.SafeLine(prompt.Description))
	}
}

// ReviewHint returns a text for the user that states whether a newly added plugin's tools
// run. If the tools do not run, ReviewHint adds the command that enables them.
func ReviewHint(now httpapi.PluginPermissions) string {
	const enableText = "; review and enable it with `opentabs plugin review "
	switch {
	case now.Reviewed:
		return fmt.Sprintf("it has not changed since your review; its permission is %s", now.Permission)
	case now.Review != nil:
		return "it has changed since you reviewed it, so its tools do not run" + enableText + now.Plugin + "`"
	}
	return "its tools do not run yet" + enableText + now.Plugin + "`"
}

func reviewRows(p *plugin.Plugin, now httpapi.PluginPermissions) [][2]string {
	rows := [][2]string{{"folder", p.Dir}, {"sites", strings.Join(p.Matches, " ")}}
	add := func(condition bool, name, value string) {
		if condition {
			rows = append(rows, [2]string{name, value})
		}
	}
	add(len(p.Excludes) > 0, "but not", strings.Join(p.Excludes, " "))
	add(true, "code", codeText(p))
	add(p.PreScript, "before it", "dist/pre-script.iife.js, which runs before all scripts of the page and in its frames")
	add(true, "world", plugin.WorldMeaning(p.World))
	add(now.StartsLate && !now.HasLateAccess, "late", plugin.LateStartMeaning)
	add(now.StartsLate && now.HasLateAccess, "late", plugin.LateStartMeaning+" You have allowed both.")
	add(true, "calls", callsText(now))
	add(true, "hash", now.Hash)
	add(true, "reviewed", reviewText(now))
	if now.Fault != nil {
		add(true, "failed", now.Fault.Text)
	}
	if now.Recommendation != nil {
		add(true, "advised", recommendationText(*now.Recommendation))
	}
	return rows
}

func codeText(p *plugin.Plugin) string {
	path := filepath.Join(p.Dir, "dist", "adapter.iife.js")
	info, err := os.Stat(path)
	if err != nil {
		return path
	}
	return path + ", " + humanize.Bytes(int(info.Size()))
}

// If the plugin's content has changed since the review, callsText describes the calls that were allowed before the
// change.
func callsText(now httpapi.PluginPermissions) string {
	switch {
	case len(now.Calls) > 0:
		return "may call " + calledNames(now.Calls)
	case len(now.StoredCalls) > 0:
		return "none; before it changed it might call " + calledNames(now.StoredCalls) + ", which you can allow again"
	}
	return "no other plugin, unless you allow it"
}

func calledNames(calls []httpapi.AllowedCall) string {
	var names []string
	for _, call := range calls {
		names = append(names, call.Plugin)
	}
	return strings.Join(names, ", ")
}

func reviewText(now httpapi.PluginPermissions) string {
	r := now.Review
	if r == nil {
		return "never"
	}
	text := "version " + r.Version + markText(r.ChangeOrigin)
	if now.Reviewed {
		return text + fmt.Sprintf("; not changed since; its permission is %s", now.Permission)
	}
	text += "; CHANGED SINCE"
	if r.Dir != "" {
		text += ", it was in " + r.Dir
	}
	if now.Stored != "" {
		text += fmt.Sprintf("; its permission was %s", now.Stored)
	}
	return text
}

func recommendationText(r httpapi.Recommendation) string {
	text := fmt.Sprintf("an agent%s recommends the permission %s; only you can enable the plugin", markText(r.ChangeOrigin), r.Permission)
	if r.Note != "" {
		text += fmt.Sprintf("; it writes: %q", r.Note)
	}
	return text
}

func markText(m httpapi.ChangeOrigin) string {
	text := ""
	if !m.At.IsZero() {
		text += " on " + m.At.Local().Format(time.DateTime)
	}
	if m.By != "" {
		text += " by " + m.By
	}
	return text
}

func claimsText(a plugin.Annotations) string {
	var claims []string
	for _, hint := range []struct {
		value *bool
		text  string
	}{{a.ReadOnly, "only reads"}, {a.Destructive, "may destroy"}, {a.Idempotent, "may be repeated"}, {a.OpenWorld, "reaches others"}} {
		if hint.value != nil && *hint.value {
			claims = append(claims, hint.text)
		}
	}
	if len(claims) == 0 {
		return ""
	}
	return "  (its author claims: " + strings.Join(claims, ", ") + ")"
}

func ownText(t httpapi.ToolPermissions) string {
	text := ""
	if t.OwnPermission != "" {
		text += "  " + terminal.SafeLine(string(t.OwnPermission))
	}
	if t.Limit != "" {
		text += "  limit " + terminal.SafeLine(t.Limit)
	}
	return text
}
