package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"opentabs/internal/config"
	"opentabs/internal/mcpclient"
)

// maxArgumentBytes is the longest --json that is read.
const maxArgumentBytes = 16 << 20

// schema is what the command line needs to know of a JSON Schema.
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
	// Additional is false if the tool takes no other arguments.
	Additional json.RawMessage `json:"additionalProperties"`
}

// toolArguments makes the JSON object of a call from what was given on the
// command line.
type toolArguments struct {
	tool   mcpclient.Tool
	schema schema
}

func newToolArguments(tool mcpclient.Tool) toolArguments {
	a := toolArguments{tool: tool}
	// A schema that is not understood leaves the checks to the server.
	_ = json.Unmarshal(tool.InputSchema, &a.schema)
	return a
}

// names are the tool's arguments.
func (a toolArguments) names() []string {
	return slices.Sorted(maps.Keys(a.schema.Properties))
}

// parse turns --arg values (k=v) into a JSON object. Whether the object as a
// whole is right is for the server to say, which knows the schema's every rule.
func (a toolArguments) parse(pairs []string) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	lists := map[string][]json.RawMessage{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usage("--arg %q is not NAME=VALUE: write it as --arg %s=VALUE", pair, strings.TrimPrefix(pair, "="))
		}
		property, err := a.property(name)
		if err != nil {
			return nil, err
		}
		// A list can be given item by item.
		if item, ok := a.item(property, text); ok {
			value, err := a.value(name, item, text)
			if err != nil {
				return nil, err
			}
			if _, whole := args[name]; whole && lists[name] == nil {
				return nil, usage("--arg %s is given as a whole list and as an item: choose one", name)
			}
			lists[name] = append(lists[name], value)
			args[name] = list(lists[name])
			continue
		}
		if _, twice := args[name]; twice {
			return nil, usage("--arg %s is given twice: give it once", name)
		}
		if args[name], err = a.value(name, property, text); err != nil {
			return nil, err
		}
	}
	return args, nil
}

func list(items []json.RawMessage) json.RawMessage {
	return slices.Concat([]byte("["), bytes.Join(toBytes(items), []byte(",")), []byte("]"))
}

func toBytes(items []json.RawMessage) [][]byte {
	out := make([][]byte, len(items))
	for i, item := range items {
		out[i] = item
	}
	return out
}

// property returns the schema of an argument; nil if any value may do.
func (a toolArguments) property(name string) (*schema, error) {
	if p, ok := a.schema.Properties[name]; ok {
		return p, nil
	}
	if a.schema.Properties == nil || string(a.schema.Additional) != "false" {
		return nil, nil
	}
	names := a.names()
	if len(names) == 0 {
		return nil, usage("%s has no argument %q: it takes none", a.tool.Name, name)
	}
	return nil, usage("%s has no argument %q%s: use %s", a.tool.Name, name, config.DidYouMean(name, names), strings.Join(names, ", "))
}

// item returns the schema of the items if the argument is a list and text is
// not a whole one.
func (a toolArguments) item(p *schema, text string) (*schema, bool) {
	kinds := a.kinds(p)
	if !kinds["array"] || kinds["string"] || strings.HasPrefix(strings.TrimSpace(text), "[") {
		return nil, false
	}
	if kinds["null"] && strings.TrimSpace(text) == "null" {
		return nil, false
	}
	var items schema
	if json.Unmarshal(a.resolve(p, 0).Items, &items) != nil { // absent, or a list of schemas
		return nil, true
	}
	return &items, true
}

// value turns text into a JSON value of the schema p.
func (a toolArguments) value(name string, p *schema, text string) (json.RawMessage, error) {
	kinds := a.kinds(p)
	parsed, kind := parseJSON(text)
	switch {
	case kinds["string"] && len(kinds) == 1:
		return quote(text), nil
	case parsed != nil && (len(kinds) == 0 || kinds[kind] || kind == "integer" && kinds["number"]):
		return parsed, nil
	case kinds["string"] || len(kinds) == 0:
		return quote(text), nil
	}
	var wanted []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		wanted = append(wanted, cmp.Or(kindNames[kind], kind))
	}
	return nil, usage("--arg %s is %q: give it %s", name, text, orList(wanted))
}

