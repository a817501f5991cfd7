package schema

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/wire"
)

const exportInput = `{"type":"object","properties":{
	"channelId":{"type":"string","minLength":2,"description":"The channel's id,\n such as C123."},
	"limit":{"type":"integer","minimum":1,"maximum":9007199254740993,"default":20},
	"labels":{"type":"array","items":{"type":"string"},"maxItems":2},
	"format":{"type":"string","enum":["json","text"]},
	"since":{"type":"string","format":"date-time"},
	"target":{"oneOf":[
		{"type":"object","properties":{"kind":{"type":"string","const":"file"},"path":{"type":"string"}},"required":["kind","path"],"additionalProperties":false},
		{"type":"object","properties":{"kind":{"type":"string","const":"mail"},"to":{"type":"string"}},"required":["kind","to"],"additionalProperties":false}]},
	"note":{"anyOf":[{"type":"string"},{"type":"null"}]}
},"required":["channelId","limit"],"additionalProperties":false}`

func TestViolationTexts(t *testing.T) {
	tool := newTestTool(t, exportInput)
	for _, c := range []struct{ args, want string }{
		{`{"channelId":"C1"}`, ``}, // the argument limit is optional, because it has a default
		{`{"channelId":"C1","limit":5,"labels":["a"],"format":"json","since":"2026-01-31T12:00:00.5+01:00","target":{"kind":"mail","to":"x"},"note":null}`, ``},
		{``, `- /channelId: is missing; give a string (The channel's id, such as C123.)`},
		{`{}`, `- /channelId: is missing; give a string (The channel's id, such as C123.)`},
		{`{"channelId":"C1","labels":"urgent"}`, `- /labels: got string, want array`},
		{`{"channel_id":"C1","labels":[1,"a",{}],"limit":"5","q":1}`, `- /channelId: is missing; give a string (The channel's id, such as C123.)
- /channel_id: unknown property "channel_id"; did you mean "channelId"? allowed: "channelId", "format", "labels", "limit", "note", "since", "target"
- /labels/0: got number, want string
- /labels/2: got object, want string
- /labels: has 3 items, want at most 2
- /limit: got string, want integer
- /q: unknown property "q"; allowed: "channelId", "format", "labels", "limit", "note", "since", "target"`},
		{`{"channelId":"C","limit":0,"format":"xml","since":"yesterday"}`, `- /channelId: has 1 character, want at least 2
- /format: want one of "json", "text"
- /limit: got 0, want at least 1
- /since: is not a valid date-time; write it as in 2026-01-31T12:00:00Z`},
		{`{"channelId":"C1","limit":1.5}`, `- /limit: got number, want integer`},
		{`{"channelId":"C1","note":7}`, `- /note: got number, want null or string`},
		{`{"channelId":"C1","target":"file"}`, `- /target: got string, want object`},
		{`{"channelId":"C1","target":{"kind":"file","to":"x"}}`, `- /target/path: is missing; give a string
- /target/to: unknown property "to"; allowed: "kind", "path"`},
		{`{"channelId":"C1","target":{"kind":"fax"}}`, `- /target/kind: want one of "file", "mail"`},
		{`{"channelId":"C1","target":{}}`, `- /target: fits none of 2 allowed forms; mend one of (1) kind is missing; give "file", path is missing; give a string (2) kind is missing; give "mail", to is missing; give a string`},
		{`[]`, `- the arguments are an array; they have to be an object`},
		{`null`, `- the arguments are null; they have to be an object`},
		{`{"channelId":`, `- the arguments are not valid JSON: unexpected EOF`},
		{`{} {}`, `- the arguments are not valid JSON: invalid character after top-level value`},
	} {
		err := tool.Validate(json.RawMessage(c.args))
		if c.want == "" {
			if err != nil {
				t.Errorf("Validate(%s): error %v; want none", c.args, err)
			}
			continue
		}
		want := "invalid arguments for p__t:\n" + c.want + "\nNothing was run. Correct the arguments and call the tool again."
		var callErr *dispatch.Error
		if !errors.As(err, &callErr) || callErr.Code != wire.ErrInvalidArguments || callErr.Retryable || callErr.Message != want {
			t.Errorf("Validate(%s): error\n%v\nwant %s", c.args, err, want)
		}
	}
}

