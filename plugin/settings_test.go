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
	makeSettingJSON := func(key, extraMembersJSON string) string {
		return fmt.Sprintf(`{%q:{"type":"select","label":"A","options":["a"]%s}}`, key, extraMembersJSON)
	}
	makeSettings := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	var settings []string
	for i := range 101 {
		settings = append(settings, fmt.Sprintf(`"k%d":{"type":"string","label":"A"}`, i))
	}
	for _, testCase := range []struct{ schema, want string }{
		{makeSettingJSON("api_key-2.x", ""), ""},
		{makeSettingJSON("größe", ""), ""},
		{makeSettingJSON("a=b", ""), `has a setting called "a=b"; use up to 100 letters`},
		{makeSettingJSON("", ""), `has a setting called ""`},
		{makeSettingJSON("__proto__", ""), `has a setting called "__proto__"`},
		{makeSettingJSON("a\u202eb", ""), "has a setting called"},
		{makeSettingJSON(strings.Repeat("k", 101), ""), "has a setting called"},
		{"{" + strings.Join(settings, ",") + "}", "has 101 settings; use at most 100"},
		{makeSettingJSON("a", `,"description":"`+strings.Repeat("x", 1001)+`"`), "configSchema.a.description has 1001 characters"},
		{makeSettingJSON("a", `,"options":[`+makeSettings(501, `"x"`)+`]`), "configSchema.a.options has 501 choices; use at most 500"},
	} {
		_, err := plugin.Load(plugintest.Package{Settings: json.RawMessage(testCase.schema)}.Write(t))
		if testCase.want == "" && err != nil || testCase.want != "" && (err == nil || !strings.Contains(err.Error(), testCase.want)) {
			t.Errorf("error for the settings %.60s = %v, want %s", testCase.schema, err, testCase.want)
		}
	}
}
