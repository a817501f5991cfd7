package plugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"opentabs/internal/rawjson"
	"opentabs/wire"
)

const (
	// DefaultInstance is the name of the URL of a url setting that is given
	// without one.
	DefaultInstance = "default"
	// maxSettingChars is the longest text of a setting, maxInstances how many URLs
	// a url setting may have.
	maxSettingChars = 16384
	maxURLChars     = 2048
	maxInstances    = 50
)

var (
	instanceGrammar = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$`)
	secretWords     = regexp.MustCompile(`(?i)key|token|passw|passphrase|secret|credential|cookie|auth`)
)

// Secret reports whether the value is never shown and not given to a plugin that is
// restricted: as the package marks it, or else by the name of the setting, if that
// is one of a password or a key.
func (s Setting) Secret() bool {
	if s.Marked != nil {
		return *s.Marked
	}
	return s.Type == wire.SettingString && secretWords.MatchString(s.Key)
}

// Parse reads a value as a person writes it: true or yes, 12, one of the options,
// a URL for the instance "default". The error says what is allowed.
func (s Setting) Parse(text string) (json.RawMessage, error) {
	trimmed := strings.TrimSpace(text)
	switch s.Type {
	case wire.SettingBoolean:
		switch strings.ToLower(trimmed) {
		case "true", "yes", "on", "1":
			return json.RawMessage("true"), nil
		case "false", "no", "off", "0":
			return json.RawMessage("false"), nil
		}
		return nil, s.wrong("is %q; use true or false", shortText(text))
	case wire.SettingNumber:
		if n, err := strconv.ParseFloat(trimmed, 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
			if json.Valid([]byte(trimmed)) {
				return json.RawMessage(trimmed), nil
			}
			return rawjson.Encode(n), nil
		}
		return nil, s.wrong("is %q; use a number, such as 10 or 0.5", shortText(text))
	case wire.SettingURL:
		return s.check(rawjson.Encode(map[string]string{DefaultInstance: trimmed}))
	default:
		return s.check(rawjson.Encode(text))
	}
}

// check returns a value in the form in which it is kept: a url as an object of
// URLs by instance. The error says what is allowed, and not what a secret was.
func (s Setting) check(raw json.RawMessage) (json.RawMessage, error) {
	compacted, problem := rawjson.Compact(raw, nil)
	if problem != "" {
		return nil, s.wrong("is no JSON; %s", problem)
	}
	kind := rawjson.KindOf(compacted)
	switch s.Type {
	case wire.SettingURL:
		return s.checkURLs(compacted)
	case wire.SettingNumber:
		if kind != rawjson.KindNumber {
			return nil, s.wrong("is %s; make it a number", kind)
		}
		if n, err := strconv.ParseFloat(string(compacted), 64); err != nil || math.IsInf(n, 0) {
			return nil, s.wrong("is a number that does not fit; use one between -1e308 and 1e308")
		}
	case wire.SettingBoolean:
		if kind != rawjson.KindBool {
			return nil, s.wrong("is %s; make it true or false", kind)
		}
	default:
		if kind != rawjson.KindString {
			return nil, s.wrong("is %s; make it a text", kind)
		}
		text := rawjson.Unquote(compacted)
		if n := utf8.RuneCountInString(text); n > maxSettingChars {
			return nil, s.wrong("has %d characters; shorten it to at most %d", n, maxSettingChars)
		}
		if s.Type == wire.SettingSelect && !slices.Contains(s.Options, text) {
			return nil, s.wrong("is %q; use one of %s", shortText(text), strings.Join(s.Options, ", "))
		}
	}
	return slices.Clone(compacted), nil
}

// checkURLs takes one URL, or several by their instances.
func (s Setting) checkURLs(raw []byte) (json.RawMessage, error) {
	var urls map[string]string
	switch rawjson.KindOf(raw) {
	case rawjson.KindString:
		urls = map[string]string{DefaultInstance: rawjson.Unquote(raw)}
	case rawjson.KindObject:
		if err := json.Unmarshal(raw, &urls); err != nil {
			return nil, s.wrong(`has an instance that is no text; give each its URL, as in {"work": "https://work.example.com"}`)
		}
	default:
		return nil, s.wrong("is %s; make it a URL, or an object of URLs by instance", rawjson.KindOf(raw))
	}
	if len(urls) > maxInstances {
		return nil, s.wrong("has %d instances; use at most %d", len(urls), maxInstances)
	}
	sites := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(urls)) {
		if !instanceGrammar.MatchString(name) {
			return nil, s.wrong("has an instance called %q; use up to 50 letters, digits, dots, hyphens and underscores", shortText(name))
		}
		urls[name] = strings.TrimSpace(urls[name])
		_, site, problem := siteOf(urls[name])
		if problem != "" {
			return nil, s.wrong("%s", problem)
		}
		if other, twice := sites[site]; twice {
			return nil, s.wrong("has two instances of one site, %s and %s: a page could not tell which is its own; keep one of them", other, name)
		}
		sites[site] = name
	}
	return rawjson.Encode(urls), nil
}

func (s Setting) wrong(format string, args ...any) error {
	return fmt.Errorf("the setting %s %s", s.Key, fmt.Sprintf(format, args...))
}

// siteOf returns the host of a URL that a person gave, with its port where that is
// not the usual one, and how it is compared: localhost, 127.0.0.1 and [::1] are one.
func siteOf(text string) (host, compared, problem string) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return "", "", "has a URL that is empty; write it as in https://example.com"
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || len(text) > maxURLChars:
		return "", "", fmt.Sprintf("is %q; use an http or https URL, as in https://example.com", shortText(text))
	case u.User != nil:
		return "", "", "has a name or a password in its URL; take it out, the browser is logged in already"
	}
	name, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		port = ""
	}
	host, compared = name, name
	if name == "127.0.0.1" || name == "::1" {
		compared = "localhost"
	}
	if port != "" {
		host, compared = host+":"+port, compared+":"+port
	}
	if _, err := patternOf(host); err != nil {
		return "", "", err.Error()
	}
	return host, compared, ""
}

// patternOf is the match pattern of a site that a person named in a setting. It
// may be a name without a dot, as sites in a company's network have.
func patternOf(host string) (Pattern, error) {
	p := Pattern{text: "*://" + host + "/*", scheme: "*", path: "/*"}
	problem := p.setHost(host)
	if name, port, _ := strings.Cut(host, ":"); problem != "" && hostLabel.MatchString(strings.ToLower(name)) {
		p.host, problem = strings.ToLower(name), ""
		if strings.Contains(host, ":") {
			problem = p.setPort(port)
		}
	}
	if problem != "" || p.subdomains {
		return p, fmt.Errorf("has a URL with the host %q, which no browser extension can be let into; use a host name or an IPv4 address", shortText(host))
	}
	return p, nil
}

// shortText is a text that somebody gave, short enough for a sentence.
func shortText(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return text
}
