package plugin

import (
	"slices"
	"strings"

	"opentabs/wire"
)

// settingTypes are the types a setting may have.
var settingTypes = []string{"url", "string", "number", "boolean", "select"}

// Setting is one thing that a person can set for a plugin.
type Setting struct {
	Key         string
	Type        wire.SettingType
	Label       string
	Description string
	Placeholder string
	Required    bool
	// Options are what a select may be; other types have none.
	Options []string
}

// parseConfigSchema checks the description of the plugin's settings. Without
// URL patterns a plugin needs a required url setting, which then names its tabs.
func parseConfigSchema(top *fields, p *Plugin) {
	namesTabs := false
	if config := top.object("configSchema"); config != nil {
		for _, key := range sortedKeys(config.member) {
			if s := config.object(key); s != nil {
				setting := parseSetting(s)
				setting.Key = key
				p.Settings = append(p.Settings, setting)
				namesTabs = namesTabs || setting.Required && setting.Type == wire.SettingURL
			} else if !config.has(key) {
				config.add(key, "is null; describe the setting or leave it out")
			}
		}
	}
	if p.Matches != nil && len(p.Matches) == 0 && !namesTabs {
		top.to.list = append(top.to.list, Problem{File: packageFile,
			Text: "opentabs.urlPatterns is empty; list the sites the plugin works on, or give it a required setting of type url"})
	}
}

func parseSetting(s *fields) Setting {
	kind := s.text("type", "use one of "+strings.Join(settingTypes, ", "))
	if kind != "" && !slices.Contains(settingTypes, kind) {
		s.add("type", "is %q; use one of %s", kind, strings.Join(settingTypes, ", "))
	}
	setting := Setting{
		Type: wire.SettingType(kind), Label: s.text("label", "give the setting a name for people"),
		Description: s.optional("description"), Placeholder: s.optional("placeholder"),
	}
	required := s.flag("required")
	setting.Required = required != nil && *required
	options := s.strings("options")
	if setting.Type == wire.SettingSelect {
		setting.Options = options
		if len(options) == 0 {
			s.add("options", "has nothing to choose from; list at least one string")
		}
	}
	return setting
}

func sortedKeys(m map[string][]byte) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
