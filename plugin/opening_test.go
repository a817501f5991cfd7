package plugin_test

import (
	"encoding/json"
	"testing"

	"opentabs/plugin/plugintest"
)

func TestChooseOpenURL(t *testing.T) {
	for _, testCase := range []struct {
		matches []string
		want    string
	}{
		{[]string{"https://mail.example.com/*"}, "https://mail.example.com/"},
		{[]string{"*://mail.example.com:8443/app/*/inbox", "*://*.example.org/*"}, "https://example.org/"},
		{[]string{"*://localhost:3000/a/*"}, "http://localhost:3000/a/"},
		{[]string{"*://127.0.0.1/*"}, "http://127.0.0.1/"},
		{[]string{}, ""},
	} {
		p := plugintest.Package{Name: "mail", Matches: testCase.matches, Settings: json.RawMessage(`{"site":{"type":"url","label":"Site","required":true}}`)}
		registry, _ := plugintest.Registry(t, p)
		mailPlugin, ok := registry.Set().Plugin("mail")
		if !ok || mailPlugin.OpenURL != testCase.want {
			t.Errorf("URL that a plugin with the patterns %q opens = %q, want %q (failed plugins %v)", testCase.matches, mailPlugin.OpenURL, testCase.want, registry.Set().Failed())
		}
	}
}
