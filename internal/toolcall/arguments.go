package toolcall

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"opentabs/internal/mcpclient"
	"opentabs/internal/nearest"
	"opentabs/internal/rawjson"
	"opentabs/internal/usererr"
)

// maxArgumentBytes limits the size of the JSON arguments that the flag --input selects.
const maxArgumentBytes = 16 << 20

// The type schema has the keywords of JSON Schema that decide how the text of an argument
// is parsed.
type schema struct {
	Type       json.RawMessage    `json:"type"`
	Enum       []json.RawMessage  `json:"enum"`
	Const      json.RawMessage    `json:"const"`
	AnyOf      []*schema          `json:"anyOf"`
	OneOf      []*schema          `json:"oneOf"`
	AllOf      []*schema          `json:"allOf"`
	Ref        string             `json:"$ref"`
	Defs       map[string]*schema `json:"$defs"`
	Items      json.RawMessage    `json:"items"`
	Properties map[string]*schema `json:"properties"`
	// AdditionalProperties is the JSON text false if the tool accepts only the arguments
	// in Properties.
	AdditionalProperties json.RawMessage `json:"additionalProperties"`
}

// argumentParser parses the arguments of a tool on the command line. The tool's schema
// decides, for example, whether the text 7 becomes a number or a string. The parser does
// not check whether the arguments match the schema, because the daemon does.
type argumentParser struct {
	tool   mcpclient.Tool
	schema schema
}

// If the tool's schema is invalid, the parser accepts any arguments.
func newArgumentParser(tool mcpclient.Tool) argumentParser {
	a := argumentParser{tool: tool}
	_ = json.Unmarshal(tool.InputSchema, &a.schema)
	return a
}

func (a argumentParser) parse(pairs []string) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	lists := map[string][][]byte{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usererr.Errorf("--arg %q is not NAME=VALUE: write --arg %s=VALUE", pair, strings.TrimPrefix(pair, "="))
		}
		property, err := a.propertySchema(name)
		if err != nil {
			return nil, err
		}
		// For an argument that is a list, each flag --arg can add one item.
		if item, ok := a.itemSchema(property, text); ok {
			value, err := a.parseValue(name, item, text)
			if err != nil {
				return nil, err
			}
			if _, hasWholeList := args[name]; hasWholeList && lists[name] == nil {
				return nil, usererr.Errorf("--arg %s is given as a whole list and as an item: choose one", name)
			}
			lists[name] = append(lists[name], value)
			args[name] = rawjson.JoinElements(lists[name])
			continue
		}
		if _, isRepeated := args[name]; isRepeated {
			return nil, usererr.Errorf("--arg %s is given twice: give it once", name)
		}
		if args[name], err = a.parseValue(name, property, text); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// If the tool has no argument with the given name, the error lists the tool's arguments.
func (a argumentParser) propertySchema(name string) (*schema, error) {
	if p, ok := a.schema.Properties[name]; ok {
		return p, nil
	}
	if a.schema.Properties == nil || string(a.schema.AdditionalProperties) != "false" {
		return nil, nil
	}
	names := slices.Sorted(maps.Keys(a.schema.Properties))
	if len(names) == 0 {
		return nil, usererr.Errorf("%s has no argument %q: it takes none", a.tool.Name, name)
	}
	return nil, usererr.Errorf("%s has no argument %q%s: use %s", a.tool.Name, name, nearest.Suggestion(name, names), strings.Join(names, ", "))
}

// itemSchema returns false if the argument is not a list, or if text is a whole list in brackets.
func (a argumentParser) itemSchema(p *schema, text string) (*schema, bool) {
	kinds := a.acceptedTypes(p)
	if !kinds["array"] || kinds["string"] || strings.HasPrefix(strings.TrimSpace(text), "[") {
		return nil, false
	}
	if kinds["null"] && strings.TrimSpace(text) == "null" {
		return nil, false
	}
	var items schema
	if json.Unmarshal(a.resolve(p, 0).Items, &items) != nil {
		return nil, true
	}
	return &items, true
}

func (a argumentParser) parseValue(name string, p *schema, text string) (json.RawMessage, error) {
	kinds := a.acceptedTypes(p)
	parsedValue, kind := parseJSON(text)
	switch {
	case kinds["string"] && len(kinds) == 1:
		return rawjson.Encode(text), nil
	case parsedValue != nil && (len(kinds) == 0 || kinds[kind] || kind == "integer" && kinds["number"]):
		return parsedValue, nil
	case kinds["string"] || len(kinds) == 0:
		return rawjson.Encode(text), nil
	}
	var wantedTypes []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		wantedTypes = append(wantedTypes, cmp.Or(kindNames[kind], kind))
	}
	return nil, usererr.Errorf("--arg %s is %q: give it %s", name, text, orList(wantedTypes))
}

