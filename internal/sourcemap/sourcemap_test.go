package sourcemap

import (
	"fmt"
	"strings"
	"testing"
)

func TestVLQ(t *testing.T) {
	for segment, want := range map[string]string{
		"": "[]", "A": "[0]", "C": "[1]", "D": "[-1]", "gB": "[16]", "hB": "[-16]", "AAAA": "[0 0 0 0]", "qtCAo4B": "[1237 0 900]", "A!": "[]",
		"gggggggggggggggggggggggB": "[]",
	} {
		fields := decodeVLQ(segment)
		if got := fmt.Sprint(fields); got != want {
			t.Errorf("decodeVLQ(%q) = %s, want %s", segment, got, want)
		}
		var b strings.Builder
		for _, field := range fields {
			encodeVLQ(&b, field)
		}
		if fields != nil && b.String() != segment {
			t.Errorf("%v is encoded as %q, want %q", fields, b.String(), segment)
		}
	}
}

func testMap() *Map {
	return &Map{
		sources:  []string{"opentabs:zod/index.js", "../src/a.ts", "../opentabs-entry.ts"},
		contents: []string{"zod", "one\ntwo\nthree", "entry"},
		lines: [][]segment{nil, {{0, 0, 7, 2}}, {{2, 1, 0, 0}, {10, 1, 0, 6}}, {{2, 1, 2, 4}, {5, 1, 1, 0}},
			{{0, 2, 0, 0}}},
	}
}

func TestFindSourcePosition(t *testing.T) {
	mapJSON, err := testMap().Encode()
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(mapJSON)
	if err != nil {
		t.Fatal(err)
	}
	for _, testCase := range []struct {
		line, column int
		want         string
	}{
		{3, 1, "src/a.ts:1:1"}, {3, 3, "src/a.ts:1:1"}, {3, 10, "src/a.ts:1:1"}, {3, 11, "src/a.ts:1:7"}, {3, 900, "src/a.ts:1:7"},
		{4, 4, "src/a.ts:3:5"}, {4, 6, "src/a.ts:2:1"}, {0, 1, ""}, {1, 1, ""}, {2, 1, ""}, {5, 1, ""}, {6, 1, ""},
	} {
		got := ""
		if position, ok := m.Find(testCase.line, testCase.column); ok {
			got = position.String()
		}
		if got != testCase.want {
			t.Errorf("source of the position %d:%d = %q, want %q", testCase.line, testCase.column, got, testCase.want)
		}
	}
	stack := "Error: x\n    at f (native)\n    at parse (<eval>:2:5)\n    at <anonymous> (<eval>:4:6)\n    at <eval> (<eval>:3:1)\n"
	if got := m.FindInStack(stack).String(); got != "src/a.ts:2:1" {
		t.Errorf("position found in the stack trace = %s, want src/a.ts:2:1", got)
	}
	for _, stack := range []string{"", "    at f (native)", "    at <eval> (<eval>:9999:1)"} {
		if got := m.FindInStack(stack); got != (Position{}) {
			t.Errorf("position found in the stack trace %q = %v; want no position", stack, got)
		}
	}
}

func TestMoveLines(t *testing.T) {
	shiftedMap := testMap().MoveLines(func(line int) int {
		switch line {
		case 1:
			return -1
		case 0:
			return 0
		}
		return line + 7
	})
	mapJSON, err := shiftedMap.Encode()
	if err != nil || strings.Contains(string(mapJSON), "zod") {
		t.Fatalf("encoded source map = %s, error %v; want no source of zod", mapJSON, err)
	}
	m, err := Parse(mapJSON)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.FindInStack("at x:11:6"); got.String() != "src/a.ts:2:1" {
		t.Errorf("source of line 11 = %v, want src/a.ts:2:1", got)
	}
}

func TestParseMalformed(t *testing.T) {
	for _, malformedMap := range []string{"", "[]", `{"mappings": 1}`, `{"mappings": "` + strings.Repeat(";", maxLines+1) + `"}`} {
		if _, err := Parse([]byte(malformedMap)); err == nil {
			t.Errorf("Parse accepted the malformed source map %.40q, want an error", malformedMap)
		}
	}
	m, err := Parse([]byte(`{"sources": ["a.ts"], "mappings": "AAAA,CDDD,!,CC;AAAAAAA"}`))
	if err != nil {
		t.Fatal(err)
	}
	if position, ok := m.Find(1, 5); !ok || position.File != "dist/a.ts" {
		t.Error(position, ok)
	}
}
