package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"opentabs/dispatch"
	"opentabs/internal/nearest"
	"opentabs/internal/rawjson"
	"opentabs/wire"
)

// settingsFile is the name of the settings' file in the state folder.
const settingsFile = "settings.json"

// minSecretChars is the shortest text that [Values.Secrets] returns: to take a
// shorter one out of every log would take out half of what is said.
const minSecretChars = 6

// Values are what the person has set for plugins. They stand in settings.json in
// the state folder, which only the person can read (mode 0600), by plugin and key;
// a url as an object of URLs by instance. What is set for a plugin stays while
// that is not there. A change by another process or by hand counts from the next
// look on.
//
// A Values is safe for concurrent use, and against other processes that use the
// same folder.
type Values struct {
	file *watched[*perPlugin, settings]
	opts PolicyOptions
}

// settings are settings.json at one moment, by plugin and key.
type settings map[string]map[string]json.RawMessage

// NewValues returns the settings in the folder dir, which need not exist yet.
func NewValues(dir string, o PolicyOptions) *Values {
	o.setDefaults()
	path := filepath.Join(dir, settingsFile)
	return &Values{opts: o, file: newWatched(stateFile[*perPlugin]{
		path: path, what: "the file of settings", lost: "no plugin has settings any more, so set them again",
		wait: o.LockWait, warn: o.Warn, empty: newPerPlugin, parse: parsePerPlugin, encode: (*perPlugin).encode,
	}, settingsOf, nil, func(r reading[settings]) {
		if r.problem != nil {
			o.Log.Error().Err(r.problem).Msg("the settings cannot be read, so no plugin has any")
		}
	})}
}

func settingsOf(doc *perPlugin) settings {
	all := settings{}
	for name := range doc.top.objectIn("plugins") {
		all[name] = doc.top.objectIn("plugins").objectIn(name)
	}
	return all
}

// Mend puts a damaged file aside, so that what stood in it is not lost to the next
// change.
func (v *Values) Mend() error { return v.file.mend() }

// OnChange calls changed after each change. One at a time; it may not change the
// settings.
func (v *Values) OnChange(changed func()) { v.file.onChange(changed) }

// Watch notices changes by other processes and by hand until ctx ends.
func (v *Values) Watch(ctx context.Context) { v.file.watch(ctx) }

// Of returns what is set for a plugin, by key: what the plugin does not know, or
// does not allow (any more), is left out.
func (v *Values) Of(p *Plugin) map[string]json.RawMessage {
	kept := v.file.current().view[p.Name]
	set := map[string]json.RawMessage{}
	for _, s := range p.Settings {
		if raw, ok := kept[s.Key]; ok {
			if value, err := s.check(raw); err == nil {
				set[s.Key] = value
			}
		}
	}
	return set
}