var kindNames = map[string]string{
	"integer": "a whole number", "number": "a number", "boolean": "true or false",
	"object": "an object as JSON", "array": "a list as JSON", "null": "null",
}

func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func parseJSON(text string) (value json.RawMessage, kind string) {
	data := bytes.TrimSpace([]byte(text))
	if !json.Valid(data) {
		return nil, ""
	}
	return data, kindOf(data)
}

func kindOf(value []byte) string {
	switch value[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	if bytes.ContainsAny(value, ".eE") {
		return "number"
	}
	return "integer"
}

// maxDepth limits how many references the function resolve follows, because a schema can
// refer to itself.
const maxDepth = 8

// The method resolve returns an empty schema, which accepts any value, for an unknown
// reference.
func (a argumentParser) resolve(p *schema, depth int) *schema {
	if p == nil {
		return &schema{}
	}
	if name, ok := strings.CutPrefix(p.Ref, "#/$defs/"); ok && depth < maxDepth {
		return a.resolve(a.schema.Defs[name], depth+1)
	}
	return p
}

// If p accepts all types, acceptedTypes returns an empty set.
func (a argumentParser) acceptedTypes(p *schema) map[string]bool {
	kinds := map[string]bool{}
	a.addKinds(p, kinds, map[*schema]bool{})
	return kinds
}

func (a argumentParser) addKinds(p *schema, kinds map[string]bool, seen map[*schema]bool) {
	p = a.resolve(p, 0)
	if seen[p] {
		return
	}
	seen[p] = true
	var single string
	var types []string
	switch {
	case json.Unmarshal(p.Type, &single) == nil && single != "":
		kinds[single] = true
	case json.Unmarshal(p.Type, &types) == nil:
		for _, kind := range types {
			kinds[kind] = true
		}
	case p.Const != nil:
		kinds[kindOf(p.Const)] = true
	default:
		for _, value := range p.Enum {
			kinds[kindOf(value)] = true
		}
	}
	for _, alternatives := range [][]*schema{p.AnyOf, p.OneOf, p.AllOf} {
		for _, s := range alternatives {
			a.addKinds(s, kinds, seen)
		}
	}
}

// The value of --input is the JSON itself, @ followed by the path of a JSON file, or - to read the JSON from stdin.
func readInput(text string, stdin io.Reader) (map[string]json.RawMessage, error) {
	data, source := []byte(text), "--input"
	var err error
	if name, ok := strings.CutPrefix(text, "@"); ok {
		source = name
		data, err = os.ReadFile(name)
	} else if text == "-" {
		source = "stdin"
		data, err = io.ReadAll(io.LimitReader(stdin, maxArgumentBytes+1))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usererr.Errorf("there is no file %s: name a JSON file after --input @, or - for stdin", source)
	case err != nil:
		return nil, usererr.Errorf("read the arguments: %v", err)
	}
	if len(data) > maxArgumentBytes {
		return nil, usererr.Errorf("%s has more than %d MiB: send less to the tool", source, maxArgumentBytes>>20)
	}
	data = rawjson.TrimBOM(data) // PowerShell writes a byte order mark
	var args map[string]json.RawMessage
	if err := json.Unmarshal(data, &args); err != nil || args == nil {
		problem := "it is not an object"
		if !json.Valid(data) && err != nil {
			problem = err.Error()
		}
		return nil, usererr.Errorf("%s is not a JSON object (%s): write it as '{\"name\": value}'", source, problem)
	}
	return args, nil
}

// The daemon removes the browser and the tab from the arguments before it calls the tool.
func (a argumentParser) addTarget(args map[string]json.RawMessage, browser string, tab int) error {
	for name, value := range map[string]json.RawMessage{"browser": rawjson.Encode(browser), "tabId": fmt.Appendf(nil, "%d", tab)} {
		if name == "browser" && browser == "" || name == "tabId" && tab == 0 {
			continue
		}
		if _, isOwn := a.schema.Properties[name]; isOwn {
			return usererr.Errorf("the tool %s itself has an argument %q, so the page cannot be chosen: leave out --browser and --tab", a.tool.Name, name)
		}
		if _, isRepeated := args[name]; isRepeated {
			return usererr.Errorf("%q is in the arguments too: give it once", name)
		}
		args[name] = value
	}
	return nil
}
