package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/internal/nearest"
	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
	"opentabs/internal/statedoc"
	"opentabs/plugin"
	"opentabs/wire"
)

const settingsFile = "settings.json"

// minSecretChars is the minimum length of the texts that [Values.SecretValues] returns.
// Shorter secrets can be ordinary words, which must not disappear from logs.
const minSecretChars = 6

// lockTimeout is how long a change of settings.json waits for a lock that another process holds.
const lockTimeout = 10 * time.Second

// Options configures [Values]. If a field of Options has its zero value, the field's
// default applies.
type Options struct {
	// WarnUser receives a sentence for the user when opentabs renames a damaged
	// settings.json. Default: no warning.
	WarnUser func(warning string)
	// RecordChange receives each change of settings: the plugin, the changed keys (nil for all)
	// and the surface. RecordChange must not block. By default, changes of settings are not
	// recorded.
	RecordChange func(name string, keys []string, by string)
	// The field Log receives errors about settings.json. By default, the field Log is not
	// set.
	Log zerolog.Logger
}

func (o *Options) setDefaults() {
	if o.WarnUser == nil {
		o.WarnUser = func(string) {}
	}
	if o.RecordChange == nil {
		o.RecordChange = func(string, []string, string) {}
	}
}

// Values is safe for concurrent use by goroutines and processes.
type Values struct {
	file *statedoc.Watched[*statedoc.Plugins, settings]
	opts Options
}

// The type settings is the parsed content of settings.json, by plugin and key.
type settings map[string]map[string]json.RawMessage

// New returns the settings in the state folder dir, which need not exist yet.
func New(dir string, o Options) *Values {
	o.setDefaults()
	path := filepath.Join(dir, settingsFile)
	return &Values{opts: o, file: statedoc.NewWatched(statedoc.File[*statedoc.Plugins]{
		Path: path, Subject: "the file of settings", LossWarning: "no plugin has settings any more, so set them again",
		LockWait: lockTimeout, Warn: o.WarnUser, NewContent: statedoc.NewPlugins, Parse: statedoc.ParsePlugins, Encode: (*statedoc.Plugins).Encode,
	}, readSettings, nil, func(r statedoc.ReadResult[settings]) {
		if r.Problem != nil {
			o.Log.Error().Err(r.Problem).Msg("the settings cannot be read, so no plugin has any")
		}
	})}
}

func readSettings(document *statedoc.Plugins) settings {
	allSettings := settings{}
	for name := range document.TopLevel.Child("plugins") {
		allSettings[name] = document.TopLevel.Child("plugins").Child(name)
	}
	return allSettings
}

// Repair renames a damaged settings.json, so that the next change does not overwrite the
// damaged file.
func (v *Values) Repair() error { return v.file.Repair() }

// OnChange registers a listener that runs after each change of settings. Listeners run
// one at a time and must not change the settings.
func (v *Values) OnChange(onChange func()) { v.file.OnChange(onChange) }

// Watch detects changes of settings.json by other processes and editors until ctx is
// done.
func (v *Values) Watch(ctx context.Context) { v.file.Watch(ctx) }

// ValidValues returns the valid settings of a plugin, by key. ValidValues leaves out undeclared settings
// and values that the plugin does not allow.
func (v *Values) ValidValues(p *plugin.Plugin) map[string]json.RawMessage {
	storedValues := v.file.Current().View[p.Name]
	configuredValues := map[string]json.RawMessage{}
	for _, s := range p.Settings {
		if rawJSON, ok := storedValues[s.Key]; ok {
			if valueJSON, err := checkValue(s, rawJSON); err == nil {
				configuredValues[s.Key] = valueJSON
			}
		}
	}
	return configuredValues
}

// MissingSettings returns the required settings of a plugin that the user has not set.
func (v *Values) MissingSettings(p *plugin.Plugin) []plugin.Setting {
	var missingSettings []plugin.Setting
	for _, s := range p.Settings {
		if s.Required {
			missingSettings = append(missingSettings, s)
		}
	}
	if len(missingSettings) == 0 {
		return nil
	}
	configuredValues := v.ValidValues(p)
	return slices.DeleteFunc(missingSettings, func(s plugin.Setting) bool { return configuredValues[s.Key] != nil })
}

