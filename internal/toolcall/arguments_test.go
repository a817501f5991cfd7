package toolcall

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opentabs/internal/mcpclient"
	"opentabs/internal/usererr"
)

func parserForSchema(schema string) argumentParser {
	return newArgumentParser(mcpclient.Tool{Name: "a__b", InputSchema: json.RawMessage(schema)})
}

const strictSchema = `{
	"type": "object", "additionalProperties": false,
	"$defs": {"tag": {"type": "string"}, "loop": {"anyOf": [{"$ref": "#/$defs/loop"}]}},
	"properties": {
		"text": {"type": "string"}, "n": {"type": "number"}, "i": {"type": "integer"}, "b": {"type": "boolean"},
		"o": {"type": "object"}, "any": {}, "nothing": {"type": "null"},
		"tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}},
		"numbers": {"type": "array", "items": {"type": "number"}},
		"mixed": {"type": "array"},
		"listOrText": {"type": ["array", "string"]},
		"maybeList": {"type": ["array", "null"], "items": {"type": "string"}},
		"textOrNull": {"type": ["string", "null"]},
		"either": {"oneOf": [{"type": "integer"}, {"type": "string"}]},
		"choice": {"enum": ["on", "off"]}, "level": {"enum": [1, 2]}, "fixed": {"const": true},
		"tag": {"$ref": "#/$defs/tag"}, "loop": {"$ref": "#/$defs/loop"}, "lost": {"$ref": "#/$defs/none"}
	}
}`

func TestParseArguments(t *testing.T) {
	a := parserForSchema(strictSchema)
	for _, c := range []struct {
		pairs string
		want  string
	}{
		{"", `{}`},
		{"text=12", `{"text":"12"}`},
		{"text=a=b", `{"text":"a=b"}`},
		{"text=", `{"text":""}`},
		{`text="q"`, `{"text":"\"q\""}`},
		{"n=1.50 i=9007199254740993 b=false", `{"b":false,"i":9007199254740993,"n":1.50}`},
		{"n=3", `{"n":3}`},
		{`o={"k":[1]}`, `{"o":{"k":[1]}}`},
		{"any=5", `{"any":5}`},
		{"any=true", `{"any":true}`},
		{"any=word", `{"any":"word"}`},
		{"nothing=null", `{"nothing":null}`},
		{"tags=a tags=1", `{"tags":["a","1"]}`},
		{`tags=["a"]`, `{"tags":["a"]}`},
		{"numbers=1 numbers=2.5", `{"numbers":[1,2.5]}`},
		{"mixed=1 mixed=x", `{"mixed":[1,"x"]}`},
		{`listOrText=x`, `{"listOrText":"x"}`},
		{`listOrText=[1]`, `{"listOrText":[1]}`},
		{"maybeList=null", `{"maybeList":null}`},
		{"maybeList=x", `{"maybeList":["x"]}`},
		{"textOrNull=null", `{"textOrNull":null}`},
		{"textOrNull=12", `{"textOrNull":"12"}`},
		{"either=12", `{"either":12}`},
		{"either=1.5", `{"either":"1.5"}`},
		{"either=x", `{"either":"x"}`},
		{"choice=on level=2 fixed=true", `{"choice":"on","fixed":true,"level":2}`},
		{"tag=1 loop=x lost=3", `{"loop":"x","lost":3,"tag":"1"}`},
	} {
		args, err := a.parse(strings.Fields(c.pairs))
		if err != nil {
			t.Errorf("parse(%s) returned the error %v, want none", c.pairs, err)
			continue
		}
		if got, err := json.Marshal(args); err != nil || string(got) != c.want {
			t.Errorf("arguments from %s = %s, error %v; want %s", c.pairs, got, err, c.want)
		}
	}
}

func TestParseArgumentsRejectsInvalidInput(t *testing.T) {
	for _, c := range []struct{ schema, pairs, want string }{
		{strictSchema, "text", `--arg "text" is not NAME=VALUE: write --arg text=VALUE`},
		{strictSchema, "=x", `--arg "=x" is not NAME=VALUE`},
		{strictSchema, "txt=1", `a__b has no argument "txt" (did you mean text?): use any, b, choice, `},
		{strictSchema, "n=many", `--arg n is "many": give it a number`},
		{strictSchema, "i=1.5", `--arg i is "1.5": give it a whole number`},
		{strictSchema, "i=", `--arg i is "": give it a whole number`},
		{strictSchema, "b=yes", `--arg b is "yes": give it true or false`},
		{strictSchema, "o=[1]", `--arg o is "[1]": give it an object as JSON`},
		{strictSchema, "numbers=x", `--arg numbers is "x": give it a number`},
		{strictSchema, "tags=[1", `--arg tags is "[1": give it a list as JSON`},
		{strictSchema, "text=1 text=2", `--arg text is given twice`},
		{strictSchema, "tags=[] tags=x", `--arg tags is given as a whole list and as an item`},
		{strictSchema, "tags=x tags=[]", `--arg tags is given twice`},
		{strictSchema, "level=x", `--arg level is "x": give it a whole number`},
		{`{"properties":{},"additionalProperties":false}`, "x=1", `a__b has no argument "x": it takes none`},
	} {
		_, err := parserForSchema(c.schema).parse(strings.Fields(c.pairs))
		var userErr *usererr.Error
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !errors.As(err, &userErr) {
			t.Errorf("parse(%s) returned %v, want the user error %s", c.pairs, err, c.want)
		}
	}
}

