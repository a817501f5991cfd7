package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"opentabs/internal/rawjson"
)

type testTool struct {
	validator Validator
	schema    json.RawMessage
}

func (t *testTool) Validate(args json.RawMessage) error {
	return t.validator.CheckArguments(Subject{Name: "t", RetryAdvice: "call the tool again", Plugin: "p", Version: "1.0.0"}, t.schema, args)
}

func newToolWithArguments(t testing.TB, schema string) *testTool {
	t.Helper()
	return newTestTool(t, fmt.Sprintf(`{"type":"object","properties":{"v":%s},"required":["v"],"additionalProperties":false}`, schema))
}

func newTestTool(t testing.TB, input string) *testTool {
	t.Helper()
	compactJSON, problemText := rawjson.Compact([]byte(input), nil)
	if problemText != "" {
		t.Fatal(problemText)
	}
	cleaned := Clean(compactJSON)
	if cleaned.Problem != "" {
		t.Fatal(cleaned.Problem)
	}
	return &testTool{schema: RelaxDefaults(cleaned.Schema)}
}

// Every value that zod accepts must match the schema that zod generates, because a rejected value never reaches the
// page.
func TestValidateAgreesWithZod(t *testing.T) {
	fileContent, err := os.ReadFile("testdata/zod-checks.json")
	if err != nil {
		t.Fatal(err)
	}
	var zodChecks map[string]struct {
		Schema  json.RawMessage
		Valid   []json.RawMessage `json:"good"`
		Invalid []json.RawMessage `json:"bad"`
	}
	if err := json.Unmarshal(fileContent, &zodChecks); err != nil {
		t.Fatal(err)
	}
	if len(zodChecks) < 25 {
		t.Fatalf("%d checks of zod; want at least 25", len(zodChecks))
	}
	for name, zodCheck := range zodChecks {
		tool := newToolWithArguments(t, string(zodCheck.Schema))
		for _, v := range zodCheck.Valid {
			if err := tool.Validate(json.RawMessage(fmt.Sprintf(`{"v":%s}`, v))); err != nil {
				t.Errorf("check %s of zod: the valid value %s is rejected with %v; want it accepted", name, v, err)
			}
		}
		for _, v := range zodCheck.Invalid {
			if err := tool.Validate(json.RawMessage(fmt.Sprintf(`{"v":%s}`, v))); err == nil && name != "url" {
				t.Errorf("check %s of zod: the invalid value %s is accepted; want it rejected", name, v)
			}
		}
	}
}

func TestValidateAssertsFormats(t *testing.T) {
	for _, c := range []struct{ schema, validValue, invalidValue string }{
		{`{"type":"string","format":"date-time"}`, `"2026-01-31T12:00:00Z"`, `"2026-01-31"`},
		{`{"type":"string","format":"date"}`, `"2026-01-31"`, `"31.1.2026"`},
		{`{"type":"string","format":"uri"}`, `"https://example.com/ä b"`, `"example"`},
		{`{"type":"string","format":"made-up"}`, `"x"`, `7`},
	} {
		tool := newToolWithArguments(t, c.schema)
		if err := tool.Validate(json.RawMessage(`{"v":` + c.validValue + `}`)); err != nil {
			t.Errorf("schema %s: the valid value is rejected with %v; want it accepted", c.schema, err)
		}
		if err := tool.Validate(json.RawMessage(`{"v":` + c.invalidValue + `}`)); err == nil {
			t.Errorf("schema %s: the invalid value %s is accepted; want it rejected", c.schema, c.invalidValue)
		}
	}
}

// Without a time limit, matching a string of TestSlowPatternTimesOut would take hours, because the pattern backtracks.
func TestSlowPatternTimesOut(t *testing.T) {
	tool := newToolWithArguments(t, `{"type":"array","items":{"type":"string","pattern":"^(?=a)(a+)+$"}}`)
	wantedTexts := make([]string, 1000)
	for i := range wantedTexts {
		wantedTexts[i] = strings.Repeat("a", 40) + "!"
	}
	startTime := time.Now()
	err := tool.Validate(newTestArguments(t, wantedTexts))
	if err == nil || !strings.Contains(err.Error(), "/v/0: does not match the pattern") {
		t.Errorf("error for a slow pattern = %v; want an error that contains %q", err, "/v/0: does not match the pattern")
	}
	if elapsedTime := time.Since(startTime); elapsedTime > 20*time.Second { // 1,000 strings with a timeout of 100 ms each would take 100 s
		t.Errorf("the check lasted %s; want at most 20 s", elapsedTime)
	}
}

func newTestArguments(t testing.TB, v any) json.RawMessage {
	t.Helper()
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(map[string]any{"v": v}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
