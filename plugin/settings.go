package plugin

import (
	"bytes"
	"slices"
	"strings"
)

// settingTypes are the types a setting may have.
var settingTypes = []string{"url", "string", "number", "boolean", "select"}

// parseConfigSchema checks the description of the plugin's settings. Without
// URL patterns a plugin needs a required url setting, which then names its tabs.
func parseConfigSchema(top *fields, p *Plugin) {
	namesTabs := false
	if config := top.object("configSchema"); config != nil {
		p.ConfigSchema = bytes.Clone(top.member["configSchema"])
		for _, key := range sortedKeys(config.member) {
			if s := config.object(key); s != nil {
				required := checkSetting(s)
				namesTabs = namesTabs || required
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

// checkSetting checks one setting; it reports whether it is a url that the
// person has to give.
func checkSetting(s *fields) bool {
	kind := s.text("type", "use one of "+strings.Join(settingTypes, ", "))
	if kind != "" && !slices.Contains(settingTypes, kind) {
		s.add("type", "is %q; use one of %s", kind, strings.Join(settingTypes, ", "))
	}
	s.text("label", "give the setting a name for people")
	s.optional("description")
	s.optional("placeholder")
	required := s.flag("required")
	options := s.strings("options")
	if kind == "select" && len(options) == 0 {
		s.add("options", "has nothing to choose from; list at least one string")
	}
	return kind == "url" && required != nil && *required
}

func sortedKeys(m map[string][]byte) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
