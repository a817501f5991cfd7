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
func PrintReview(terminalOut *terminal.Output, p *plugin.Plugin, permissionsNow httpapi.PluginPermissions) {
	terminalOut.PrintLine("%s %s", p.Name, titleOf(p))
	terminal.PrintWrapped(terminalOut, "", "  "+terminal.SafeLine(p.Description))
	for _, tableRow := range reviewRows(p, permissionsNow) { // not truncated, because the user decides on these facts
		terminal.PrintWrapped(terminalOut, "          ", fmt.Sprintf("  %-9s %s", tableRow[0], terminal.SafeLine(tableRow[1])))
	}
	terminalOut.PrintLine("%s:", terminal.Plural(len(p.Tools), "tool"))
	for i, t := range p.Tools {
		terminalOut.PrintLine("  %s%s%s", t.FullName(), claimsText(t.Annotations), ownText(permissionsNow.Tools[i]))
		terminal.PrintWrapped(terminalOut, "", "      "+terminal.SafeLine(t.Description))
	}
	if len(p.Prompts) > 0 {
		terminalOut.PrintLine("%s:", terminal.Plural(len(p.Prompts), "prompt"))
	}
	for _, prompt := range p.Prompts {
		terminalOut.PrintLine("  %s", prompt.FullName())
		terminal.PrintWrapped(terminalOut, "", "      "+terminal.SafeLine(prompt.Description))
	}
}

// ReviewHint returns a text for the user that states whether a newly added plugin's tools
// run. If the tools do not run, ReviewHint adds the command that enables them.
func ReviewHint(permissionsNow httpapi.PluginPermissions) string {
	const enableText = "; review and enable it with `opentabs plugin review "
	switch {
	case permissionsNow.Reviewed:
		return fmt.Sprintf("it has not changed since your review; its permission is %s", permissionsNow.Permission)
	case permissionsNow.Review != nil:
		return "it has changed since you reviewed it, so its tools do not run" + enableText + permissionsNow.Plugin + "`"
	}
	return "its tools do not run yet" + enableText + permissionsNow.Plugin + "`"
}

func reviewRows(p *plugin.Plugin, permissionsNow httpapi.PluginPermissions) [][2]string {
	rows := [][2]string{{"folder", p.Dir}, {"sites", strings.Join(p.Matches, " ")}}
	addRow := func(condition bool, name, value string) {
		if condition {
			rows = append(rows, [2]string{name, value})
		}
	}
	addRow(len(p.Excludes) > 0, "but not", strings.Join(p.Excludes, " "))
	addRow(true, "code", codeText(p))
	addRow(p.PreScript, "before it", "dist/pre-script.iife.js, which runs before all scripts of the page and in its frames")
	addRow(true, "world", plugin.WorldMeaning(p.World))
	addRow(permissionsNow.StartsLate && !permissionsNow.HasLateAccess, "late", plugin.LateStartMeaning)
	addRow(permissionsNow.StartsLate && permissionsNow.HasLateAccess, "late", plugin.LateStartMeaning+" You have allowed both.")
	addRow(true, "calls", callsText(permissionsNow))
	addRow(true, "hash", permissionsNow.Hash)
	addRow(true, "reviewed", reviewText(permissionsNow))
	if permissionsNow.Fault != nil {
		addRow(true, "failed", permissionsNow.Fault.Text)
	}
	if permissionsNow.Recommendation != nil {
		addRow(true, "advised", recommendationText(*permissionsNow.Recommendation))
	}
	return rows
}

func codeText(p *plugin.Plugin) string {
	path := filepath.Join(p.Dir, "dist", "adapter.iife.js")
	fileInfo, err := os.Stat(path)
	if err != nil {
		return path
	}
	return path + ", " + humanize.Bytes(int(fileInfo.Size()))
}

// If the plugin's content has changed since the review, callsText describes the calls that were allowed before the
// change.
func callsText(permissionsNow httpapi.PluginPermissions) string {
	switch {
	case len(permissionsNow.Calls) > 0:
		return "may call " + calledNames(permissionsNow.Calls)
	case len(permissionsNow.StoredCalls) > 0:
		return "none; before it changed it might call " + calledNames(permissionsNow.StoredCalls) + ", which you can allow again"
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

func reviewText(permissionsNow httpapi.PluginPermissions) string {
	r := permissionsNow.Review
	if r == nil {
		return "never"
	}
	description := "version " + r.Version + markText(r.ChangeOrigin)
	if permissionsNow.Reviewed {
		return description + fmt.Sprintf("; not changed since; its permission is %s", permissionsNow.Permission)
	}
	description += "; CHANGED SINCE"
	if r.Dir != "" {
		description += ", it was in " + r.Dir
	}
	if permissionsNow.Stored != "" {
		description += fmt.Sprintf("; its permission was %s", permissionsNow.Stored)
	}
	return description
}

func recommendationText(r httpapi.Recommendation) string {
	description := fmt.Sprintf("an agent%s recommends the permission %s; only you can enable the plugin", markText(r.ChangeOrigin), r.Permission)
	if r.Note != "" {
		description += fmt.Sprintf("; it writes: %q", r.Note)
	}
	return description
}

func markText(m httpapi.ChangeOrigin) string {
	description := ""
	if !m.At.IsZero() {
		description += " on " + m.At.Local().Format(time.DateTime)
	}
	if m.By != "" {
		description += " by " + m.By
	}
	return description
}

func claimsText(a plugin.Annotations) string {
	var claims []string
	for _, hint := range []struct {
		value  *bool
		claims string
	}{{a.ReadOnly, "only reads"}, {a.Destructive, "may destroy"}, {a.Idempotent, "may be repeated"}, {a.OpenWorld, "reaches others"}} {
		if hint.value != nil && *hint.value {
			claims = append(claims, hint.claims)
		}
	}
	if len(claims) == 0 {
		return ""
	}
	return "  (its author claims: " + strings.Join(claims, ", ") + ")"
}

func ownText(t httpapi.ToolPermissions) string {
	description := ""
	if t.OwnPermission != "" {
		description += "  " + terminal.SafeLine(string(t.OwnPermission))
	}
	if t.Limit != "" {
		description += "  limit " + terminal.SafeLine(t.Limit)
	}
	return description
}
