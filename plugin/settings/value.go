package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"opentabs/internal/lazyregexp"
	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
	"opentabs/plugin"
	"opentabs/wire"
)

const (
	// DefaultInstance is the instance name of a URL that the user sets without a name.
	DefaultInstance = "default"
	// maxSettingChars is the maximum length of a setting's text, in characters.
	// maxInstances is the maximum number of URLs of one url setting.
	maxSettingChars = 16384
	maxInstances    = 50
)

var (
	instanceNamePattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$`)
)

// Parse parses a setting's value that the user typed: true or yes, 12, one of the
// options, or a URL for [DefaultInstance]. If the value is invalid, the error of Parse
// names the allowed values.
func Parse(s plugin.Setting, valueText string) (json.RawMessage, error) {
	trimmedValue := strings.TrimSpace(valueText)
	switch s.Type {
	case wire.SettingBoolean:
		switch strings.ToLower(trimmedValue) {
		case "true", "yes", "on", "1":
			return json.RawMessage("true"), nil
		case "false", "no", "off", "0":
			return json.RawMessage("false"), nil
		}
		return nil, newInvalidValueError(s, "is %q; use true or false", plaintext.Shorten(valueText))
	case wire.SettingNumber:
		if n, err := strconv.ParseFloat(trimmedValue, 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
			if json.Valid([]byte(trimmedValue)) {
				return json.RawMessage(trimmedValue), nil
			}
			return rawjson.Encode(n), nil
		}
		return nil, newInvalidValueError(s, "is %q; use a number, such as 10 or 0.5", plaintext.Shorten(valueText))
	case wire.SettingURL:
		return checkValue(s, rawjson.Encode(map[string]string{DefaultInstance: trimmedValue}))
	default:
		return checkValue(s, rawjson.Encode(valueText))
	}
}

// The stored form of a url setting is an object that maps instance names to URLs. The error of checkValue names the
// allowed values and never quotes a secret.
func checkValue(s plugin.Setting, rawJSON json.RawMessage) (json.RawMessage, error) {
	compactJSON, problemText := rawjson.Compact(rawJSON, nil)
	if problemText != "" {
		return nil, newInvalidValueError(s, "is no JSON; %s", problemText)
	}
	kind := rawjson.KindOf(compactJSON)
	switch s.Type {
	case wire.SettingURL:
		return checkURLs(s, compactJSON)
	case wire.SettingNumber:
		if kind != rawjson.KindNumber {
			return nil, newInvalidValueError(s, "is %s; make it a number", kind)
		}
		if n, err := strconv.ParseFloat(string(compactJSON), 64); err != nil || math.IsInf(n, 0) {
			return nil, newInvalidValueError(s, "is a number that does not fit; use one between -1e308 and 1e308")
		}
	case wire.SettingBoolean:
		if kind != rawjson.KindBool {
			return nil, newInvalidValueError(s, "is %s; make it true or false", kind)
		}
	default:
		if kind != rawjson.KindString {
			return nil, newInvalidValueError(s, "is %s; make it a text", kind)
		}
		valueText := rawjson.Unquote(compactJSON)
		if n := utf8.RuneCountInString(valueText); n > maxSettingChars {
			return nil, newInvalidValueError(s, "has %d characters; shorten it to at most %d", n, maxSettingChars)
		}
		if s.Type == wire.SettingSelect && !slices.Contains(s.Options, valueText) {
			return nil, newInvalidValueError(s, "is %q; use one of %s", plaintext.Shorten(valueText), strings.Join(s.Options, ", "))
		}
	}
	return slices.Clone(compactJSON), nil
}

func checkURLs(s plugin.Setting, rawJSON []byte) (json.RawMessage, error) {
	var urls map[string]string
	switch rawjson.KindOf(rawJSON) {
	case rawjson.KindString:
		urls = map[string]string{DefaultInstance: rawjson.Unquote(rawJSON)}
	case rawjson.KindObject:
		if err := json.Unmarshal(rawJSON, &urls); err != nil {
			return nil, newInvalidValueError(s, `has an instance that is no text; give each its URL, as in {"work": "https://work.example.com"}`)
		}
	default:
		return nil, newInvalidValueError(s, "is %s; make it a URL, or an object of URLs by instance", rawjson.KindOf(rawJSON))
	}
	if len(urls) > maxInstances {
		return nil, newInvalidValueError(s, "has %d instances; use at most %d", len(urls), maxInstances)
	}
	sites := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(urls)) {
		if !instanceNamePattern().MatchString(name) {
			return nil, newInvalidValueError(s, "has an instance called %q; use up to 50 letters, digits, dots, hyphens and underscores", plaintext.Shorten(name))
		}
		urls[name] = strings.TrimSpace(urls[name])
		_, site, problemText := plugin.ParseSite(urls[name])
		if problemText != "" {
			return nil, newInvalidValueError(s, "%s", problemText)
		}
		if otherName, isRepeated := sites[site]; isRepeated {
			return nil, newInvalidValueError(s, "has two instances of one site, %s and %s: a page could not choose between them; keep one of them", otherName, name)
		}
		sites[site] = name
	}
	return rawjson.Encode(urls), nil
}

func newInvalidValueError(s plugin.Setting, format string, args ...any) error {
	return fmt.Errorf("the setting %s %s", s.Key, fmt.Sprintf(format, args...))
}
