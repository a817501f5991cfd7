package plugin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

func TestSettingsAreBounded(t *testing.T) {
	oneSetting := func(key, extraMembers string) string {
		return fmt.Sprintf(`{%q:{"type":"select","label":"A","options":["a"]%s}}`, key, extraMembers)
	}
	manySettings := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	var settings []string
	for i := range 101 {
		settings = append(settings, fmt.Sprintf(`"k%d":{"type":"string","label":"A"}`, i))
	}
	for _, testCase := range []struct{ schema, want string }{
		{oneSetting("api_key-2.x", ""), ""},
		{oneSetting("größe", ""), ""},
		{oneSetting("a=b", ""), `has a setting called "a=b"; use up to 100 letters`},
		{oneSetting("", ""), `has a setting called ""`},
		{oneSetting("__proto__", ""), `has a setting called "__proto__"`},
		{oneSetting("a\u202eb", ""), "has a setting called"},
		{oneSetting(strings.Repeat("k", 101), ""), "has a setting called"},
		{"{" + strings.Join(settings, ",") + "}", "has 101 settings; use at most 100"},
		{oneSetting("a", `,"description":"`+strings.Repeat("x", 1001)+`"`), "configSchema.a.description has 1001 characters"},
		{oneSetting("a", `,"options":[`+manySettings(501, `"x"`)+`]`), "configSchema.a.options has 501 choices; use at most 500"},
	} {
		_, err := plugin.Load(plugintest.Package{Settings: json.RawMessage(testCase.schema)}.Write(t))
		if testCase.want == "" && err != nil || testCase.want != "" && (err == nil || !strings.Contains(err.Error(), testCase.want)) {
			t.Errorf("%.60s: %v, want %s", testCase.schema, err, testCase.want)
		}
	}
}
