package terminal

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestContentLines(t *testing.T) {
	for _, c := range []struct{ name, kind, content, want string }{
		{"text", "text", `"one\ntwo\n"`, "one\ntwo"},
		{"text that is none", "text", `{"a":1}`, "{\n  \"a\": 1\n}"},
		{"no text", "text", `null`, "null"},
		{"empty text", "text", `""`, ""},
		{"code", "code", `"if x {\r\n\treturn\r\n}"`, "if x {\n    return\n}"},
		{"code with its language", "code", `{"language":"go","code":"x := 1"}`, "x := 1"},
		{"code that is none", "code", `{"language":"go"}`, "{\n  \"language\": \"go\"\n}"},
		{"a text of a plugin's own type", "build-log", `"done"`, "done"},
		{"an object of a plugin's own type", "build", `{"b":1,"a":[true]}`, "{\n  \"b\": 1,\n  \"a\": [\n    true\n  ]\n}"},
		{"json", "json", `[]`, "[]"},
		{"a table of objects", "table", `[{"name":"general","messages":12},{"messages":1000,"name":"日本","new":true}]`,
			"name     messages  new\ngeneral        12\n日本         1000  true"},
		{"a table of rows", "table", `{"columns":["who","what"],"rows":[["me",{"a":1}],["you"],[null,null,3],[],{"what":"x","more":1}]}`,
			"who  what\nme   {\"a\":1}\nyou\n\n\n     x"},
		{"a table without rows", "table", `{"columns":["who"],"rows":[]}`, "who"},
		{"no table: empty", "table", `[]`, "[]"},
		{"no table: numbers", "table", `[1]`, "[\n  1\n]"},
		{"no table: a text", "table", `"x"`, "x"},
		{"no table: rows without columns", "table", `{"rows":[[1]]}`, "{\n  \"rows\": [\n    [\n      1\n    ]\n  ]\n}"},
	} {
		if got := strings.Join(ContentLines(c.kind, json.RawMessage(c.content), false), "\n"); got != c.want {
			t.Errorf("lines of the case %s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestContentIsEscaped(t *testing.T) {
	const hostileText = `\u001b[2J\u0007\r\u009b31m\u202e\u2028\b` + "\u009b31m\u202e\u2028\x7f"
	for kind, content := range map[string]string{
		"text":  `"a` + hostileText + `"`,
		"code":  `{"code":"a` + hostileText + `"}`,
		"table": `[{"a` + hostileText + `":"b` + hostileText + `\nc","d":{"e` + hostileText + `":1}}]`,
		"json":  `{"a` + hostileText + `":"` + hostileText + `"}`,
	} {
		lines := ContentLines(kind, json.RawMessage(content), true)
		for _, line := range lines {
			if line != escapeText(line) || strings.ContainsAny(line, "\n\t") {
				t.Errorf("content of type %s: line %q, want it without control characters", kind, line)
			}
		}
		if kind != "json" && len(lines) > 2 {
			t.Errorf("content of type %s has %d lines, want at most 2", kind, len(lines))
		}
	}
}

func TestTableCellsAreTruncated(t *testing.T) {
	lines := ContentLines("table", json.RawMessage(`[{"a":"`+strings.Repeat("x", 1000)+`","b":1}]`), true)
	if len(lines) != 2 || textWidth(lines[1]) != maxCellChars+3 || !strings.HasSuffix(lines[1], "...  1") {
		t.Errorf("lines of the table = %q, want two lines with a cell of maxCellChars columns that ends in ...", lines)
	}
}
