package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"opentabs/internal/humanize"
	"opentabs/internal/nearest"
)

// Load returns the settings of the server. Values in flags override environment
// variables, and environment variables override config.json. The argument flags maps flag names without
// dashes to values. The argument getenv is os.Getenv, except in tests. If a setting is
// invalid, Load returns an error that names the setting and its allowed values.
func Load(d Dirs, getenv func(string) string, flags map[string]string) (Settings, error) {
	s := Defaults()
	s.IdleTimeout, s.MaxIdleTimeout = 0, 0 // 0 marks a limit that the user has not set, because 0 is not an allowed value
	if err := applyFile(&s, d.ConfigFile()); err != nil {
		return Settings{}, err
	}
	for _, settingRow := range settingsTable {
		if settingValue := getenv(settingRow.variableName()); settingValue != "" && !settingRow.setValue(&s, settingValue) {
			return Settings{}, fmt.Errorf("the environment variable %s is %q: set it to %s", settingRow.variableName(), settingValue, settingRow.allowedValues)
		}
	}
	for _, settingRow := range settingsTable {
		if settingValue, ok := flags[settingRow.flag]; ok && !settingRow.setValue(&s, settingValue) {
			return Settings{}, fmt.Errorf("--%s is %q: give it %s", settingRow.flag, settingValue, settingRow.allowedValues)
		}
	}
	return s, s.completeIdleTimeouts()
}

// If the user has set only IdleTimeout, no tool can have a longer idle limit than IdleTimeout.
func (s *Settings) completeIdleTimeouts() error {
	defaults := Defaults()
	if s.MaxIdleTimeout == 0 {
		s.MaxIdleTimeout = cmp.Or(s.IdleTimeout, defaults.MaxIdleTimeout)
	}
	s.IdleTimeout = cmp.Or(s.IdleTimeout, defaults.IdleTimeout)
	if s.MaxIdleTimeout < s.IdleTimeout {
		return fmt.Errorf("maxIdleTimeout is %s, less than idleTimeout, which is %s: raise the one or lower the other",
			humanize.ShortDuration(s.MaxIdleTimeout), humanize.ShortDuration(s.IdleTimeout))
	}
	return nil
}

func applyFile(s *Settings, path string) error {
	file, err := readFile(path)
	if err != nil {
		return err
	}
	return file.apply(s)
}

// settingsFile is the content of config.json.
type settingsFile struct {
	path          string
	configBytes   []byte // configBytes is empty if the file is missing
	settingValues map[string]json.RawMessage
}

// A missing or empty config.json contains no settings.
func readFile(path string) (settingsFile, error) {
	configBytes, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return settingsFile{}, fmt.Errorf("read the settings: %w", err)
	}
	configBytes = bytes.TrimPrefix(configBytes, []byte("\ufeff")) // some editors on Windows write a byte order mark
	return parseFile(path, configBytes)
}

func parseFile(path string, configBytes []byte) (settingsFile, error) {
	file := settingsFile{path: path, configBytes: configBytes}
	if len(bytes.TrimSpace(configBytes)) == 0 {
		return file, nil
	}
	if err := json.Unmarshal(configBytes, &file.settingValues); err != nil {
		return settingsFile{}, fmt.Errorf("%s%s: correct the file or delete it", path, describeJSONError(configBytes, err))
	}
	return file, nil
}

func (f settingsFile) apply(s *Settings) error {
	var problems []string
	settingsByKey := map[string]setting{}
	for _, settingRow := range settingsTable {
		settingsByKey[settingRow.key] = settingRow
	}
	for _, key := range keysInFileOrder(f.configBytes) {
		settingRow, ok := settingsByKey[key]
		if !ok {
			problems = append(problems, unknownKey(key))
			continue
		}
		settingValue, ok := settingRow.valueText(f.settingValues[key])
		if !ok || !settingRow.setValue(s, settingValue) {
			problems = append(problems, fmt.Sprintf("%q is %s: set it to %s", key, formatSettingValue(f.settingValues[key]), settingRow.allowedValues))
		}
	}
	if problems != nil {
		return fmt.Errorf("%s: %s", f.path, strings.Join(problems, "; "))
	}
	return nil
}

func formatSettingValue(settingValue json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, settingValue) != nil {
		return "no JSON"
	}
	return truncateText(b.String())
}

const maxShownValueBytes = 100

func truncateText(settingValue string) string {
	if len(settingValue) > maxShownValueBytes {
		settingValue = settingValue[:maxShownValueBytes] + "..."
	}
	return strings.ToValidUTF8(settingValue, "?")
}

func (r setting) valueText(value json.RawMessage) (string, bool) {
	if r.kind == kindNumber {
		return string(value), len(value) > 0 && value[0] != '"'
	}
	var settingValue string
	err := json.Unmarshal(value, &settingValue)
	return settingValue, err == nil && value[0] == '"'
}

func unknownKey(key string) string {
	keys := make([]string, len(settingsTable))
	for i, settingRow := range settingsTable {
		keys[i] = settingRow.key
	}
	return fmt.Sprintf("there is no setting %q%s: use one of %s", truncateText(key), nearest.Suggestion(key, keys), strings.Join(keys, ", "))
}

// keysInFileOrder keeps the order of the file, so that problems are listed from top to bottom; configBytes must be valid JSON.
func keysInFileOrder(configBytes []byte) (keys []string) {
	dec := json.NewDecoder(bytes.NewReader(configBytes))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	seenNames := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return keys
		}
		if key, ok := token.(string); ok && !seenNames[key] {
			seenNames[key] = true
			keys = append(keys, key)
		}
		var settingValue json.RawMessage
		if dec.Decode(&settingValue) != nil {
			return keys
		}
	}
	return keys
}

func describeJSONError(configBytes []byte, err error) string {
	var syntaxErr *json.SyntaxError
	if !errors.As(err, &syntaxErr) {
		return " is not a JSON object"
	}
	textBefore := configBytes[:min(int(syntaxErr.Offset), len(configBytes))]
	line := bytes.Count(textBefore, []byte("\n")) + 1
	column := len(textBefore) - bytes.LastIndexByte(textBefore, '\n') - 1
	return fmt.Sprintf(":%d:%d: %s", line, max(column, 1), syntaxErr)
}
