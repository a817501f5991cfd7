package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSecretsAreRemovedFromText(t *testing.T) {
	r := &Redactor{Secrets: func() []string { return []string{"", "hunter2-of-ann"} }}
	for secretText, want := range map[string]string{
		"logged in with hunter2-of-ann twice: hunter2-of-ann":                "logged in with [redacted] twice: [redacted]",
		"Authorization: Bearer abcdefghijkl.mnop":                            "Authorization: [redacted]",
		"sent Bearer abcdefghijklmnop= on":                                   "sent Bearer [redacted] on",
		"GET https://x.example/a?token=abc123&page=2":                        "GET https://x.example/a?token=[redacted]&page=2",
		"GET /a?auth_token=abc123&csrf_token=d4&private_key=e5&max_tokens=9": "GET /a?auth_token=[redacted]&csrf_token=[redacted]&private_key=[redacted]&max_tokens=9",
		`{"apiKey":"k-123","page":2}`:                                        `{"apiKey":"[redacted]","page":2}`,
		"jwt eyJhbGciOi.eyJzdWIiOiIx.c2lnbmF0dXJl end":                       "jwt [redacted] end",
		"slack xoxb-1234567890-abcdef here":                                  "slack [redacted] here",
		"https://ann:pass@host.example/":                                     "https://[redacted]host.example/",
		"Cookie: a=b; c=d":                                                   "Cookie: [redacted]",
		"12 tokens were read in 3 s, the basic idea; see token limits":       "12 tokens were read in 3 s, the basic idea; see token limits",
		"GET https://x.example/channels/5?page=2 failed at 12:30:45.5":       "GET https://x.example/channels/5?page=2 failed at 12:30:45.5",
	} {
		if got := r.Text(secretText); got != want {
			t.Errorf("Text(%s)\n got %s\nwant %s", secretText, got, want)
		}
	}
}

func TestSecretsAreRemovedFromJSON(t *testing.T) {
	r := &Redactor{}
	got := string(r.JSON(json.RawMessage(`[{"user":"ann","password":"p","nested":{"access_token":["x"],"tokens":3},"n":12345678901234567890,"hasToken":true,"html":"<b>"},
		"Bearer abcdefghijklmnop"]`)))
	for _, want := range []string{`"user":"ann"`, `"password":"[redacted]"`, `"access_token":"[redacted]"`, `"tokens":3`, `"n":12345678901234567890`, `"html":"<b>"`, `"Bearer [redacted]"`} {
		if !strings.Contains(got, want) {
			t.Errorf("want %s in the redacted JSON, got %s", want, got)
		}
	}
	if r.JSON(json.RawMessage(`{`)) != nil || r.JSON(json.RawMessage(`1 2`)) != nil {
		t.Error("JSON of an invalid text is not nil, want nil")
	}
}
