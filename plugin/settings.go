package plugin

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"opentabs/internal/jsonread"
	"opentabs/internal/lazyregexp"
	"opentabs/internal/plaintext"
	"opentabs/wire"
)

var settingTypes = []string{"url", "string", "number", "boolean", "select"}

const (
	// maxSettings is the maximum number of settings of a plugin. maxOptions is the
	// maximum number of options of a "select" setting. The settings are limited because
	// the side panel and clients receive all settings of a plugin with every update.
	maxSettings = 100
	maxOptions  = 500
	// maxSettingTextChars is the maximum length of a setting's label, description and other
	// texts, in characters.
	maxSettingTextChars = 1000
)

// maxSettingKeyChars is the maximum length of a setting's key, in characters.
const maxSettingKeyChars = 100

// A setting's key must not contain "=", because the command line uses KEY=VALUE. isSettingKey uses no regular
// expression, because one for all Unicode letters would need 4 MB.
func isSettingKey(key string) bool {
	for i, r := range key {
		if !unicode.In(r, unicode.L, unicode.N) && r != '_' && r != '$' && (i == 0 || !strings.ContainsRune(".:/ -", r)) {
			return false
		}
	}
	return key != "" && utf8.RuneCountInString(key) <= maxSettingKeyChars
}

// Setting describes a setting that the plugin's author declares and whose value the user
// sets.
type Setting struct {
	Key         string
	Type        wire.SettingType
	Label       string
	Description string
	Placeholder string
	Required    bool
	// DeclaredSecret is the value of the field "secret" with which the author marks the
	// setting in the package; nil if the field is absent. See [Setting.IsSecret].
	DeclaredSecret *bool
	// The field Options contains the allowed values of a "select" setting. If the setting
	// has another type, Options is empty.
	Options []string
}

var secretKeyPattern = lazyregexp.New(`(?i)key|token|passw|passphrase|secret|credential|cookie|auth`)

// IsSecret reports whether opentabs hides the setting's value from surfaces and from
// restricted plugins. The author can mark a setting as secret or not secret in the plugin
// package. If the author has not marked a string setting, the setting is secret if its
// key contains a word such as "token" or "password".
func (s Setting) IsSecret() bool {
	if s.DeclaredSecret != nil {
		return *s.DeclaredSecret
	}
	return s.Type == wire.SettingString && secretKeyPattern().MatchString(s.Key)
}

// A plugin without URL patterns needs a required url setting.
func parseConfigSchema(manifestReader *jsonread.Reader, p *Plugin) {
	hasBrowserSettings := false
	if config := manifestReader.Object("configSchema"); config != nil {
		if n := len(config.Members); n > maxSettings {
			manifestReader.Add("configSchema", "has %d settings; use at most %d", n, maxSettings)
			return
		}
		for _, key := range slices.Sorted(maps.Keys(config.Members)) {
			if !isSettingKey(key) || key == "__proto__" {
				manifestReader.Add("configSchema", "has a setting called %q; use up to 100 letters, digits, _, - and dots", plaintext.Shorten(key))
			} else if s := config.Object(key); s != nil {
				setting := parseSetting(s)
				setting.Key = key
				p.Settings = append(p.Settings, setting)
				hasBrowserSettings = hasBrowserSettings || setting.Required && setting.Type == wire.SettingURL
			} else if !config.Has(key) {
				config.Add(key, "is null; describe the setting or leave it out")
			}
		}
	}
	if p.Matches != nil && len(p.Matches) == 0 && !hasBrowserSettings {
		manifestReader.Problems.List = append(manifestReader.Problems.List, jsonread.Problem{File: packageFile,
			Text: "opentabs.urlPatterns is empty; list the sites the plugin works on, or give it a required setting of type url"})
	}
}

func parseSetting(s *jsonread.Reader) Setting {
	kind := s.Text("type", "use one of "+strings.Join(settingTypes, ", "))
	if kind != "" && !slices.Contains(settingTypes, kind) {
		s.Add("type", "is %q; use one of %s", kind, strings.Join(settingTypes, ", "))
	}
	setting := Setting{
		Type: wire.SettingType(kind), Label: s.Text("label", "give the setting a display name"),
		Description: s.OptionalText("description"), Placeholder: s.OptionalText("placeholder"),
	}
	for _, key := range []string{"label", "description", "placeholder"} {
		if n := utf8.RuneCountInString(s.OptionalText(key)); n > maxSettingTextChars {
			s.Add(key, "has %d characters; shorten it to at most %d", n, maxSettingTextChars)
		}
	}
	isRequired := s.Bool("required")
	setting.Required = isRequired != nil && *isRequired
	setting.DeclaredSecret = s.Bool("secret")
	if secret := setting.DeclaredSecret; secret != nil && *secret && setting.Type != wire.SettingString {
		s.Add("secret", "is true for a setting of type %s; only a string can be secret", kind)
	}
	options := s.Strings("options")
	if setting.Type == wire.SettingSelect {
		setting.Options = options
		if len(options) == 0 {
			s.Add("options", "has nothing to choose from; list at least one string")
		} else if len(options) > maxOptions {
			s.Add("options", "has %d choices; use at most %d", len(options), maxOptions)
		}
	}
	return setting
}
