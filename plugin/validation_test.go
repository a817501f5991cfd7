package plugin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

var brokenSchemas = map[string]string{
	`{"type":"object","properties":{"a":{"type":"text"}}}`:                                "properties/a/type",
	`{"type":"object","properties":{"a":{"pattern":"("}}}`:                                "pattern",
	`{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}`:                        "none",
	`{"type":"object","properties":{"a":{"$ref":"https://example.com/a"}}}`:               "refer only to itself",
	`{"type":"object","properties":{"a":{"minimum":1` + strings.Repeat("0", 1001) + `}}}`: "characters",
}

func TestSchemasThatDoNotCompileAreRefusedAtLoad(t *testing.T) {
	for schema, reason := range brokenSchemas {
		tool := plugintest.Tool{Name: "ask", Description: "Asks.", Input: json.RawMessage(schema)}
		_, err := plugin.NewStore(t.TempDir(), plugin.StoreOptions{}).Add(plugintest.Package{Tools: []plugintest.Tool{tool}}.Write(t))
		want := "dist/tools.json: tools[0].input_schema of ask does not compile: "
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), reason) || strings.Contains(err.Error(), "opentabs://") {
			t.Errorf("schema %.200s: error\n%v\nwant %q and %q", schema, err, want, reason)
		}
	}
	outputTool := plugintest.Tool{Name: "ask", Description: "Asks.", Output: json.RawMessage(`{"type":"text"}`)}
	_, err := plugin.NewStore(t.TempDir(), plugin.StoreOptions{}).Add(plugintest.Package{Tools: []plugintest.Tool{outputTool}}.Write(t))
	if err == nil || !strings.Contains(err.Error(), "tools[0].output_schema of ask does not compile") {
		t.Error(err)
	}
	prompt := plugintest.Prompt{Name: "greet", Input: json.RawMessage(`{"type":"object","properties":{"a":{"pattern":"("}}}`)}
	_, err = plugin.NewStore(t.TempDir(), plugin.StoreOptions{}).Add(plugintest.Package{Prompts: []plugintest.Prompt{prompt}}.Write(t))
	if err == nil || !strings.Contains(err.Error(), "prompts[0].input_schema of greet does not compile") {
		t.Error(err)
	}
}

func TestInvalidSchemaFailsReload(t *testing.T) {
	dir := plugintest.Package{}.Write(t)
	store := plugin.NewStore(t.TempDir(), plugin.StoreOptions{})
	if _, err := store.Add(dir); err != nil {
		t.Fatal(err)
	}
	editFile(t, dir, toolsFile, newJSONMemberEdit("tools.input_schema", `{"type":"object","properties":{"a":{"pattern":"("}}}`))
	for range 2 {
		registry := plugin.NewRegistry(store, zerolog.Nop())
		if err := registry.Reload(); err != nil {
			t.Fatal(err)
		}
		failures := registry.Set().Failed()
		if len(failures) != 1 || failures[0].Name != "messages" || !strings.Contains(failures[0].Err.Error(), "tools[0].input_schema of echo does not compile") {
			t.Errorf("failed plugins = %+v; want messages, whose input schema does not compile", failures)
		}
	}
}
