// Package redact removes secrets from texts and JSON values before opentabs stores them.
//
// Start with a [Redactor]. All methods are safe for concurrent use.
package redact

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"

	"opentabs/internal/lazyregexp"
	"opentabs/internal/rawjson"
)

// redactedText replaces a secret.
const redactedText = "[redacted]"

// Redactor removes secrets from texts: the values of secret settings, and texts in the
// form of a credential. In JSON, Redactor also removes the value of every member with the
// name of a credential. Redactor cannot find every secret, so authors of plugins should
// not log secrets.
//
// The zero value of Redactor has no secret settings. Redactor is safe for concurrent use.
type Redactor struct {
	// Secrets returns texts to remove everywhere; nil for none.
	Secrets func() []string
}

// credentialPattern is a kind of credential that a regular expression can find.
type credentialPattern struct {
	// hints are lower-case texts. Each match of find contains one of the hints. A
	// search for the hints takes a hundredth of the time of a match with find.
	hints []string
	// find matches the credential. Redaction keeps the text that matches the first
	// group of find.
	find func() *regexp.Regexp
}

var credentialPatterns = []credentialPattern{
	// The expression matches the value of a header with credentials, such as
	// Authorization.
	{[]string{"authorization", "cookie", "x-api-key", "x-csrf-token"},
		lazyregexp.New(`(?i)((?:authorization|cookie|set-cookie|x-api-key|x-csrf-token)["']?\s*[:=]\s*["']?)[^\s"'][^"'\n]*`)},
	// The expression matches the value of a parameter or JSON member with the name of a
	// credential.
	{[]string{"token", "api_key", "apikey", "private", "secret", "passw", "session", "sid", "sig"},
		lazyregexp.New(`(?i)((?:\b|_)(?:token|api_?key|private_?key|secret|password|passwd|session_?id|sid|sig|signature)["']?\s*[=:]\s*["']?)[^\s"'&;,)}\]]+`)},
	{[]string{"bearer ", "basic "}, lazyregexp.New(`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}`)},
	// The expression matches a JSON Web Token.
	{[]string{"eyj"}, lazyregexp.New(`()\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*`)},
	// The expression matches API keys that begin with the prefix of their issuer, such
	// as npm_.
	{[]string{"sk-", "k_live_", "sk_test_", "xox", "gh", "github_pat_", "glpat-", "akia", "asia", "aiza", "ya29.", "shpat_", "npm_", "pypi-"},
		lazyregexp.New(`()\b(?:sk-|sk_live_|sk_test_|rk_live_|xox[abeoprs]-|gh[opsur]_|github_pat_|glpat-|AKIA|ASIA|AIza|ya29\.|shpat_|npm_|pypi-)[A-Za-z0-9._-]{10,}`)},
	// The expression matches a user and a password in a URL.
	{[]string{"://"}, lazyregexp.New(`(://)[^\s/@:]+:[^\s/@]+@`)},
}

// secretNamePattern matches the names of members whose values are secret.
var secretNamePattern = lazyregexp.New(`(?i)^(?:.*(?:password|passwd|secret|api_?key|auth_?token|access_?token|refresh_?token|id_?token|csrf|credential|private_?key|session_?id).*|token|auth|authorization|cookies?|set-cookie|sid)$`)

// Text returns text without secrets.
func (r *Redactor) Text(text string) string {
	text = r.removeSettings(text)
	lowerText := strings.ToLower(text)
	for _, pattern := range credentialPatterns {
		if slices.ContainsFunc(pattern.hints, func(hint string) bool { return strings.Contains(lowerText, hint) }) {
			text = pattern.find().ReplaceAllString(text, "${1}"+redactedText)
		}
	}
	return text
}

// removeSettings removes the values of secret settings.
func (r *Redactor) removeSettings(text string) string {
	if r.Secrets == nil {
		return text
	}
	for _, secret := range r.Secrets() {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, redactedText)
		}
	}
	return text
}

// JSON returns a JSON value without secrets, in compact form, or nil if raw is not
// JSON. The text of numbers is unchanged.
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage {
	value, ok := Decode(raw)
	if !ok {
		return nil
	}
	value, _ = r.Value(value)
	text, err := rawjson.Marshal(value)
	if err != nil {
		return nil
	}
	return text
}

// Decode decodes a JSON value for [Redactor.Value], and keeps the text of its numbers. ok
// is false if raw is not JSON.
func Decode(raw json.RawMessage) (value any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil, false
	}
	_, err := d.Token()
	return value, err == io.EOF
}

// Value removes the secrets from a value that [Decode] returned, in place, and returns
// the value. isChanged is true if Value removed a secret.
func (r *Redactor) Value(value any) (redacted any, isChanged bool) {
	switch v := value.(type) {
	case string:
		text := r.Text(v)
		return text, text != v
	case []any:
		for i := range v {
			element, isElementChanged := r.Value(v[i])
			v[i], isChanged = element, isChanged || isElementChanged
		}
	case map[string]any:
		for key, member := range v {
			if secretNamePattern().MatchString(key) && member != nil && member != true && member != false {
				v[key], isChanged = redactedText, true
				continue
			}
			redactedMember, isMemberChanged := r.Value(member)
			v[key], isChanged = redactedMember, isChanged || isMemberChanged
		}
	}
	return value, isChanged
}
