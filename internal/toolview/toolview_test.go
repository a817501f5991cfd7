package toolview

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestDescribeArguments(t *testing.T) {
	schema := json.RawMessage(`{"properties": {
		"limit": {"type": "integer", "minimum": 5, "default": 10},
		"text": {"type": "string", "description": "What to\nsend."},
		"mode": {"enum": ["fast", "slow", 3]},
		"tags": {"type": "array", "items": {"type": "string"}},
		"maybe": {"anyOf": [{"type": "number"}, {"type": "null"}]},
		"more": {"type": ["object", "boolean"]},
		"any": {},
		"depth": {"type": "integer", "default": 2, "description": "Levels of\nheadings to return"},
		"odd": {"type": 7, "enum": "x"}
	}, "required": ["mode", "text"]}`)
	want := [][]string{
		{"text", "text", "What to send.", "required"},
		{"mode", "fast, slow or 3", "", "required"},
		{"limit", "whole number", "Default: 10."},
		{"tags", "list of: text", ""},
		{"maybe", "number or null", ""},
		{"more", "object or true or false", ""},
		{"any", "any", ""},
		{"depth", "whole number", "Levels of headings to return. Default: 2."},
		{"odd", "any", ""},
	}
	var got [][]string
	for _, a := range Arguments(schema) {
		tableRow := []string{a.Name, a.Value, a.Description}
		if a.IsRequired {
			tableRow = append(tableRow, "required")
		}
		got = append(got, tableRow)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Arguments returned %q\nwant %q", got, want)
	}
	for _, schema := range []string{``, `{}`, `{"properties": {}}`, `[]`, `{"properties": 3}`} {
		if arguments := Arguments(json.RawMessage(schema)); arguments != nil {
			t.Errorf("Arguments of the schema %q = %+v, want none", schema, arguments)
		}
	}
}

func TestExampleArguments(t *testing.T) {
	for schema, want := range map[string]string{
		`{}`: "opentabs call a__b",
		`{"properties": {"x": {"type": "string"}, "y": {"type": "string"}}, "required": ["x"]}`:                 "opentabs call a__b --arg x=X",
		`{"properties": {"x": {"type": "integer", "minimum": 3}}, "required": ["x"]}`:                           "opentabs call a__b --arg x=3",
		`{"properties": {"x": {"enum": ["it's", "b"]}}, "required": ["x"]}`:                                     `opentabs call a__b --arg 'x=it'\''s'`,
		`{"properties": {"x": {"type": "object"}}, "required": ["x"]}`:                                          `opentabs call a__b --arg 'x={}'`,
		`{"properties": {"tags": {"type": "array", "items": {"type": "string"}}}, "required": ["tags"]}`:        "opentabs call a__b --arg tags=TAG",
		`{"properties": {"x": {"type": "string", "examples": ["general"], "default": "y"}}, "required": ["x"]}`: "opentabs call a__b --arg x=general",
	} {
		if got := Example("a__b", json.RawMessage(schema)); got != want {
			t.Errorf("Example of the tool %s = %s, want %s", schema, got, want)
		}
	}
}
