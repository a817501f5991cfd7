package plugin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

func TestResolveToolNames(t *testing.T) {
	input := json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`)
	tool := plugintest.Tool{Name: "search", Description: "d", Input: input}
	toolWithoutInput := plugintest.Tool{Name: "free", Description: "d"}
	registry, _ := plugintest.Registry(t, plugintest.Package{Name: "a", Tools: []plugintest.Tool{tool, toolWithoutInput}}, plugintest.Package{Name: "b", Tools: []plugintest.Tool{tool}})
	if err := registry.Reload(); err != nil {
		t.Fatal(err)
	}
	parent := dispatch.Tool{Plugin: "a", Name: "parent"}
	for _, tt := range []struct{ name, args, fullName, wantArgs string }{
		{"search", `{"n":1}`, "a__search", `{"n":1}`},
		{"a__search", `{"n":1}`, "a__search", `{"n":1}`},
		{"b__search", ` {"n":1} `, "b__search", `{"n":1}`},
		{"free", ``, "a__free", `{}`},
		{"free", `null`, "a__free", `{}`},
	} {
		got, args, err := registry.Resolve(parent, tt.name, json.RawMessage(tt.args))
		if err != nil || got.FullName() != tt.fullName || string(args) != tt.wantArgs {
			t.Errorf("Resolve %s(%s) = %s(%s), error %v; want %s(%s)", tt.name, tt.args, got.FullName(), args, err, tt.fullName, tt.wantArgs)
		}
	}
	for _, tt := range []struct {
		name, args string
		code       wire.ErrorCode
		textPart   string
	}{
		{"nowhere", `{}`, wire.ErrUnknownTool, `"a__nowhere"`},
		{"c__search", `{}`, wire.ErrUnknownTool, `"c__search"`},
		{"search", `{"n":"x"}`, wire.ErrInvalidArguments, "n"},
		{"search", `{`, wire.ErrInvalidArguments, "JSON"},
	} {
		_, _, err := registry.Resolve(parent, tt.name, json.RawMessage(tt.args))
		if err == nil || err.Code != tt.code || !strings.Contains(err.Message, tt.textPart) {
			t.Errorf("error of Resolve for %s(%s) = %+v, want %s with %q", tt.name, tt.args, err, tt.code, tt.textPart)
		}
	}
}
