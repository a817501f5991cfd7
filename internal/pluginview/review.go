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
func PrintReview(terminalOut *terminal.Output, p *plugin.Plugin, currentPermissions httpapi.PluginPermissions) {
	terminalOut.PrintLine("%s %s", p.Name, titleOf(p))
	terminal.PrintWrapped(terminalOut, "", "  "+terminal.SafeLine(p.Description))
	for _, tableRow := range reviewRows(p, currentPermissions) { // not truncated, because the user decides on these facts
		terminal.PrintWrapped(terminalOut, "          ", fmt.Sprintf("  %-9s %s", tableRow[0], terminal.SafeLine(tableRow[1])))
	}
	terminalOut.PrintLine("%s:", terminal.CountNoun(len(p.Tools), "tool"))
	for i, t := range p.Tools {
		terminalOut.PrintLine("  %s%s%s", t.FullName(), formatAnnotations(t.Annotations), formatOwnPermission(currentPermissions.Tools[i]))
		terminal.PrintWrapped(terminalOut, "", "      "+terminal.SafeLine(t.Description))
	}
	if len(p.Prompts) > 0 {
		terminalOut.PrintLine("%s:", terminal.CountNoun(len(p.Prompts), "prompt"))
	}
	for _, prompt := range p.Prompts {
		terminalOut.PrintLine("  %s", prompt.FullName())
		terminal.PrintWrapped(terminalOut, "", "      "+terminal.SafeLine(prompt.Description))
	}
}

// ReviewHint returns a text for the user that states whether a newly added plugin's tools
// run. If the tools do not run, ReviewHint adds the command that enables them.
func ReviewHint(currentPermissions httpapi.PluginPermissions) string {
	const enableCommandHint = "; review and enable it with `opentabs plugin review "
	switch {
	case currentPermissions.Reviewed:
		return fmt.Sprintf("it has not changed since your review; its permission is %s", currentPermissions.Permission)
	case currentPermissions.Review != nil:
		return "it has changed since you reviewed it, so its tools do not run" + enableCommandHint + currentPermissions.Plugin + "`"
	}
	return "its tools do not run yet" + enableCommandHint + currentPermissions.Plugin + "`"
}

func reviewRows(p *plugin.Plugin, currentPermissions httpapi.PluginPermissions) [][2]string {
	rows := [][2]string{{"folder", p.Dir}, {"sites", strings.Join(p.Matches, " ")}}
	addRow := func(shouldAdd bool, name, value string) {
		if shouldAdd {
			rows = append(rows, [2]string{name, value})
		}
	}
	addRow(len(p.Excludes) > 0, "but not", strings.Join(p.Excludes, " "))
	addRow(true, "code", describeCode(p))
	addRow(p.PreScript, "before it", "dist/pre-script.iife.js, which runs before all scripts of the page and in its frames")
	addRow(true, "world", plugin.DescribeWorld(p.World))
	addRow(currentPermissions.StartsAfterPageScripts && !currentPermissions.HasLateStartAccess, "late", plugin.LateStartDescription)
	addRow(currentPermissions.StartsAfterPageScripts && currentPermissions.HasLateStartAccess, "late", plugin.LateStartDescription+" You have allowed both.")
	addRow(true, "calls", formatCallRights(currentPermissions))
	addRow(true, "hash", currentPermissions.Hash)
	addRow(true, "reviewed", reviewText(currentPermissions))
	if currentPermissions.Fault != nil {
		addRow(true, "failed", currentPermissions.Fault.Text)
	}
	if currentPermissions.Recommendation != nil {
		addRow(true, "advised", recommendationText(*currentPermissions.Recommendation))
	}
	return rows
}

func describeCode(p *plugin.Plugin) string {
	path := filepath.Join(p.Dir, "dist", "adapter.iife.js")
	fileInfo, err := os.Stat(path)
	if err != nil {
		return path
	}
	return path + ", " + humanize.Bytes(int(fileInfo.Size()))
}

// If the plugin's content has changed since the review, formatCallRights describes the calls that were allowed before the
// change.
func formatCallRights(currentPermissions httpapi.PluginPermissions) string {
	switch {
	case len(currentPermissions.Calls) > 0:
		return "may call " + calledNames(currentPermissions.Calls)
	case len(currentPermissions.StoredCalls) > 0:
		return "none; before it changed it might call " + calledNames(currentPermissions.StoredCalls) + ", which you can allow again"
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

func reviewText(currentPermissions httpapi.PluginPermissions) string {
	r := currentPermissions.Review
	if r == nil {
		return "never"
	}
	description := "version " + r.Version + formatChangeOrigin(r.ChangeOrigin)
	if currentPermissions.Reviewed {
		return description + fmt.Sprintf("; not changed since; its permission is %s", currentPermissions.Permission)
	}
	description += "; CHANGED SINCE"
	if r.Dir != "" {
		description += ", it was in " + r.Dir
	}
	if currentPermissions.StoredPermission != "" {
		description += fmt.Sprintf("; its permission was %s", currentPermissions.StoredPermission)
	}
	return description
}

func recommendationText(r httpapi.Recommendation) string {
	description := fmt.Sprintf("an agent%s recommends the permission %s; only you can enable the plugin", formatChangeOrigin(r.ChangeOrigin), r.Permission)
	if r.Note != "" {
		description += fmt.Sprintf("; it writes: %q", r.Note)
	}
	return description
}

func formatChangeOrigin(m httpapi.ChangeOrigin) string {
	description := ""
	if !m.At.IsZero() {
		description += " on " + m.At.Local().Format(time.DateTime)
	}
	if m.By != "" {
		description += " by " + m.By
	}
	return description
}

func formatAnnotations(a plugin.Annotations) string {
	var annotationTexts []string
	for _, hint := range []struct {
		value     *bool
		claimText string
	}{{a.ReadOnly, "only reads"}, {a.Destructive, "may destroy"}, {a.Idempotent, "may be repeated"}, {a.OpenWorld, "reaches others"}} {
		if hint.value != nil && *hint.value {
			annotationTexts = append(annotationTexts, hint.claimText)
		}
	}
	if len(annotationTexts) == 0 {
		return ""
	}
	return "  (its author claims: " + strings.Join(annotationTexts, ", ") + ")"
}

func formatOwnPermission(t httpapi.ToolPermissions) string {
	description := ""
	if t.PermissionOverride != "" {
		description += "  " + terminal.SafeLine(string(t.PermissionOverride))
	}
	if t.Limit != "" {
		description += "  limit " + terminal.SafeLine(t.Limit)
	}
	return description
}