// kindNames are the types of JSON Schema as people call them.
var kindNames = map[string]string{
	"integer": "a whole number", "number": "a number", "boolean": "true or false",
	"object": "an object as JSON", "array": "a list as JSON", "null": "null",
}

// orList is "a", "a or b" or "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// parseJSON returns text if it is one JSON value, and the name of its type.
func parseJSON(text string) (value json.RawMessage, kind string) {
	data := bytes.TrimSpace([]byte(text))
	if !json.Valid(data) {
		return nil, ""
	}
	return data, kindOf(data)
}

// kindOf is the JSON Schema type of a JSON value.
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

func quote(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil { // a string always marshals
		panic(err)
	}
	return data
}

// maxDepth bounds how far references are followed: a schema may refer to
// itself.
const maxDepth = 8

// resolve follows a reference within the tool's schema. It never returns nil.
func (a toolArguments) resolve(p *schema, depth int) *schema {
	if p == nil {
		return &schema{}
	}
	if name, ok := strings.CutPrefix(p.Ref, "#/$defs/"); ok && depth < maxDepth {
		return a.resolve(a.schema.Defs[name], depth+1)
	}
	return p
}

// kinds are the types a value of p may have; none if any may do.
func (a toolArguments) kinds(p *schema) map[string]bool {
	kinds := map[string]bool{}
	a.addKinds(p, kinds, map[*schema]bool{})
	return kinds
}

// addKinds looks at each schema once: they may refer to each other in many
// ways.
func (a toolArguments) addKinds(p *schema, kinds map[string]bool, seen map[*schema]bool) {
	p = a.resolve(p, 0)
	if seen[p] {
		return
	}
	seen[p] = true
	var one string
	var several []string
	switch {
	case json.Unmarshal(p.Type, &one) == nil && one != "":
		kinds[one] = true
	case json.Unmarshal(p.Type, &several) == nil:
		for _, kind := range several {
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

// readJSON returns the object that --json stands for: itself, @FILE or - for
// stdin.
func readJSON(text string, stdin io.Reader) (map[string]json.RawMessage, error) {
	data, from := []byte(text), "--json"
	var err error
	if name, ok := strings.CutPrefix(text, "@"); ok {
		from = name
		data, err = os.ReadFile(name)
	} else if text == "-" {
		from = "the standard input"
		data, err = io.ReadAll(io.LimitReader(stdin, maxArgumentBytes+1))
	}
	if err != nil {
		return nil, usage("read the arguments: %v", err)
	}
	if len(data) > maxArgumentBytes {
		return nil, usage("%s has more than %d MiB: give the tool less", from, maxArgumentBytes>>20)
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(data, &args); err != nil || args == nil {
		reason := "it is not an object"
		if !json.Valid(data) && err != nil {
			reason = err.Error()
		}
		return nil, usage("%s is not a JSON object (%s): write it as '{\"name\": value}'", from, reason)
	}
	return args, nil
}

// aim adds the browser and the tab to the arguments, under the names that the
// server takes them by.
func (a toolArguments) aim(args map[string]json.RawMessage, browser string, tab int) error {
	for name, value := range map[string]json.RawMessage{"browser": quote(browser), "tabId": fmt.Appendf(nil, "%d", tab)} {
		if name == "browser" && browser == "" || name == "tabId" && tab == 0 {
			continue
		}
		if _, own := a.schema.Properties[name]; own {
			return usage("%s has an argument %q of its own, so the server cannot take one: leave the choice of the page to it", a.tool.Name, name)
		}
		if _, both := args[name]; both {
			return usage("%q stands in the arguments too: give it once", name)
		}
		args[name] = value
	}
	return nil
}
