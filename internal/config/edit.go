package config

import (
	"encoding/json"
	"errors"
	"fmt"

	"opentabs/internal/jsonedit"
	"opentabs/internal/statefile"
)

// Effective is a setting with the value that the server would use if it started now.
type Effective struct {
	// Key is the name of the setting in config.json.
	Key string `json:"setting"`
	// Value is the setting's value in the form that `opentabs config set` accepts.
	Value string `json:"value"`
	// Source is where the value of the setting comes from: "the default", the path of
	// config.json, or the name of an environment variable.
	Source string `json:"source"`
	// The field Allowed describes which values the setting accepts.
	Allowed string `json:"allowed"`
}

// DefaultSource is the source of a setting that the user has not changed.
const DefaultSource = "the default"

// ListEffective returns all settings with their values and sources. The argument getenv
// is os.Getenv, except in tests. ListEffective returns the same errors as [Load].
func ListEffective(d Dirs, getenv func(string) string) ([]Effective, error) {
	s, err := Load(d, getenv, nil)
	if err != nil {
		return nil, err
	}
	file, err := readFile(d.ConfigFile())
	if err != nil {
		return nil, err
	}
	entries := make([]Effective, len(settingsTable))
	for i, row := range settingsTable {
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

// Set changes one setting in config.json and keeps the rest of the file, including its
// formatting. If Set fails, the error message lists the allowed values of the setting, or
// suggests a similar name for an unknown setting.
func Set(d Dirs, key, value string) error {
	row, err := findSetting(key)
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

// Unset removes a setting from config.json, so that its default applies. Unset also
// removes unknown settings and settings with invalid values. The result wasSet is true if
// the file contained the setting.
func Unset(d Dirs, key string) (wasSet bool, err error) {
	file, err := readFile(d.ConfigFile())
	if err != nil {
		return false, err
	}
	if _, wasSet = file.values[key]; !wasSet {
		_, err := findSetting(key)
		return false, err
	}
	return true, editFile(d, func(data []byte) ([]byte, error) {
		out, _, err := jsonedit.Remove(data, []string{key})
		return out, err
	}, acceptAnySettings)
}

func findSetting(key string) (setting, error) {
	for _, row := range settingsTable {
		if row.key == key {
			return row, nil
		}
	}
	return setting{}, errors.New(unknownKey(key))
}

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

func checkSettings(f settingsFile) error {
	var s Settings
	if err := f.apply(&s); err != nil {
		return err
	}
	return s.completeIdleTimeouts()
}

// acceptAnySettings accepts every config.json, so that the user can remove several invalid settings one by one.
func acceptAnySettings(settingsFile) error { return nil }