// SettingsForPage returns the settings that opentabs sends to the pages of a plugin. A
// restricted plugin receives no secrets; see opentabs/plugin/policy.
func (v *Values) SettingsForPage(p *plugin.Plugin, isRestricted bool) wire.PluginSettings {
	settingValues, urls := statedoc.Object{}, statedoc.Object{}
	configuredValues := v.ValidValues(p)
	for _, s := range p.Settings {
		switch rawJSON, ok := configuredValues[s.Key]; {
		case isRestricted && s.IsSecret():
		case ok && s.Type == wire.SettingURL:
			urls[s.Key] = rawJSON
		case ok:
			settingValues[s.Key] = rawJSON
		}
	}
	var page wire.PluginSettings
	if len(settingValues) > 0 {
		page.Values = rawjson.Encode(settingValues)
	}
	if len(urls) > 0 {
		page.URLs = rawjson.Encode(urls)
	}
	return page
}

// Views returns the settings of a plugin as the side panel and the CLI show them. For a secret setting, Views
// returns only whether the user has set a value.
func (v *Values) Views(p *plugin.Plugin) []wire.SettingView {
	configuredValues := v.ValidValues(p)
	var views []wire.SettingView
	for _, s := range p.Settings {
		rawJSON, isSet := configuredValues[s.Key]
		view := wire.SettingView{
			Key: s.Key, Type: s.Type, Label: s.Label, Description: s.Description, Placeholder: s.Placeholder,
			Required: s.Required, Options: slices.Clone(s.Options), Secret: s.IsSecret(), IsSet: isSet,
		}
		if !view.Secret {
			view.Value = rawJSON
		}
		views = append(views, view)
	}
	return views
}

// Change sets settings of a plugin, by key; null or an empty string deletes a setting. If one of
// the values is invalid, Change leaves all settings unchanged. The argument by is the surface on
// which the user made the change. The error of Change names the invalid setting and the allowed
// values.
func (v *Values) Change(p *plugin.Plugin, changes map[string]json.RawMessage, by string) error {
	checkedValues := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		s, err := findDeclaredSetting(p, key)
		if err != nil {
			return err
		}
		if rawJSON := changes[key]; !isDeletionValue(rawJSON) {
			if checkedValues[key], err = checkValue(s, rawJSON); err != nil {
				return err
			}
		} else {
			checkedValues[key] = nil
		}
	}
	if len(checkedValues) == 0 {
		return nil
	}
	err := v.file.Change(func(document *statedoc.Plugins) error {
		document.EditPlugin(p.Name, func(entry statedoc.Object) {
			for key, rawJSON := range checkedValues {
				entry.Put(key, rawJSON)
			}
		})
		return nil
	})
	if err != nil {
		return err
	}
	v.opts.RecordChange(p.Name, slices.Sorted(maps.Keys(checkedValues)), by)
	v.file.NotifyListeners()
	return nil
}

func isDeletionValue(rawJSON json.RawMessage) bool {
	switch valueText := strings.TrimSpace(string(rawJSON)); valueText {
	case "", "null", `""`, "{}":
		return true
	default:
		return rawjson.KindOf(rawJSON) == rawjson.KindString && json.Valid(rawJSON) && strings.TrimSpace(rawjson.Unquote([]byte(valueText))) == ""
	}
}

// Forget deletes all settings of a plugin.
func (v *Values) Forget(name, by string) error {
	if _, ok := v.file.Current().View[name]; !ok {
		return nil
	}
	err := v.file.Change(func(document *statedoc.Plugins) error {
		document.EditPlugin(name, func(entry statedoc.Object) { clear(entry) })
		return nil
	})
	if err != nil {
		return err
	}
	v.opts.RecordChange(name, nil, by)
	v.file.NotifyListeners()
	return nil
}

