package schema

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"opentabs/dispatch"
	"opentabs/wire"
)

func TestValidateKeepsIntegersExact(t *testing.T) {
	tool := newTestTool(t, exportInput)
	// Integers are compared exactly, even integers that no float64 represents, such as
	// 2^53+1.
	if err := tool.Validate(json.RawMessage(`{"channelId":"C1","limit":9007199254740993}`)); err != nil {
		t.Error(err)
	}
	err := tool.Validate(json.RawMessage(`{"channelId":"C1","limit":9007199254740994}`))
	if err == nil || !strings.Contains(err.Error(), "/limit: got 9007199254740994, want at most 9007199254740993") {
		t.Error(err)
	}
	if err := newToolWithArguments(t, `{"const":9007199254740993}`).Validate(json.RawMessage(`{"v":9007199254740992}`)); err == nil {
		t.Error("the integer 2^53 was accepted for the constant 2^53+1; want an error")
	}
	for _, integer := range []string{"1.0", "1e2", "-0"} {
		if err := newToolWithArguments(t, `{"type":"integer"}`).Validate(json.RawMessage(`{"v":` + integer + `}`)); err != nil {
			t.Errorf("integer %s: error %v; want none", integer, err)
		}
	}
}

// The comparison of numbers uses exact fractions, whose size grows with the number's
// exponent, so huge exponents must be rejected.
func TestValidateRefusesHugeNumbers(t *testing.T) {
	tool := newToolWithArguments(t, `{"type":"array","items":{"type":"integer"}}`)
	for jsonNumber, want := range map[string]string{
		"1e999999999":             "/v/1: the number has an exponent beyond 400",
		"1E-999999999":            "/v/1: the number has an exponent beyond 400",
		"1e99999999999999999999":  "/v/1: the number has an exponent beyond 400",
		strings.Repeat("1", 2000): "/v/1: the number has 2000 characters; use at most 1000",
	} {
		err := tool.Validate(json.RawMessage(`{"v":[1,` + jsonNumber + `]}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error for the number %.20s = %v, want %q", jsonNumber, err, want)
		}
	}
	err := newToolWithArguments(t, `{"type":"number","minimum":1e999999999}`).Validate(json.RawMessage(`{"v":1}`))
	if err == nil || !strings.Contains(err.Error(), "exponent") {
		t.Errorf("error for a huge exponent in a schema = %v; want an error that contains %q", err, "exponent")
	}
}

func TestValidateNeverPassesABrokenSchema(t *testing.T) {
	for name, schema := range map[string]string{
		"bad pattern":     `{"type":"string","pattern":"("}`,
		"bad type":        `{"type":"text"}`,
		"bad reference":   `{"$ref":"#/$defs/nowhere"}`,
		"file reference":  `{"$ref":"file:///etc/passwd"}`,
		"web reference":   `{"$ref":"https://example.com/schema.json"}`,
		"foreign dialect": `{"$schema":"https://example.com/dialect","type":"string"}`,
	} {
		tool := newToolWithArguments(t, schema)
		for range 2 {
			err := tool.Validate(json.RawMessage(`{"v":"x"}`))
			var callErr *dispatch.Error
			if !errors.As(err, &callErr) || callErr.Code != wire.ErrInternal ||
				!strings.Contains(callErr.Message, "the input schema of p__t cannot be used") || !strings.Contains(callErr.Message, "Report it to the author") {
				t.Errorf("schema %s: error %v; want an internal error that asks for a report to the author", name, err)
			}
		}
	}
}

func TestValidateFromManyGoroutines(t *testing.T) {
	tool := newTestTool(t, exportInput)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if err := tool.Validate(json.RawMessage(`{"channelId":"C1"}`)); err != nil {
				t.Error(i, err)
			}
			if err := tool.Validate(json.RawMessage(`{"channelId":1}`)); err == nil {
				t.Error(i, "passed")
			}
		})
	}
	wg.Wait()
}

func BenchmarkValidate(b *testing.B) {
	tool := newTestTool(b, exportInput)
	args := json.RawMessage(`{"channelId":"C1","limit":5,"labels":["a"],"format":"json","target":{"kind":"mail","to":"x"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := tool.Validate(args); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzArguments(f *testing.F) {
	f.Add(exportInput, `{"channel_id":"C1","labels":[1],"target":{"kind":"fax"}}`)
	f.Add(`{"type":"object","oneOf":[{"required":["a"]},{"properties":{"a":{"$ref":"#/oneOf/0"}}}],"propertyNames":{"maxLength":1}}`, `{"a":{"bb":1}}`)
	f.Add(`{"type":"object","patternProperties":{"^(?=x)":{"not":{}}},"if":{"minProperties":1},"then":false,"contains":{},"$defs":{"a":{}}}`, `{"x":1}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		tool := &testTool{schema: json.RawMessage(schema)}
		err := tool.Validate(json.RawMessage(args))
		var callErr *dispatch.Error
		if err != nil && (!errors.As(err, &callErr) || callErr.Message == "" || callErr.Code != wire.ErrInvalidArguments && callErr.Code != wire.ErrInternal) {
			t.Fatalf("error = %v; want a *dispatch.Error with a text and a known code", err)
		}
	})
}
