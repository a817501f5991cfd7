package plugin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

func TestValidateResult(t *testing.T) {
	p := plugintest.Load(t, plugintest.Package{Tools: []plugintest.Tool{{
		Name: "count", Description: "Counts.", Input: json.RawMessage(`{"type":"object"}`),
		Output: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
	}}})
	tool := p.Tools[0]
	if !tool.DeclaresResults() {
		t.Error("DeclaresResults for a package of the opentabs SDK = false; want true")
	}
	bigResult := `{"n":"` + strings.Repeat("x", 5<<20) + `"}`
	for _, tt := range []struct {
		output string
		want   []string // the field want contains parts of the expected error; nil if the result is valid
	}{
		{`{"n":1}`, nil},
		{`{"n":9007199254740993,"more":true}`, nil},
		{bigResult, nil}, // a result of this size is accepted without a check
		{``, []string{"undefined"}},
		{`null`, []string{"null", "object", "It returned: null"}},
		{`{"n":"one"}`, []string{"/n", "integer", `It returned: {"n":"one"}`}},
		{`{}`, []string{"n"}},
	} {
		var output json.RawMessage
		if tt.output != "" {
			output = json.RawMessage(tt.output)
		}
		err := tool.ValidateResult(output)
		if len(tt.want) == 0 {
			if err != nil {
				t.Errorf("result %.40s: error %+v; want none", tt.output, err)
			}
			continue
		}
		if err == nil || err.Code != wire.ErrInvalidResult {
			t.Errorf("error for the result %.40s = %+v, want invalid_result", tt.output, err)
			continue
		}
		for _, textPart := range tt.want {
			if errorText := err.Message + "\n" + err.PageText; !strings.Contains(errorText, textPart) {
				t.Errorf("result %.40s: error %q, want the text %q in it", tt.output, errorText, textPart)
			}
		}
	}
}

func TestArgumentNestingLimit(t *testing.T) {
	p := plugintest.Load(t, plugintest.Package{Tools: []plugintest.Tool{{
		Name: "echo", Description: "Echoes.", Input: json.RawMessage(`{"type":"object"}`),
	}}})
	nestedArguments := func(n int) json.RawMessage {
		return json.RawMessage(`{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`)
	}
	if err := p.Tools[0].Validate(nestedArguments(999)); err != nil {
		t.Errorf("Validate of arguments with 1,000 levels: error %v; want none", err)
	}
	if err := p.Tools[0].Validate(nestedArguments(1000)); err == nil || !strings.Contains(err.Error(), "1000 levels") {
		t.Errorf("error for arguments with 1,001 levels = %v; want an error that contains %q", err, "1000 levels")
	}
}

func TestDispatchedToolChecksItsOutput(t *testing.T) {
	for schemaText, want := range map[string]wire.ErrorCode{
		`{"type":"object","required":["n"]}`: wire.ErrInvalidResult,
		`{"type":"array"}`:                   "", // in MCP, an output schema is an object
	} {
		tool := plugintest.Load(t, plugintest.Package{Tools: []plugintest.Tool{{Name: "list", Description: "d", Output: json.RawMessage(schemaText)}}}).Tools[0]
		var code wire.ErrorCode
		if err := tool.Dispatch().Output.CheckOutput(json.RawMessage(`{}`)); err != nil {
			code = err.Code
		}
		if code != want {
			t.Errorf("schema %s: error code for the result {} = %q, want %q", schemaText, code, want)
		}
	}
}