// SecretValues returns the values of secret settings, so that logs can remove them. SecretValues
// returns only values of 6 or more characters, the longest first. For plugins that are
// not in pluginSet, SecretValues guesses from a setting's key whether the setting is secret.
func (v *Values) SecretValues(pluginSet *plugin.Set) []string {
	var secrets []string
	for name, entry := range v.file.Current().View {
		loadedPlugin, isLoaded := pluginSet.Plugin(name)
		for key, rawJSON := range entry {
			secret := plugin.Setting{Key: key, Type: wire.SettingString}.IsSecret()
			if isLoaded {
				if s, err := findDeclaredSetting(loadedPlugin, key); err == nil {
					secret = s.IsSecret()
				}
			}
			var valueText string
			if secret && statedoc.DecodeInto(rawJSON, &valueText) && len(valueText) >= minSecretChars {
				secrets = append(secrets, valueText)
			}
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(secrets)
}

// Instances returns the URLs that the user has set for a plugin, sorted by key, then by
// instance name.
func (v *Values) Instances(p *plugin.Plugin) []dispatch.Instance {
	var allSettings []dispatch.Instance
	if !slices.ContainsFunc(p.Settings, func(s plugin.Setting) bool { return s.Type == wire.SettingURL }) {
		return nil
	}
	configuredValues := v.ValidValues(p)
	for _, s := range p.Settings {
		var urls map[string]string
		if s.Type != wire.SettingURL || !statedoc.DecodeInto(configuredValues[s.Key], &urls) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(urls)) {
			allSettings = append(allSettings, dispatch.Instance{Name: name, URL: urls[name]})
		}
	}
	return allSettings
}

// Gate returns a gate that blocks calls of a plugin while the plugin lacks a required setting.
// Gate reads the loaded plugins with the function currentPlugins.
func (v *Values) Gate(currentPlugins func() *plugin.Set) dispatch.Gate {
	return settingsGate{v, currentPlugins}
}

type settingsGate struct {
	settingValues  *Values
	currentPlugins func() *plugin.Set
}

func (settingsGate) Name() string { return "settings" }

func (g settingsGate) Decide(callInfo dispatch.CallInfo) dispatch.Verdict {
	loadedPlugin, ok := g.currentPlugins().Plugin(callInfo.Tool.Plugin)
	if !ok {
		return dispatch.Verdict{}
	}
	missingSettings := g.settingValues.MissingSettings(loadedPlugin)
	if len(missingSettings) == 0 {
		return dispatch.Verdict{}
	}
	name, errorSentence := loadedPlugin.Name, fmt.Sprintf("plugin %s lacks %s, which it needs", loadedPlugin.Name, Names(missingSettings))
	pronoun := "it"
	if len(missingSettings) > 1 {
		pronoun = "them"
	}
	return dispatch.NewBlockVerdict(wire.ErrNeedsSettings, fmt.Sprintf("the %s; the user sets %s with `opentabs plugin configure %s` in a terminal, or in the side panel", errorSentence, pronoun, name),
		fmt.Sprintf("The %s. Set %s in the side panel (tab Plugins), or with `opentabs plugin configure %s`.", errorSentence, pronoun, name))
}

// Names lists the keys of settings for use in a sentence, such as "the settings a and b".
func Names(allSettings []plugin.Setting) string {
	names := make([]string, len(allSettings))
	for i, s := range allSettings {
		names[i] = s.Key
	}
	if len(names) == 1 {
		return "the setting " + names[0]
	}
	return "the settings " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func findDeclaredSetting(p *plugin.Plugin, key string) (plugin.Setting, error) {
	var keys []string
	for _, s := range p.Settings {
		if s.Key == key {
			return s, nil
		}
		keys = append(keys, s.Key)
	}
	if len(keys) == 0 {
		return plugin.Setting{}, fmt.Errorf("%w: the plugin %s has no settings", plugin.ErrUnknown, p.Name)
	}
	return plugin.Setting{}, fmt.Errorf("%w: the plugin %s has no setting %q%s; name one of %s", plugin.ErrUnknown, p.Name, plaintext.Shorten(key), nearest.Suggestion(key, keys), strings.Join(keys, ", "))
}