func TestViolationTextsOfOtherKeywords(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"const":"x"}`, `"y"`, `/v: want "x"`},
		{`{"enum":["a",1,null,{"b":2}]}`, `2`, `/v: want one of "a", 1, null, {"b":2}`},
		{`{"type":["string","null"]}`, `1`, `/v: got number, want null or string`},
		{`{"type":"string","pattern":"^a+$"}`, `"b"`, `/v: does not match the pattern ^a+$`},
		{`{"type":"string","format":"date-time","pattern":"^\\d{4}-\\d\\d-\\d\\dT[0-9:]+$"}`, `"tomorrow"`, `/v: is not a valid date-time; write it as in 2026-01-31T12:00:00`},
		{`{"type":"string","format":"date-time","pattern":"Z$"}`, `"tomorrow"`, `/v: is not a valid date-time; write it as in 2026-01-31T12:00:00Z`},
		{`{"type":"string","format":"date-time","pattern":"^x"}`, `"tomorrow"`, `/v: does not match the pattern ^x`},
		{`{"type":"string","format":"cron","pattern":"^x"}`, `"tomorrow"`, `/v: does not match the pattern ^x`},
		{`{"type":"string","maxLength":2}`, `"😀😀😀"`, `/v: has 3 characters, want at most 2`},
		{`{"type":"array","minItems":1}`, `[]`, `/v: has 0 items, want at least 1`},
		{`{"type":"array","uniqueItems":true}`, `[1,2,1.0]`, `/v: has the same item at 0 and 2; give each once`},
		{`{"type":"array","prefixItems":[{}],"items":false}`, `[1,2]`, `/v/1: is not allowed here; leave it out or give something else`},
		{`{"type":"array","contains":{"const":1}}`, `[2]`, `/v: has no item of the wanted form; add one`},
		{`{"type":"array","contains":{"const":1},"minContains":2}`, `[1]`, `/v: has 1 item of the wanted form, want at least 2`},
		{`{"type":"array","contains":{"const":1},"maxContains":1}`, `[1,1]`, `/v: has 2 items of the limited form, want at most 1`},
		{`{"type":"number","exclusiveMinimum":0}`, `0`, `/v: got 0, want more than 0`},
		{`{"type":"number","exclusiveMaximum":0.5}`, `0.75`, `/v: got 0.75, want less than 0.5`},
		{`{"type":"number","multipleOf":0.1}`, `0.25`, `/v: got 0.25, want a multiple of 0.1`},
		{`{"type":"object","minProperties":1}`, `{}`, `/v: has 0 properties, want at least 1`},
		{`{"type":"object","maxProperties":1}`, `{"a":1,"b":2}`, `/v: has 2 properties, want at most 1`},
		{`{"type":"object","additionalProperties":false}`, `{"a":1}`, `/v/a: unknown property "a"; leave it out, none is allowed here`},
		{`{"type":"object","additionalProperties":{"type":"number"}}`, `{"a/b~":"x"}`, `/v/a~1b~0: got string, want number`},
		{`{"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":true}`, `{"c":1}`, `/v/c: the property name "c" is not allowed: want one of "a", "b"`},
		{`{"type":"object","properties":{"o":{"type":"object","propertyNames":{"maxLength":2}},"z":{},"y":{}}}`, `{"o":{"long":1},"y":2,"z":3}`, `/v/o/long: the property name "long" is not allowed: has 4 characters, want at most 2`},
		{`{"type":"object","dependentRequired":{"a":["b"]}}`, `{"a":1}`, `/v: has "a" without "b"; give both`},
		{`{"not":{"type":"string"}}`, `"x"`, `/v: is not allowed here; leave it out or give something else`},
		{`false`, `1`, `/v: is not allowed here; leave it out or give something else`},
		{`{"oneOf":[{"type":"number"},{"type":"integer"}]}`, `1`, `/v: matches the alternatives 1 and 2; pass a value that matches only one`},
		{`{"anyOf":[{"const":"a"},{"const":"b"},{"type":"number"}]}`, `"c"`, `/v: got string, want number or one of "a", "b"`},
		{`{"anyOf":[{"type":"string","minLength":3},{"type":"number"}]}`, `"c"`, `/v: has 1 character, want at least 3`},
		{`{"anyOf":[{"type":"string","minLength":3},{"type":"string","pattern":"^x"}]}`, `"c"`, `/v: fits none of 2 allowed forms; mend one of (1) has 1 character, want at least 3 (2) does not match the pattern ^x`},
		{`{"if":{"type":"string"},"then":{"minLength":2}}`, `"c"`, `/v: has 1 character, want at least 2`},
		{`{"allOf":[{"minLength":2},{"pattern":"^x"}]}`, `"c"`, "/v: does not match the pattern ^x\n- /v: has 1 character, want at least 2"},
	} {
		err := newToolWithArguments(t, c.schema).Validate(json.RawMessage(`{"v":` + c.value + `}`))
		want := "invalid arguments for p__t:\n- " + c.want + "\nNothing was run. Correct the arguments and call the tool again."
		if err == nil || err.Error() != want {
			t.Errorf("schema %s, value %s: error\n%v\nwant %s", c.schema, c.value, err, want)
		}
	}
}

func TestValidateFollowsReferences(t *testing.T) {
	tool := newTestTool(t, `{"type":"object","$defs":{"node":{"type":"object","properties":{"id":{"type":"integer"},"next":{"$ref":"#/$defs/node"}},"required":["id"],"additionalProperties":false}},
		"properties":{"root":{"$ref":"#/$defs/node"}},"required":["root"]}`)
	for args, want := range map[string]string{
		`{"root":{"id":1,"next":{"id":2}}}`:          "",
		`{"root":{"id":1,"next":{"id":"2"}}}`:        "/root/next/id: got string, want integer",
		`{"root":{"id":1,"next":{}}}`:                "/root/next/id: is missing; give an integer",
		`{"root":{"id":1,"next":{"id":2,"nxt":{}}}}`: `/root/next/nxt: unknown property "nxt"; did you mean "next"?`,
		`{}`: "/root: is missing; give an object",
	} {
		err := tool.Validate(json.RawMessage(args))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("error for the arguments %s = %v, want %q", args, err, want)
		}
	}
}

func TestValidateListsAtMost50Violations(t *testing.T) {
	items := strings.TrimSuffix(strings.Repeat("1,", 300), ",")
	err := newToolWithArguments(t, `{"type":"array","items":{"type":"string"}}`).Validate(json.RawMessage(`{"v":[` + items + `]}`))
	if err == nil || strings.Count(err.Error(), "got number") != 50 || !strings.Contains(err.Error(), "\n- and 250 more\n") {
		t.Errorf("error = %v; want 50 violations and the number of all others", err)
	}
}

// Error texts may be logged and shown in a terminal, so they must not contain secrets or
// control characters.
func TestViolationTextsHideControlChars(t *testing.T) {
	secret := "hunter2-" + strings.Repeat("s", 500)
	tool := newToolWithArguments(t, `{"anyOf":[{"type":"string","pattern":"^a$","maxLength":3},{"type":"string","format":"date-time","enum":["x"]}]}`)
	if err := tool.Validate(newTestArguments(t, secret)); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error = %v; want no text of the secret", err)
	}
	err := tool.Validate(json.RawMessage("{\"v\":\"x\",\"a\\u001b[31m\\n\":1,\"" + strings.Repeat("k", 5000) + "\":2}"))
	if err == nil || strings.Contains(err.Error(), "\x1b") || len(err.Error()) > 1500 {
		t.Errorf("error = %v; want at most 1500 bytes without control characters", err)
	}
}