// Missing returns the settings that the plugin requires and that are not set.
func (v *Values) Missing(p *Plugin) []Setting {
	var missing []Setting
	for _, s := range p.Settings {
		if s.Required {
			missing = append(missing, s)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	set := v.Of(p)
	return slices.DeleteFunc(missing, func(s Setting) bool { return set[s.Key] != nil })
}

// ForPage returns what is set for a plugin as its documents get it, without its
// secrets if it is restricted (see [Policy.IsRestricted]).
func (v *Values) ForPage(p *Plugin, restricted bool) wire.PluginSettings {
	values, urls := object{}, object{}
	set := v.Of(p)
	for _, s := range p.Settings {
		switch raw, ok := set[s.Key]; {
		case restricted && s.Secret():
		case ok && s.Type == wire.SettingURL:
			urls[s.Key] = raw
		case ok:
			values[s.Key] = raw
		}
	}
	var page wire.PluginSettings
	if len(values) > 0 {
		page.Values = rawjson.Encode(values)
	}
	if len(urls) > 0 {
		page.URLs = rawjson.Encode(urls)
	}
	return page
}

// Views returns a plugin's settings as surfaces show them: of a secret whether it
// is set, and not what it is.
func (v *Values) Views(p *Plugin) []wire.SettingView {
	set := v.Of(p)
	var views []wire.SettingView
	for _, s := range p.Settings {
		raw, isSet := set[s.Key]
		view := wire.SettingView{
			Key: s.Key, Type: s.Type, Label: s.Label, Description: s.Description, Placeholder: s.Placeholder,
			Required: s.Required, Options: slices.Clone(s.Options), Secret: s.Secret(), Set: isSet,
		}
		if !view.Secret {
			view.Value = raw
		}
		views = append(views, view)
	}
	return views
}

// Change sets settings of a plugin, by key; null or an empty text takes one away.
// Either all hold or none. by names the surface. The error says which setting is
// wrong, and what is allowed.
func (v *Values) Change(p *Plugin, changes map[string]json.RawMessage, by string) error {
	checked := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		s, err := p.setting(key)
		if err != nil {
			return err
		}
		if raw := changes[key]; !emptyValue(raw) {
			if checked[key], err = s.check(raw); err != nil {
				return err
			}
		} else {
			checked[key] = nil
		}
	}
	if len(checked) == 0 {
		return nil
	}
	err := v.file.change(func(doc *perPlugin) error {
		doc.edit(p.Name, func(entry object) {
			for key, raw := range checked {
				entry.put(key, raw)
			}
		})
		return nil
	})
	if err != nil {
		return err
	}
	v.opts.Record(Change{Kind: "settings", Plugin: p.Name, New: strings.Join(slices.Sorted(maps.Keys(checked)), " "), By: by})
	v.file.tell()
	return nil
}

// emptyValue reports whether a value takes the setting away.
func emptyValue(raw json.RawMessage) bool {
	switch text := strings.TrimSpace(string(raw)); text {
	case "", "null", `""`, "{}":
		return true
	default:
		return rawjson.KindOf(raw) == rawjson.KindString && json.Valid(raw) && strings.TrimSpace(rawjson.Unquote([]byte(text))) == ""
	}
}

// Forget takes all settings of a plugin away.
func (v *Values) Forget(name, by string) error {
	if _, ok := v.file.current().view[name]; !ok {
		return nil
	}
	err := v.file.change(func(doc *perPlugin) error {
		doc.edit(name, func(entry object) { clear(entry) })
		return nil
	})
	if err != nil {
		return err
	}
	v.opts.Record(Change{Kind: "settings", Plugin: name, By: by})
	v.file.tell()
	return nil
}

// Secrets returns the texts that may be passwords or keys, for what takes them out
// of logs: those of 6 characters or more, the longest first. Of plugins that are
// not in set only the names of the settings are known.
func (v *Values) Secrets(set *Set) []string {
	var secrets []string
	for name, entry := range v.file.current().view {
		one, known := set.Plugin(name)
		for key, raw := range entry {
			secret := secretWords.MatchString(key)
			if known {
				if s, err := one.setting(key); err == nil {
					secret = s.Secret()
				}
			}
			var text string
			if secret && decode(raw, &text) && len(text) >= minSecretChars {
				secrets = append(secrets, text)
			}
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(secrets)
}

// instances returns the URLs that are set for a plugin, by key, then by name.
func (v *Values) instances(p *Plugin) []dispatch.Instance {
	var all []dispatch.Instance
	if !slices.ContainsFunc(p.Settings, func(s Setting) bool { return s.Type == wire.SettingURL }) {
		return nil
	}
	set := v.Of(p)
	for _, s := range p.Settings {
		var urls map[string]string
		if s.Type != wire.SettingURL || !decode(set[s.Key], &urls) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(urls)) {
			all = append(all, dispatch.Instance{Name: name, URL: urls[name]})
		}
	}
	return all
}

// Gate blocks calls of plugins that lack a setting they require; set returns the
// plugins.
func (v *Values) Gate(set func() *Set) dispatch.Gate { return settingsGate{v, set} }

type settingsGate struct {
	values *Values
	set    func() *Set
}

func (settingsGate) Name() string { return "settings" }

func (g settingsGate) Decide(in dispatch.Info) dispatch.Verdict {
	one, ok := g.set().Plugin(in.Tool.Plugin)
	if !ok {
		return dispatch.Verdict{}
	}
	missing := g.values.Missing(one)
	if len(missing) == 0 {
		return dispatch.Verdict{}
	}
	return blocked(wire.ErrNeedsSettings, "the plugin %s lacks %s, which it needs; the person sets it with `opentabs plugin configure %s` in a terminal, or in the side panel",
		one.Name, nameSettings(missing), one.Name)
}

// nameSettings names settings in a sentence.
func nameSettings(all []Setting) string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Key
	}
	if len(names) == 1 {
		return "the setting " + names[0]
	}
	return "the settings " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// setting returns one of the plugin's settings.
func (p *Plugin) setting(key string) (Setting, error) {
	var keys []string
	for _, s := range p.Settings {
		if s.Key == key {
			return s, nil
		}
		keys = append(keys, s.Key)
	}
	if len(keys) == 0 {
		return Setting{}, fmt.Errorf("%w: the plugin %s has no settings", ErrUnknown, p.Name)
	}
	return Setting{}, fmt.Errorf("%w: the plugin %s has no setting %q%s; name one of %s", ErrUnknown, p.Name, shortText(key), nearest.Suggestion(key, keys), strings.Join(keys, ", "))
}
