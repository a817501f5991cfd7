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
	listItems := map[string][][]byte{}
	for _, pair := range pairs {
		name, argText, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usererr.Errorf("--arg %q is not NAME=VALUE: write --arg %s=VALUE", pair, strings.TrimPrefix(pair, "="))
		}
		property, err := a.propertySchema(name)
		if err != nil {
			return nil, err
		}
		// For an argument that is a list, each flag --arg can add one item.
		if item, ok := a.itemSchema(property, argText); ok {
			valueJSON, err := a.parseValue(name, item, argText)
			if err != nil {
				return nil, err
			}
			if _, isListGiven := args[name]; isListGiven && listItems[name] == nil {
				return nil, usererr.Errorf("--arg %s is given as a whole list and as an item: choose one", name)
			}
			listItems[name] = append(listItems[name], valueJSON)
			args[name] = rawjson.JoinElements(listItems[name])
			continue
		}
		if _, isRepeated := args[name]; isRepeated {
			return nil, usererr.Errorf("--arg %s is given twice: give it once", name)
		}
		if args[name], err = a.parseValue(name, property, argText); err != nil {
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

// itemSchema returns false if the argument is not a list, or if argText is a whole list in
// brackets.
func (a argumentParser) itemSchema(p *schema, argText string) (*schema, bool) {
	kinds := a.acceptedTypes(p)
	if !kinds["array"] || kinds["string"] || strings.HasPrefix(strings.TrimSpace(argText), "[") {
		return nil, false
	}
	if kinds["null"] && strings.TrimSpace(argText) == "null" {
		return nil, false
	}
	var items schema
	if json.Unmarshal(a.resolve(p, 0).Items, &items) != nil {
		return nil, true
	}
	return &items, true
}

func (a argumentParser) parseValue(name string, p *schema, argText string) (json.RawMessage, error) {
	kinds := a.acceptedTypes(p)
	parsedValue, kind := parseJSON(argText)
	switch {
	case kinds["string"] && len(kinds) == 1:
		return rawjson.Encode(argText), nil
	case parsedValue != nil && (len(kinds) == 0 || kinds[kind] || kind == "integer" && kinds["number"]):
		return parsedValue, nil
	case kinds["string"] || len(kinds) == 0:
		return rawjson.Encode(argText), nil
	}
	var wantedTypes []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		wantedTypes = append(wantedTypes, cmp.Or(kindNames[kind], kind))
	}
	return nil, usererr.Errorf("--arg %s is %q: give it %s", name, argText, joinWithOr(wantedTypes))
}

var kindNames = map[string]string{
	"integer": "a whole number", "number": "a number", "boolean": "true or false",
	"object": "an object as JSON", "array": "a list as JSON", "null": "null",
}

func joinWithOr(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func parseJSON(argText string) (valueJSON json.RawMessage, kind string) {
	inputBytes := bytes.TrimSpace([]byte(argText))
	if !json.Valid(inputBytes) {
		return nil, ""
	}
	return inputBytes, jsonKind(inputBytes)
}

func jsonKind(value []byte) string {
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
	a.addAcceptedTypes(p, kinds, map[*schema]bool{})
	return kinds
}

func (a argumentParser) addAcceptedTypes(p *schema, kinds map[string]bool, seenSchemas map[*schema]bool) {
	p = a.resolve(p, 0)
	if seenSchemas[p] {
		return
	}
	seenSchemas[p] = true
	var singleType string
	var types []string
	switch {
	case json.Unmarshal(p.Type, &singleType) == nil && singleType != "":
		kinds[singleType] = true
	case json.Unmarshal(p.Type, &types) == nil:
		for _, kind := range types {
			kinds[kind] = true
		}
	case p.Const != nil:
		kinds[jsonKind(p.Const)] = true
	default:
		for _, valueJSON := range p.Enum {
			kinds[jsonKind(valueJSON)] = true
		}
	}
	for _, alternatives := range [][]*schema{p.AnyOf, p.OneOf, p.AllOf} {
		for _, s := range alternatives {
			a.addAcceptedTypes(s, kinds, seenSchemas)
		}
	}
}

// The value of --input is the JSON itself, @ followed by the path of a JSON file, or - to read the JSON from stdin.
func readInput(inputText string, stdin io.Reader) (map[string]json.RawMessage, error) {
	inputBytes, source := []byte(inputText), "--input"
	var err error
	if name, ok := strings.CutPrefix(inputText, "@"); ok {
		source = name
		inputBytes, err = os.ReadFile(name)
	} else if inputText == "-" {
		source = "stdin"
		inputBytes, err = io.ReadAll(io.LimitReader(stdin, maxArgumentBytes+1))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usererr.Errorf("there is no file %s: name a JSON file after --input @, or - for stdin", source)
	case err != nil:
		return nil, usererr.Errorf("read the arguments: %v", err)
	}
	if len(inputBytes) > maxArgumentBytes {
		return nil, usererr.Errorf("%s has more than %d MiB: send less to the tool", source, maxArgumentBytes>>20)
	}
	inputBytes = rawjson.TrimBOM(inputBytes) // PowerShell writes a byte order mark
	var args map[string]json.RawMessage
	if err := json.Unmarshal(inputBytes, &args); err != nil || args == nil {
		problemText := "it is not an object"
		if !json.Valid(inputBytes) && err != nil {
			problemText = err.Error()
		}
		return nil, usererr.Errorf("%s is not a JSON object (%s): write it as '{\"name\": value}'", source, problemText)
	}
	return args, nil
}

// The daemon removes the browser and the tab from the arguments before it calls the tool.
func (a argumentParser) addTargetArguments(args map[string]json.RawMessage, browser string, tab int) error {
	for name, valueJSON := range map[string]json.RawMessage{"browser": rawjson.Encode(browser), "tabId": fmt.Appendf(nil, "%d", tab)} {
		if name == "browser" && browser == "" || name == "tabId" && tab == 0 {
			continue
		}
		if _, isOwn := a.schema.Properties[name]; isOwn {
			return usererr.Errorf("the tool %s itself has an argument %q, so the page cannot be chosen: leave out --browser and --tab", a.tool.Name, name)
		}
		if _, isRepeated := args[name]; isRepeated {
			return usererr.Errorf("%q is in the arguments too: give it once", name)
		}
		args[name] = valueJSON
	}
	return nil
}
