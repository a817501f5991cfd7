package settingsform

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"opentabs/wire"
)

// Rows returns a table of settings for the user. The first row of the table contains the
// column names. For a secret setting, the row shows only whether the setting has a value.
func Rows(views []wire.SettingView) [][]string {
	tableRows := [][]string{{"KEY", "TYPE", "VALUE", "MEANING"}}
	for _, v := range views {
		kind := string(v.Type)
		if v.Required {
			kind += ", required"
		}
		tableRows = append(tableRows, []string{v.Key, kind, valueText(v), v.Label})
	}
	return tableRows
}

func valueText(v wire.SettingView) string {
	var displayValue string
	var urls map[string]string
	switch {
	case !v.IsSet:
		return "(not set)"
	case v.Secret && v.IsWithheld:
		return "(set, not shown; not given to the plugin, which starts late)"
	case v.Secret:
		return "(set, not shown)"
	case json.Unmarshal(v.Value, &displayValue) == nil:
		return displayValue
	case v.Type == wire.SettingURL && json.Unmarshal(v.Value, &urls) == nil:
		var shownTexts []string
		for _, name := range slices.Sorted(maps.Keys(urls)) {
			shownTexts = append(shownTexts, name+"="+urls[name])
		}
		return strings.Join(shownTexts, " ")
	}
	return string(v.Value)
}

// Summary lists the changed settings for the user, and warns of missing required settings.
// The argument views contains the settings as they are after the change.
func (f *Form) Summary(views []wire.SettingView) []string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(f.Changes)) {
		changeText := "is set"
		if string(f.Changes[key]) == "null" {
			changeText = "is removed"
		}
		lines = append(lines, fmt.Sprintf("%s of %s %s", key, f.Plugin, changeText))
	}
	if len(f.Changes) == 0 {
		lines = append(lines, "nothing has changed")
	}
	for _, v := range views {
		if v.IsWithheld && v.IsSet && string(f.Changes[v.Key]) != "" {
			lines = append(lines, fmt.Sprintf("%s does not get %s, which is secret, because it starts after the page's scripts: allow it with `opentabs plugin permission %[1]s --late-access on`", f.Plugin, v.Key))
		}
		if v.Required && !v.IsSet {
			lines = append(lines, fmt.Sprintf("%s needs %s (%s) before its tools run", f.Plugin, v.Key, v.Label))
		}
	}
	return lines
}
