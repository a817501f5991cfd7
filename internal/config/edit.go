package config

import (
	"encoding/json"
	"errors"
	"fmt"

	"opentabs/internal/jsonedit"
	"opentabs/internal/statefile"
)

// EffectiveSetting is a setting with the value that the server would use if it started now.
type EffectiveSetting struct {
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
func ListEffective(d Dirs, getenv func(string) string) ([]EffectiveSetting, error) {
	s, err := Load(d, getenv, nil)
	if err != nil {
		return nil, err
	}
	file, err := readFile(d.ConfigFile())
	if err != nil {
		return nil, err
	}
	entries := make([]EffectiveSetting, len(settingsTable))
	for i, settingRow := range settingsTable {
		source := DefaultSource
		if _, isSetInFile := file.settingValues[settingRow.key]; isSetInFile {
			source = d.ConfigFile()
		}
		if getenv(settingRow.variableName()) != "" {
			source = settingRow.variableName()
		}
		entries[i] = EffectiveSetting{Key: settingRow.key, Value: settingRow.get(s), Source: source, Allowed: settingRow.allowedValues}
	}
	return entries, nil
}

// Set changes one setting in config.json and keeps the rest of the file, including its
// formatting. If Set fails, the error message lists the allowed values of the setting, or
// suggests a similar name for an unknown setting.
func Set(d Dirs, key, settingValue string) error {
	settingRow, err := findSetting(key)
	if err != nil {
		return err
	}
	if !settingRow.setValue(new(Settings), settingValue) {
		return fmt.Errorf("%q is %s: set it to %s", key, truncateText(settingValue), settingRow.allowedValues)
	}
	encoded := json.RawMessage(settingValue)
	if settingRow.kind == kindText {
		if encoded, err = json.Marshal(settingValue); err != nil {
			return err
		}
	}
	return editFile(d, func(configBytes []byte) ([]byte, error) { return jsonedit.Set(configBytes, []string{key}, encoded) }, checkSettings)
}

// RemoveSetting removes a setting from config.json, so that its default applies. RemoveSetting also
// removes unknown settings and settings with invalid values. The result wasSet is true if
// the file contained the setting.
func RemoveSetting(d Dirs, key string) (wasSet bool, err error) {
	file, err := readFile(d.ConfigFile())
	if err != nil {
		return false, err
	}
	if _, wasSet = file.settingValues[key]; !wasSet {
		_, err := findSetting(key)
		return false, err
	}
	return true, editFile(d, func(configBytes []byte) ([]byte, error) {
		editedJSON, _, err := jsonedit.Remove(configBytes, []string{key})
		return editedJSON, err
	}, skipSettingsCheck)
}

func findSetting(key string) (setting, error) {
	for _, settingRow := range settingsTable {
		if settingRow.key == key {
			return settingRow, nil
		}
	}
	return setting{}, errors.New(unknownKey(key))
}

func editFile(d Dirs, editContent func(configBytes []byte) ([]byte, error), checkSettings func(settingsFile) error) error {
	unlock, err := d.LockStart()
	if err != nil {
		return err
	}
	defer unlock()
	file, err := readFile(d.ConfigFile())
	if err != nil {
		return err
	}
	configBytes, err := editContent(file.configBytes)
	if err != nil {
		return fmt.Errorf("change the settings: %w", err)
	}
	changedSettings, err := parseFile(file.path, configBytes)
	if err != nil {
		return err
	}
	if err := checkSettings(changedSettings); err != nil {
		return err
	}
	return statefile.Write(file.path, changedSettings.configBytes)
}

func checkSettings(f settingsFile) error {
	var s Settings
	if err := f.apply(&s); err != nil {
		return err
	}
	return s.completeIdleTimeouts()
}

// skipSettingsCheck accepts every config.json, so that the user can remove several invalid settings one by one.
func skipSettingsCheck(settingsFile) error { return nil }
