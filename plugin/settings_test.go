package plugin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

// Settings that surfaces cannot show, or that commands cannot name, are rejected,
// with the rule in the error.
func TestSettingsAreBounded(t *testing.T) {
	one := func(key, more string) string {
		return fmt.Sprintf(`{%q:{"type":"select","label":"A","options":["a"]%s}}`, key, more)
	}
	many := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	var settings []string
	for i := range 101 {
		settings = append(settings, fmt.Sprintf(`"k%d":{"type":"string","label":"A"}`, i))
	}
	for _, test := range []struct{ schema, want string }{
		{one("api_key-2.x", ""), ""},
		{one("größe", ""), ""},
		{one("a=b", ""), `has a setting called "a=b"; use up to 100 letters`},
		{one("", ""), `has a setting called ""`},
		{one("__proto__", ""), `has a setting called "__proto__"`},
		{one("a\u202eb", ""), "has a setting called"},
		{one(strings.Repeat("k", 101), ""), "has a setting called"},
		{"{" + strings.Join(settings, ",") + "}", "has 101 settings; use at most 100"},
		{one("a", `,"description":"`+strings.Repeat("x", 1001)+`"`), "configSchema.a.description has 1001 characters"},
		{one("a", `,"options":[`+many(501, `"x"`)+`]`), "configSchema.a.options has 501 choices; use at most 500"},
	} {
		_, err := plugin.Load(plugintest.Package{Settings: json.RawMessage(test.schema)}.Write(t))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%.60s: %v, want %s", test.schema, err, test.want)
		}
	}
}
