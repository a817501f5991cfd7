package plugin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"opentabs/internal/plaintext"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

const hiddenText = "a\U000e0001\U000e0041\U000e007f\u202e\u2066\x1b[31m\x07\u009b\ufe00\U000e0100\U000e01ef\u200b\u00ad\u3164 Grüße \u05e9\u05dc\u05d5\u05dd 👩\u200d🚀 \u2764\ufe0f"

const textWithoutHiddenRunes = "a[31m Grüße \u05e9\u05dc\u05d5\u05dd 👩\u200d🚀 \u2764\ufe0f"

func deepSchema(t *testing.T, schemaJSON string) json.RawMessage {
	t.Helper()
	rawJSON, err := json.Marshal(map[string]any{
		"type": "object", "title": schemaJSON, "description": schemaJSON, "$comment": schemaJSON, "examples": []any{map[string]any{"a": schemaJSON}},
		"properties": map[string]any{
			"a": map[string]any{"type": "string", "enum": []any{schemaJSON, "b"}, "default": schemaJSON, "description": schemaJSON},
			"b": map[string]any{"type": "array", "items": map[string]any{"oneOf": []any{map[string]any{"const": schemaJSON, "title": schemaJSON}}}},
			"c": map[string]any{"$ref": "#/$defs/deep"},
		},
		"$defs": map[string]any{"deep": map[string]any{"properties": map[string]any{"description": map[string]any{"description": schemaJSON}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return rawJSON
}

func TestSchemaTextsAreCleanAtAnyDepth(t *testing.T) {
	p, err := plugin.Load(plugintest.Package{
		Tools:   []plugintest.Tool{{Name: "ask", Description: "Asks.", Input: deepSchema(t, hiddenText), Output: deepSchema(t, hiddenText)}},
		Prompts: []plugintest.Prompt{{Name: "greet", Input: deepSchema(t, hiddenText)}},
	}.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	for schemaName, schema := range map[string]json.RawMessage{"input": p.Tools[0].InputSchema, "output": p.Tools[0].OutputSchema, "prompt": p.Prompts[0].InputSchema} {
		var document any
		if err := json.Unmarshal(schema, &document); err != nil {
			t.Fatal(err)
		}
		if n := forEachString(document, func(s string) {
			if _, isHidden := plaintext.FindHiddenRune(s); isHidden {
				t.Errorf("%s: text %+q of the schema; want no hidden character", schemaName, s)
			}
		}); n < 10 {
			t.Errorf("%s: %d texts, want at least 10, in the schema %s", schemaName, n, schema)
		}
		if strings.Count(string(schema), textWithoutHiddenRunes) != 10 {
			t.Errorf("%s: schema %s; want the visible text 10 times", schemaName, schema)
		}
	}
	if got := p.Prompts[0].Arguments[0].Description; got != textWithoutHiddenRunes {
		t.Errorf("description of the prompt's argument = %+q; want the visible text", got)
	}
	if len(p.Warnings) != 3 || !strings.Contains(p.Warnings[0], "tools[0].input_schema has characters that are not shown") {
		t.Errorf("warnings = %q; want 3, first about tools[0].input_schema", p.Warnings)
	}
}

func forEachString(v any, f func(string)) (n int) {
	switch v := v.(type) {
	case string:
		f(v)
		return 1
	case []any:
		for _, item := range v {
			n += forEachString(item, f)
		}
	case map[string]any:
		for key, item := range v {
			f(key)
			n += forEachString(item, f)
		}
	}
	return n
}

func TestSchemaTextsAreBounded(t *testing.T) {
	longText := strings.Repeat("ä", 5000)
	schema := fmt.Sprintf(`{"type":"object","description":%q,"properties":{"a":{"title":%[1]q,"enum":[%[1]q]}}}`, longText)
	p, err := plugin.Load(plugintest.Package{Tools: []plugintest.Tool{{Name: "ask", Description: "Asks.", Input: json.RawMessage(schema)}}}.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Description string
		Properties  map[string]struct {
			Title string
			Enum  []string
		}
	}
	if err := json.Unmarshal(p.Tools[0].InputSchema, &got); err != nil {
		t.Fatal(err)
	}
	a := got.Properties["a"]
	if utf8.RuneCountInString(got.Description) != 2000 || utf8.RuneCountInString(a.Title) != 2000 || a.Enum[0] != longText {
		t.Errorf("description: %d characters, title: %d, enum value: %d; want 2000, 2000 and the whole text", len(got.Description), len(a.Title), len(a.Enum[0]))
	}
	hugeSchema := fmt.Sprintf(`{"type":"object","properties":{"a":{"enum":[%q]}}}`, strings.Repeat("x", 256<<10))
	_, err = plugin.Load(plugintest.Package{Tools: []plugintest.Tool{{Name: "ask", Description: "Asks.", Input: json.RawMessage(hugeSchema)}}}.Write(t))
	if err == nil || !strings.Contains(err.Error(), "tools[0].input_schema has 2") {
		t.Error(err)
	}
}

// Removing a hidden character from a pattern would change the pattern's meaning, so the character is escaped.
func TestHiddenSchemaCharactersAreEscaped(t *testing.T) {
	loadSchema := func(schema string) (*plugin.Plugin, error) {
		return plugin.Load(plugintest.Package{Tools: []plugintest.Tool{{Name: "ask", Description: "Asks.", Input: json.RawMessage(schema)}}}.Write(t))
	}
	p, err := loadSchema("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"^[^\u200b\U000e0041]+$\"}}}")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(p.Tools[0].InputSchema), `"^[^\\u200b\\u{e0041}]+$"`) {
		t.Errorf("input schema = %s; want a text that contains %q", p.Tools[0].InputSchema, `"^[^\\u200b\\u{e0041}]+$"`)
	}
	for patternText, ok := range map[string]bool{"ab": true, "a\u200bb": false, "a\U000e0041b": false} {
		args, err := json.Marshal(map[string]string{"a": patternText})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Tools[0].Validate(args); (err == nil) != ok {
			t.Errorf("Validate of the value %+q: error %v; want success only for the original value", patternText, err)
		}
	}
	_, err = loadSchema("{\"type\":\"object\",\"properties\":{\"a\u202eb\":{}}}")
	if err == nil || !strings.Contains(err.Error(), "input_schema has a member whose name has the character U+202E") {
		t.Error(err)
	}
}

func TestNamesAndPatternsAreBounded(t *testing.T) {
	makeEnumValues := func(n int) string {
		return `["` + strings.Repeat(`*://a.com/*","`, n-1) + `*://a.com/*"]`
	}
	for _, c := range []struct{ path, value, problemText string }{
		{"name", `"opentabs-plugin-` + strings.Repeat("a", 65) + `"`, "the plugin's name has 65 characters; use at most 64"},
		{"version", `"` + strings.Repeat("1", 101) + `"`, "version has 101 characters"},
		{"opentabs.urlPatterns", makeEnumValues(201), "opentabs.urlPatterns has 201 patterns; use at most 200"},
		{"opentabs.excludePatterns", makeEnumValues(201), "opentabs.excludePatterns has 201 patterns"},
		{"opentabs.urlPatterns", `["*://a.com/` + strings.Repeat("a", 1000) + `"]`, "opentabs.urlPatterns[0] has 1010 characters; use at most 1000"},
		{"opentabs.urlPatterns", `["*://a.com/\u202e*"]`, "opentabs.urlPatterns[0] has the character U+202E"},
		{"opentabs.homepage", `"https://github.com@evil.example/"`, "opentabs.homepage has a user name before its host"},
		{"opentabs.homepage", `"https://user:secret@example.com/"`, "opentabs.homepage has a user name before its host"},
	} {
		dir := plugintest.Package{}.Write(t)
		editFile(t, dir, packageFile, newJSONMemberEdit(c.path, c.value))
		if _, err := plugin.Load(dir); err == nil || !strings.Contains(err.Error(), c.problemText) {
			t.Errorf("error for the invalid member %s = %.300v; want an error that contains %q", c.path, err, c.problemText)
		}
	}
	dir := plugintest.Package{}.Write(t)
	editFile(t, dir, packageFile, newJSONMemberEdit("opentabs.urlPatterns", makeEnumValues(200)))
	editFile(t, dir, packageFile, newJSONMemberEdit("name", `"opentabs-plugin-`+strings.Repeat("a", 64)+`"`))
	editFile(t, dir, packageFile, newJSONMemberEdit("opentabs.displayName", `"`+strings.Repeat("ä", 101)+`"`))
	editFile(t, dir, packageFile, newJSONMemberEdit("opentabs.description", `"`+strings.Repeat("x", 1001)+`"`))
	editFile(t, dir, toolsFile, newJSONMemberEdit("tools.displayName", `"`+strings.Repeat("x", 101)+`"`))
	p, err := plugin.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for schemaName, longText := range map[string]string{"plugin": p.DisplayName, "tool": p.Tools[0].DisplayName} {
		if utf8.RuneCountInString(longText) != 100 || !strings.HasSuffix(longText, "…") {
			t.Errorf("name of the %s = %q; want 100 characters that end with …", schemaName, longText)
		}
	}
	if utf8.RuneCountInString(p.Description) != 1000 {
		t.Errorf("the description has %d characters; want 1000", len(p.Description))
	}
}
