// Package pluginview shows plugins in a terminal: whether they run, their tools, their
// reviews, and their permissions. pluginview removes unsafe control characters from the
// texts of plugins and agents.
package pluginview

import (
	"slices"
	"strings"

	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/plugin"
)

// Version returns the version, the display name and the number of tools of a plugin.
func Version(p *plugin.Plugin) string {
	return titleOf(p) + ", " + terminal.CountNoun(len(p.Tools), "tool")
}

func titleOf(p *plugin.Plugin) string {
	return terminal.SafeLine(p.Version) + " (" + terminal.SafeLine(p.DisplayName) + ")"
}

// Line describes a plugin in one line: its name and version, whether its tools run, and
// how it was installed.
func Line(p *plugin.Plugin, status httpapi.Plugin) string {
	return p.Name + " " + titleOf(p) + ", " + State(status) + ", " + sourceText(p)
}

// FailedLine describes a plugin that cannot be loaded, with the error, in one line.
func FailedLine(f httpapi.FailedPlugin) string {
	return terminal.SafeLine(f.Path) + " failed: " + terminal.SafeLine(f.Error)
}

func sourceText(p *plugin.Plugin) string {
	switch p.Source {
	case plugin.SourceNPM:
		return "installed from " + p.Package
	case plugin.SourceGlobal:
		return "installed with npm: " + p.Dir
	}
	return p.Dir
}

// ToolRows returns a table of a plugin's tools, without a header.
func ToolRows(p *plugin.Plugin) [][]string {
	tableRows := [][]string{}
	for _, t := range p.Tools {
		tableRows = append(tableRows, []string{t.FullName(), t.Description})
	}
	return tableRows
}

// State describes the permission of a plugin, and whether its tools can run now.
func State(p httpapi.Plugin) string {
	recommendationText := ""
	if p.Recommendation != nil {
		recommendationText = ", " + p.Recommendation.By + " recommends it"
	}
	stateLabel := string(p.Permission)
	switch {
	case p.HasChanged:
		stateLabel = "changed since it was reviewed (opentabs plugin review " + p.Name + ")" + recommendationText
	case !p.Reviewed:
		stateLabel = "not reviewed (opentabs plugin review " + p.Name + ")" + recommendationText
	case p.Fault != nil:
		stateLabel += ", failed: " + p.Fault.Text
	case len(p.MissingSettings) > 0:
		stateLabel = "needs settings: " + strings.Join(p.MissingSettings, ", ") + " (opentabs plugin configure " + p.Name + ")"
	default:
		if p.State != "" { // only a running server returns the state
			stateLabel += ", " + string(p.State)
		}
		if len(p.Calls) > 0 {
			stateLabel += ", may call " + strings.Join(p.Calls, " and ")
		}
		if p.HasLateStartAccess {
			stateLabel += ", late access"
		}
	}
	return terminal.SafeLine(stateLabel)
}

// DescribeChanges describes how the sites, tools and pre-scripts of two versions of a plugin
// differ.
func DescribeChanges(pluginBefore, pluginAfter *plugin.Plugin) []string {
	var changes []string
	addListChanges := func(description string, oldLines, newLines []string) {
		for _, field := range []struct {
			label                 string
			valueNames, oldValues []string
		}{{"new ", newLines, oldLines}, {"removed ", oldLines, newLines}} {
			newValues := slices.DeleteFunc(slices.Clone(field.valueNames), func(s string) bool { return slices.Contains(field.oldValues, s) })
			if len(newValues) > 0 {
				changes = append(changes, terminal.SafeLine(field.label+description+": "+strings.Join(newValues, ", ")))
			}
		}
	}
	addListChanges("sites", pluginBefore.Matches, pluginAfter.Matches)
	addListChanges("tools", toolNames(pluginBefore), toolNames(pluginAfter))
	if !pluginBefore.PreScript && pluginAfter.PreScript {
		changes = append(changes, "new pre-script, which runs before the page's own scripts")
	}
	return changes
}

func toolNames(p *plugin.Plugin) []string {
	var names []string
	for _, t := range p.Tools {
		names = append(names, t.FullName())
	}
	return names
}