func TestParseArgumentsOfOpenSchema(t *testing.T) {
	for _, schema := range []string{``, `nonsense`, `true`, `{"type":"object"}`, `{"properties":{"a":{"type":"string"}}}`} {
		args, err := parserForSchema(schema).parse([]string{"x=1", "y=word"})
		if err != nil || string(args["x"]) != "1" || string(args["y"]) != `"word"` {
			t.Errorf("arguments for the schema %s = %s, error %v; want x as a number and y as a text", schema, args, err)
		}
	}
}

func TestReadInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(file, []byte(` {"a": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	// Some Windows programs write a byte order mark.
	fileWithBOM := filepath.Join(t.TempDir(), "marked.json")
	if err := os.WriteFile(fileWithBOM, []byte("\ufeff{\"a\": 1}\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, inputJSON := range []string{`{"a": 1}`, "@" + file, "@" + fileWithBOM, "-"} {
		for _, stdin := range []string{`{"a":1}`, "\ufeff{\"a\":1}"} {
			args, err := readInput(inputJSON, strings.NewReader(stdin))
			if err != nil || string(args["a"]) != "1" {
				t.Errorf("readInput(%s) = %s, error %v; want a = 1", inputJSON, args, err)
			}
		}
	}
	for inputJSON, want := range map[string]string{
		`[1]`:             `--input is not a JSON object (it is not an object)`,
		`null`:            `--input is not a JSON object (it is not an object)`,
		``:                `--input is not a JSON object (unexpected end of JSON input)`,
		`{"a":}`:          `--input is not a JSON object (invalid character '}'`,
		"@" + file + "x":  "there is no file " + file + "x: name a JSON file after --input @",
		"@" + t.TempDir(): `read the arguments: read `,
		"-":               `stdin has more than 16 MiB`,
	} {
		_, err := readInput(inputJSON, strings.NewReader(strings.Repeat(" ", maxArgumentBytes+1)))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("readInput(%s) returned %v, want the error %s", inputJSON, err, want)
		}
	}
}

func TestAddBrowserAndTabArguments(t *testing.T) {
	a := parserForSchema(`{"properties":{"tabId":{"type":"integer"}}}`)
	args := map[string]json.RawMessage{}
	if err := a.addTargetArguments(args, `my "browser"`, 0); err != nil || string(args["browser"]) != `"my \"browser\""` || len(args) != 1 {
		t.Errorf("arguments with a browser = %s, error %v; want only the escaped name of the browser", args, err)
	}
	if err := a.addTargetArguments(args, "again", 0); err == nil || !strings.Contains(err.Error(), "give it once") {
		t.Errorf("addTargetArguments with two browsers returned %v; want an error that contains %q", err, "give it once")
	}
	if err := a.addTargetArguments(map[string]json.RawMessage{}, "", 5); err == nil || !strings.Contains(err.Error(), `a__b itself has an argument "tabId"`) {
		t.Errorf("addTargetArguments for a tool with its own argument tabId returned %v; want an error that contains %q", err, `a__b itself has an argument "tabId"`)
	}
}

// TestParseArgumentsOfRecursiveSchema checks that a schema whose parts refer to each other
// very often is searched without delay.
func TestParseArgumentsOfRecursiveSchema(t *testing.T) {
	references := strings.TrimSuffix(strings.Repeat(`{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"},`, 50), ",")
	a := parserForSchema(`{"$defs":{"a":{"anyOf":[` + references + `]},"b":{"oneOf":[{"type":"integer"},` + references + `]}},"properties":{"x":{"allOf":[` + references + `]}}}`)
	if args, err := a.parse([]string{"x=7"}); err != nil || string(args["x"]) != "7" {
		t.Errorf("arguments = %s, error %v; want x = 7", args, err)
	}
	if _, err := a.parse([]string{"x=seven"}); err == nil || !strings.Contains(err.Error(), "give it a whole number") {
		t.Errorf("parse of the word seven returned %v; want an error that contains %q", err, "give it a whole number")
	}
}
