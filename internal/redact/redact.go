// Package redact removes secrets from texts and JSON values before opentabs stores them.
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

const redactedText = "[redacted]"

// Redactor replaces secrets in texts with "[redacted]": the values of secret settings, and texts that look like
// credentials, such as API keys. In JSON, a Redactor replaces the values of members such as "password". No Redactor
// can find every secret, so authors of plugins should not log secrets.
//
// The zero Redactor is ready for use. A Redactor is safe for concurrent use.
type Redactor struct {
	// Secrets returns further texts that the Redactor replaces, such as the values of secret
	// settings. If Secrets is nil, the Redactor only replaces texts that look like
	// credentials.
	Secrets func() []string
}

// credentialPattern finds one kind of credential in a text.
type credentialPattern struct {
	// Every credential that find matches contains at least one of the hints, which are in
	// lower case. Only a text that contains a hint is matched with the regular
	// expression, because the search for hints is 100 times as fast.
	hints []string
	// compilePattern returns a regular expression that matches a credential together with the text
	// before it, such as "token=". The first group of the regular expression matches only the
	// text before the credential, which redaction keeps.
	compilePattern func() *regexp.Regexp
}

var credentialPatterns = []credentialPattern{
	{[]string{"authorization", "cookie", "x-api-key", "x-csrf-token"},
		lazyregexp.New(`(?i)((?:authorization|cookie|set-cookie|x-api-key|x-csrf-token)["']?\s*[:=]\s*["']?)[^\s"'][^"'\n]*`)},
	{[]string{"token", "api_key", "apikey", "private", "secret", "passw", "session", "sid", "sig"},
		lazyregexp.New(`(?i)((?:\b|_)(?:token|api_?key|private_?key|secret|password|passwd|session_?id|sid|sig|signature)["']?\s*[=:]\s*["']?)[^\s"'&;,)}\]]+`)},
	{[]string{"bearer ", "basic "}, lazyregexp.New(`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}`)},
	// A JSON Web Token begins with eyJ, which is base64 for the characters {".
	{[]string{"eyj"}, lazyregexp.New(`()\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*`)},
	// Many issuers begin their API keys with a fixed prefix, such as npm_.
	{[]string{"sk-", "k_live_", "sk_test_", "xox", "gh", "github_pat_", "glpat-", "akia", "asia", "aiza", "ya29.", "shpat_", "npm_", "pypi-"},
		lazyregexp.New(`()\b(?:sk-|sk_live_|sk_test_|rk_live_|xox[abeoprs]-|gh[opsur]_|github_pat_|glpat-|AKIA|ASIA|AIza|ya29\.|shpat_|npm_|pypi-)[A-Za-z0-9._-]{10,}`)},
	{[]string{"://"}, lazyregexp.New(`(://)[^\s/@:]+:[^\s/@]+@`)},
}

// secretNamePattern matches the names of JSON members whose values are treated as secrets.
var secretNamePattern = lazyregexp.New(`(?i)^(?:.*(?:password|passwd|secret|api_?key|auth_?token|access_?token|refresh_?token|id_?token|csrf|credential|private_?key|session_?id).*|token|auth|authorization|cookies?|set-cookie|sid)$`)

// Text replaces each secret in a text with "[redacted]".
func (r *Redactor) Text(sourceText string) string {
	sourceText = r.removeSettings(sourceText)
	lowerText := strings.ToLower(sourceText)
	for _, pattern := range credentialPatterns {
		if slices.ContainsFunc(pattern.hints, func(hint string) bool { return strings.Contains(lowerText, hint) }) {
			sourceText = pattern.compilePattern().ReplaceAllString(sourceText, "${1}"+redactedText)
		}
	}
	return sourceText
}

func (r *Redactor) removeSettings(sourceText string) string {
	if r.Secrets == nil {
		return sourceText
	}
	for _, secret := range r.Secrets() {
		if secret != "" {
			sourceText = strings.ReplaceAll(sourceText, secret, redactedText)
		}
	}
	return sourceText
}

// JSON replaces the secrets in a JSON value and returns compact JSON, or nil if rawJSON is not
// valid JSON. JSON keeps the digits of numbers exactly as they are in rawJSON.
func (r *Redactor) JSON(rawJSON json.RawMessage) json.RawMessage {
	value, ok := Decode(rawJSON)
	if !ok {
		return nil
	}
	value, _ = r.Value(value)
	encodedJSON, err := rawjson.Marshal(value)
	if err != nil {
		return nil
	}
	return encodedJSON
}

// Decode decodes a JSON value for [Redactor.Value]. Numbers become [json.Number], so that they
// keep their exact digits. ok is false if rawJSON is not valid JSON.
func Decode(rawJSON json.RawMessage) (value any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(rawJSON))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil, false
	}
	_, err := d.Token()
	return value, err == io.EOF
}

// Value replaces the secrets in a value that [Decode] returned. Value changes arrays and objects in place. A string
// cannot be changed in place, so the caller must use the returned value. The result isChanged is true if Value replaced
// a secret.
func (r *Redactor) Value(value any) (redactedValue any, isChanged bool) {
	switch v := value.(type) {
	case string:
		redactedValue := r.Text(v)
		return redactedValue, redactedValue != v
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
