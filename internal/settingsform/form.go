// Package settingsform collects a user's changes to a plugin's settings, from command-line
// arguments or from answers to questions.
package settingsform

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"opentabs/internal/usererr"
	"opentabs/plugin"
	"opentabs/plugin/settings"
	"opentabs/wire"
)

// maxStdinValueBytes limits the value of a setting that is read from stdin; the rest is
// ignored.
const maxStdinValueBytes = 1 << 20

// Arguments are the changes to settings that the user typed as arguments of a command.
type Arguments struct {
	// The field Assignments contains new values: KEY=VALUE, KEY.INSTANCE=URL, or KEY=- for a
	// value from stdin. Unset names the settings to remove, as KEY or KEY.INSTANCE.
	Assignments, Unset []string
	// The field Instances contains texts of the form NAME=URL. For example,
	// "work=https://wiki.example" sets the URL of the instance "work" in the plugin's
	// only URL setting.
	Instances []string
}

// IsEmpty reports whether the arguments change no setting.
func (a Arguments) IsEmpty() bool { return len(a.Assignments)+len(a.Unset)+len(a.Instances) == 0 }

// Form collects the user's changes to the settings of one plugin.
type Form struct {
	Plugin string
	Views  []wire.SettingView
	// Changes maps the key of each changed setting to its new value. The new value null
	// removes the setting's value.
	Changes map[string]json.RawMessage
	urls    map[string]map[string]string
}

// New returns a form without changes for the plugin with the given name and current
// settings.
func New(name string, views []wire.SettingView) *Form {
	return &Form{Plugin: name, Views: views, Changes: map[string]json.RawMessage{}, urls: map[string]map[string]string{}}
}

// Apply adds the changes in a command's arguments to the form. Apply reads at most one value
// from inputReader, which is stdin.
func (f *Form) Apply(a Arguments, inputReader io.Reader) error {
	hasReadStdin := false
	for _, assignment := range a.Assignments {
		key, input, ok := strings.Cut(assignment, "=")
		if !ok {
			return usererr.Errorf("%q sets nothing: write KEY=VALUE", key)
		}
		if input == "-" {
			if hasReadStdin {
				return usererr.Errorf("only one value can be read from stdin")
			}
			hasReadStdin = true
			stdinText, err := io.ReadAll(io.LimitReader(inputReader, maxStdinValueBytes))
			if err != nil {
				return fmt.Errorf("read the value of %s: %w", key, err)
			}
			input = strings.TrimRight(string(stdinText), "\r\n")
		}
		if err := f.Set(key, input); err != nil {
			return err
		}
	}
	for _, instanceText := range a.Instances {
		name, url, ok := strings.Cut(instanceText, "=")
		if !ok {
			return usererr.Errorf("--instance %s: write NAME=URL", instanceText)
		}
		key, err := f.findOnlyURLKey()
		if err != nil {
			return err
		}
		if err := f.Set(key+"."+name, url); err != nil {
			return err
		}
	}
	for _, key := range a.Unset {
		if err := f.Unset(key); err != nil {
			return err
		}
	}
	return nil
}

// Set changes a setting to a value that the user typed. The parameter key is the key of a
// setting, such as "site", or names one instance of a URL setting, such as "site.work".
// The message of an error from Set is a sentence for the user.
func (f *Form) Set(key, input string) error {
	v, instance, err := f.find(key)
	if err != nil {
		return err
	}
	if v.Type == wire.SettingURL {
		if instance == "" {
			instance = settings.DefaultInstance
		}
		f.urlsByInstance(v)[instance] = input
		return f.storeURLChanges(v)
	}
	setting := plugin.Setting{Key: v.Key, Type: v.Type, Options: v.Options}
	settingValue, err := settings.Parse(setting, input)
	if err != nil {
		return usererr.Errorf("%v", err)
	}
	f.Changes[v.Key] = settingValue
	return nil
}

// Unset removes the value of a setting, or the URL of one instance, as in site.work.
func (f *Form) Unset(key string) error {
	v, instance, err := f.find(key)
	if err != nil {
		return err
	}
	if instance == "" {
		f.Changes[v.Key] = json.RawMessage("null")
		return nil
	}
	if _, ok := f.urlsByInstance(v)[instance]; !ok {
		return usererr.Errorf("%s has no instance %q", v.Key, instance)
	}
	delete(f.urlsByInstance(v), instance)
	return f.storeURLChanges(v)
}

// urlsByInstance includes the changes that the form has collected.
func (f *Form) urlsByInstance(v wire.SettingView) map[string]string {
	if f.urls[v.Key] == nil {
		urls := map[string]string{}
		if len(v.Value) > 0 && json.Unmarshal(v.Value, &urls) != nil {
			urls = map[string]string{}
		}
		f.urls[v.Key] = urls
	}
	return f.urls[v.Key]
}

func (f *Form) storeURLChanges(v wire.SettingView) error {
	encodedJSON, err := json.Marshal(f.urls[v.Key])
	if len(f.urls[v.Key]) == 0 {
		encodedJSON = []byte("null")
	}
	f.Changes[v.Key] = encodedJSON
	return err
}

// For a key such as "site.work", find also returns the instance name "work".
func (f *Form) find(key string) (v wire.SettingView, instance string, err error) {
	var keys []string
	for _, v := range f.Views {
		keys = append(keys, v.Key)
		if v.Key == key {
			return v, "", nil
		}
		if instance, ok := strings.CutPrefix(key, v.Key+"."); ok && v.Type == wire.SettingURL {
			return v, instance, nil
		}
	}
	if len(keys) == 0 {
		return v, "", usererr.Errorf("the plugin %s has no settings", f.Plugin)
	}
	return v, "", usererr.Errorf("the plugin %s has no setting %q: name one of %s", f.Plugin, key, strings.Join(keys, ", "))
}

func (f *Form) findOnlyURLKey() (string, error) {
	var keys []string
	for _, v := range f.Views {
		if v.Type == wire.SettingURL {
			keys = append(keys, v.Key)
		}
	}
	switch len(keys) {
	case 0:
		return "", usererr.Errorf("--instance: the plugin %s has no setting of type url", f.Plugin)
	case 1:
		return keys[0], nil
	}
	return "", usererr.Errorf("--instance: the plugin %s has several settings of type url; write KEY.INSTANCE=URL with one of %s", f.Plugin, strings.Join(keys, ", "))
}
