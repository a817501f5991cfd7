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
// variables, which override config.json. The argument flags maps flag names without
// dashes to values. The argument getenv is os.Getenv, except in tests. If a setting is
// invalid, Load returns an error that names the setting and its allowed values.
func Load(d Dirs, getenv func(string) string, flags map[string]string) (Settings, error) {
	s := Defaults()
	s.IdleTimeout, s.MaxIdleTimeout = 0, 0 // 0 marks a limit that the user has not set, because 0 is not an allowed value
	if err := applyFile(&s, d.ConfigFile()); err != nil {
		return Settings{}, err
	}
	for _, row := range settingsTable {
		if text := getenv(row.variableName()); text != "" && !row.set(&s, text) {
			return Settings{}, fmt.Errorf("the environment variable %s is %q: set it to %s", row.variableName(), text, row.allowed)
		}
	}
	for _, row := range settingsTable {
		if text, ok := flags[row.flag]; ok && !row.set(&s, text) {
			return Settings{}, fmt.Errorf("--%s is %q: give it %s", row.flag, text, row.allowed)
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
	path   string
	data   []byte // the field data is empty if the file is missing
	values map[string]json.RawMessage
}

// A missing or empty config.json contains no settings.
func readFile(path string) (settingsFile, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return settingsFile{}, fmt.Errorf("read the settings: %w", err)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors on Windows write a byte order mark
	return parseFile(path, data)
}

func parseFile(path string, data []byte) (settingsFile, error) {
	file := settingsFile{path: path, data: data}
	if len(bytes.TrimSpace(data)) == 0 {
		return file, nil
	}
	if err := json.Unmarshal(data, &file.values); err != nil {
		return settingsFile{}, fmt.Errorf("%s%s: correct the file or delete it", path, jsonProblem(data, err))
	}
	return file, nil
}

func (f settingsFile) apply(s *Settings) error {
	var problems []string
	rows := map[string]setting{}
	for _, row := range settingsTable {
		rows[row.key] = row
	}
	for _, key := range keysInOrder(f.data) {
		row, ok := rows[key]
		if !ok {
			problems = append(problems, unknownKey(key))
			continue
		}
		text, ok := row.valueText(f.values[key])
		if !ok || !row.set(s, text) {
			problems = append(problems, fmt.Sprintf("%q is %s: set it to %s", key, shownValue(f.values[key]), row.allowed))
		}
	}
	if problems != nil {
		return fmt.Errorf("%s: %s", f.path, strings.Join(problems, "; "))
	}
	return nil
}

func shownValue(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return "no JSON"
	}
	return truncateText(b.String())
}

const maxShownValue = 100

func truncateText(text string) string {
	if len(text) > maxShownValue {
		text = text[:maxShownValue] + "..."
	}
	return strings.ToValidUTF8(text, "?")
}

func (r setting) valueText(value json.RawMessage) (string, bool) {
	if r.kind == kindNumber {
		return string(value), len(value) > 0 && value[0] != '"'
	}
	var text string
	err := json.Unmarshal(value, &text)
	return text, err == nil && value[0] == '"'
}

func unknownKey(key string) string {
	keys := make([]string, len(settingsTable))
	for i, row := range settingsTable {
		keys[i] = row.key
	}
	return fmt.Sprintf("there is no setting %q%s: use one of %s", truncateText(key), nearest.Suggestion(key, keys), strings.Join(keys, ", "))
}

// keysInOrder keeps the order of the file, so that problems are listed from top to bottom. The argument data must
// be valid JSON.
func keysInOrder(data []byte) (keys []string) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return keys
		}
		if key, ok := token.(string); ok && !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return keys
		}
	}
	return keys
}

func jsonProblem(data []byte, err error) string {
	var syntaxErr *json.SyntaxError
	if !errors.As(err, &syntaxErr) {
		return " is not a JSON object"
	}
	textBefore := data[:min(int(syntaxErr.Offset), len(data))]
	line := bytes.Count(textBefore, []byte("\n")) + 1
	column := len(textBefore) - bytes.LastIndexByte(textBefore, '\n') - 1
	return fmt.Sprintf(":%d:%d: %s", line, max(column, 1), syntaxErr)
}
