package pluginview

import (
	"strings"

	"opentabs/browser"
	"opentabs/internal/httpapi"
	"opentabs/wire"
)

// PermissionRows returns the rows of a table that shows the permissions of plugins, beginning with the header row. If
// tool is not empty, the table of permissions has only the rows of the plugin and the given tool.
func PermissionRows(views []httpapi.PluginPermissions, tool string) [][]string {
	tableRows := [][]string{{"TOOL", "PERMISSION", "LIMIT", "SET BY", ""}}
	for _, view := range views {
		tableRows = append(tableRows, []string{view.Plugin, string(view.Permission), "", strings.TrimSpace(formatChangeOrigin(view.ChangeOrigin)), noteText(view)})
		for _, t := range view.Tools {
			if tool != "" && t.Name != tool {
				continue
			}
			originText := ""
			if t.PermissionOverride != "" {
				originText = strings.TrimSpace(formatChangeOrigin(t.ChangeOrigin))
			}
			var grants []string
			for _, g := range t.Grants {
				grants = append(grants, grantText(g))
			}
			tableRows = append(tableRows, []string{browser.FullName(view.Plugin, t.Name), string(t.Permission), t.Limit, originText, strings.Join(grants, "; ")})
		}
	}
	return tableRows
}

func noteText(view httpapi.PluginPermissions) string {
	switch {
	case !view.Reviewed && view.Review != nil:
		return "changed since its review: opentabs plugin review " + view.Plugin
	case !view.Reviewed:
		return "not reviewed: opentabs plugin review " + view.Plugin
	}
	var notes []string
	if view.MayOpenTab {
		notes = append(notes, "may open "+view.OpensURL)
	}
	if len(view.Calls) > 0 {
		notes = append(notes, "may call "+calledNames(view.Calls))
	}
	switch {
	case view.HasLateStartAccess:
		notes = append(notes, "late access")
	case view.StartsAfterPageScripts && len(view.Calls) > 0:
		notes = append(notes, "but not without late access")
	}
	return strings.Join(notes, "; ")
}

func grantText(g httpapi.Grant) string {
	grantDescription := "allowed until " + g.ExpiresAt.Local().Format("15:04:05")
	switch g.Scope {
	case wire.ScopeSession:
		grantDescription = "allowed for this session"
	case wire.ScopeAlways:
		grantDescription = "allowed always"
	}
	switch {
	case g.Caller != "" && g.Client != "":
		grantDescription += " to the plugin " + g.Caller + " for " + g.Client
	case g.Caller != "":
		grantDescription += " to the plugin " + g.Caller
	case g.Client != "":
		grantDescription += " to " + g.Client
	}
	return grantDescription + formatChangeOrigin(g.ChangeOrigin)
}
