package config

import (
	"encoding/json"
	"errors"
	"fmt"

	"opentabs/internal/jsonedit"
	"opentabs/internal/statefile"
)

// Effective is a setting as a server that starts now would use it.
type Effective struct {
	// Key is the name of the setting in config.json.
	Key string `json:"setting"`
	// Value is the value as text, as `opentabs config set` takes it.
	Value string `json:"value"`
	// Source is where the value comes from: "the default", the path of config.json, or the
	// name of an environment variable.
	Source string `json:"source"`
	// Allowed describes the allowed values.
	Allowed string `json:"allowed"`
}

// DefaultSource is the Source of a setting that the user has not set.
const DefaultSource = "the default"

// ListEffective returns all settings with their values and sources. getenv is os.Getenv
// except in tests. ListEffective returns the errors of [Load].
func ListEffective(d Dirs, getenv func(string) string) ([]Effective, error) {
	s, err := Load(d, getenv, nil)
	if err != nil {
		return nil, err
	}
	file, err := readFile(d.ConfigFile())
	if err != nil {
		return nil, err
	}
	entries := make([]Effective, len(table))
	for i, row := range table {
		source := DefaultSource
		if _, isInFile := file.values[row.key]; isInFile {
			source = d.ConfigFile()
		}
		if getenv(row.variableName()) != "" {
			source = row.variableName()
		}
		entries[i] = Effective{Key: row.key, Value: row.get(s), Source: source, Allowed: row.allowed}
	}
	return entries, nil
}

// Set writes a setting to config.json and keeps everything else in the file as it is. The
// error names an unknown setting, or the allowed values.
func Set(d Dirs, key, value string) error {
	row, err := settingOf(key)
	if err != nil {
		return err
	}
	if !row.set(new(Settings), value) {
		return fmt.Errorf("%q is %s: set it to %s", key, truncateText(value), row.allowed)
	}
	encoded := json.RawMessage(value)
	if row.kind == kindText {
		if encoded, err = json.Marshal(value); err != nil {
			return err
		}
	}
	return editFile(d, func(data []byte) ([]byte, error) { return jsonedit.Set(data, []string{key}, encoded) }, checkSettings)
}

// Unset removes a setting from config.json, so that its default applies. An invalid setting
// can be removed, too. Unset reports whether the setting was in the file.
func Unset(d Dirs, key string) (wasSet bool, err error) {
	file, err := readFile(d.ConfigFile())
	if err != nil {
		return false, err
	}
	if _, wasSet = file.values[key]; !wasSet {
		_, err := settingOf(key)
		return false, err
	}
	return true, editFile(d, func(data []byte) ([]byte, error) {
		out, _, err := jsonedit.Remove(data, []string{key})
		return out, err
	}, checkNothing)
}

// settingOf returns the row of a setting, or an error that names a similar setting.
func settingOf(key string) (setting, error) {
	for _, row := range table {
		if row.key == key {
			return row, nil
		}
	}
	return setting{}, errors.New(unknownKey(key))
}

// editFile replaces the content of config.json by the result of edit, unless check rejects
// the result.
func editFile(d Dirs, edit func(data []byte) ([]byte, error), check func(settingsFile) error) error {
	unlock, err := d.LockStart()
	if err != nil {
		return err
	}
	defer unlock()
	file, err := readFile(d.ConfigFile())
	if err != nil {
		return err
	}
	data, err := edit(file.data)
	if err != nil {
		return fmt.Errorf("change the settings: %w", err)
	}
	changed, err := parseFile(file.path, data)
	if err != nil {
		return err
	}
	if err := check(changed); err != nil {
		return err
	}
	return statefile.Write(file.path, changed.data)
}

// checkSettings rejects content with invalid settings.
func checkSettings(f settingsFile) error {
	var s Settings
	if err := f.apply(&s); err != nil {
		return err
	}
	return s.completeIdleTimeouts()
}

// checkNothing accepts any content, so that a file with several invalid settings can be
// repaired step by step.
func checkNothing(settingsFile) error { return nil }
