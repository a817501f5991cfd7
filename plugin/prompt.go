package plugin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"opentabs/dispatch"
)

// Prompt is a text for an agent that the adapter writes in the page, from
// arguments that a person gives.
type Prompt struct {
	Plugin *Plugin
	Name   string
	// DisplayName is the prompt's name for people; it defaults to Name.
	DisplayName string
	// Description is at most 1,000 characters; it may be empty.
	Description string
	// Arguments are in the order of the package.
	Arguments []PromptArgument
	// InputSchema is a compact JSON Schema of all arguments together, whose root
	// is an object. An argument with a default is never in required.
	InputSchema json.RawMessage
	// Idle and Hard are its own limits; zero means those of the server, whose Hard
	// is never exceeded.
	Idle time.Duration
	Hard time.Duration

	arguments validator
}

// PromptArgument is one argument as MCP tells of it.
type PromptArgument struct {
	Name string
	// Description may be empty.
	Description string
	Required    bool
}

// FullName is the name clients see: <plugin>__<prompt>.
func (p *Prompt) FullName() string { return p.Plugin.Name + "__" + p.Name }

// Dispatch returns the prompt as the dispatcher needs it.
func (p *Prompt) Dispatch() dispatch.Tool {
	return dispatch.Tool{
		Plugin: p.Plugin.Name, Name: p.Name,
		PluginName: p.Plugin.DisplayName, Matches: p.Plugin.Matches, Prompt: true, Idle: p.Idle, Hard: p.Hard,
		Instances: p.Plugin.Instances, OpensAt: p.Plugin.OpensAt,
	}
}

// parsePrompts reads the prompts of dist/tools.json, which may be absent, into
// p, whose tools are there already.
func parsePrompts(top *fields, p *Plugin) {
	if !top.has("prompts") {
		return
	}
	raw := top.member["prompts"]
	if kindOf(raw) != kindArray {
		top.add("prompts", "is %s; build the plugin again", kindOf(raw))
		return
	}
	// A permission and a line of the log name one thing, be it a tool or a prompt.
	seen := map[string]string{}
	for i, tool := range p.Tools {
		seen[tool.Name] = fmt.Sprintf("tools[%d]", i)
	}
	parseEach(top, "prompts", elements(raw), seen, func(f *fields) string {
		prompt := parsePrompt(f, p)
		p.Prompts = append(p.Prompts, prompt)
		return prompt.Name
	})
}

func parsePrompt(f *fields, p *Plugin) *Prompt {
	prompt := &Prompt{Plugin: p}
	prompt.Name = f.text("name", "give the prompt a name, as in summarise_channel")
	if prompt.Name != "" && p.Name != "" {
		checkFullName(f, p, "prompt", prompt.FullName())
	}
	prompt.DisplayName = f.short(p, "displayName", maxNameChars)
	if prompt.DisplayName == "" {
		prompt.DisplayName = prompt.Name
	}
	prompt.Description = f.optional("description")
	if n := utf8.RuneCountInString(prompt.Description); n > maxDescriptionChars {
		f.add("description", "has %d characters; shorten it to at most %d", n, maxDescriptionChars)
	}
	prompt.Idle, prompt.Hard = f.timeouts()
	if f.has("input_schema") {
		prompt.InputSchema = f.inputSchema(p)
		prompt.Arguments = argumentsOf(prompt.InputSchema, f)
	} else {
		prompt.Arguments = parseArguments(f, p)
		prompt.InputSchema = schemaOf(prompt.Arguments)
	}
	return prompt
}

// argumentsOf returns what a schema says of each argument.
func argumentsOf(schema json.RawMessage, f *fields) []PromptArgument {
	root := newFields(schema, f.at+"input_schema.", f.to)
	required := root.strings("required")
	var list []PromptArgument
	for m := range eachMember(root.member["properties"]) {
		a := PromptArgument{Name: m.key, Required: slices.Contains(required, m.key)}
		a.Description = newFields(m.value, root.at+"properties."+m.key+".", f.to).optional("description")
		list = append(list, a)
	}
	return list
}

// parseArguments reads the list of arguments that packages without schemas
// have.
func parseArguments(f *fields, p *Plugin) []PromptArgument {
	if !f.has("arguments") {
		return nil
	}
	if raw := f.member["arguments"]; kindOf(raw) != kindArray {
		f.add("arguments", "is %s; make it an array", kindOf(raw))
		return nil
	}
	var list []PromptArgument
	for i, raw := range elements(f.member["arguments"]) {
		at := fmt.Sprintf("arguments[%d]", i)
		if kindOf(raw) != kindObject {
			f.add(at, "is %s; make it an object", kindOf(raw))
			continue
		}
		g := newFields(raw, f.at+at+".", f.to)
		a := PromptArgument{Name: g.text("name", "give the argument a name"), Description: g.short(p, "description", maxDescriptionChars)}
		if required := g.flag("required"); required != nil {
			a.Required = *required
		}
		if slices.ContainsFunc(list, func(b PromptArgument) bool { return a.Name != "" && a.Name == b.Name }) {
			g.add("name", "is %q, as that of another argument is; rename one of them", a.Name)
		}
		list = append(list, a)
	}
	return list
}

// schemaOf returns a schema for arguments of which nothing but their names is
// known: texts.
func schemaOf(arguments []PromptArgument) json.RawMessage {
	properties, required := map[string]any{}, []string{}
	for _, a := range arguments {
		properties[a.Name] = map[string]string{"type": "string"}
		if a.Required {
			required = append(required, a.Name)
		}
	}
	return mustEncode(map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
}

// Validate checks the arguments of prompts/get, a JSON object; nothing at all
// stands for an empty one. It returns them as the page takes them: MCP clients
// send every argument as text, so
//
//   - a text that the argument's schema does not allow is read as JSON: "20" for
//     a number, "true" for a boolean, "[\"a\"]" for an array,
//   - an empty text for an argument that is not required stands for none: forms
//     send it for a field that was left empty.
//
// The error is a *dispatch.Error: invalid_arguments, whose text lists every
// violation, or internal if the prompt's schema is broken.
func (p *Prompt) Validate(args json.RawMessage) (json.RawMessage, error) {
	c := checker{name: p.FullName(), plugin: p.Plugin, again: "get the prompt again"}
	value, err := c.decode(args)
	if err != nil {
		return nil, err
	}
	if err := p.arguments.prepare(p.InputSchema); err != nil {
		return nil, c.broken(err)
	}
	readTexts(value, p.arguments.doc)
	if err := c.check(&p.arguments, p.InputSchema, value); err != nil {
		return nil, err
	}
	return mustEncode(value), nil
}

// readTexts turns the texts of arguments into what their schema wants.
func readTexts(args map[string]any, schema any) {
	root, _ := schema.(map[string]any)
	properties, _ := root["properties"].(map[string]any)
	required, _ := root["required"].([]any)
	for name, value := range args {
		property, known := properties[name]
		text, isText := value.(string)
		switch {
		case !known || !isText:
		case text == "" && !slices.Contains(required, any(name)):
			delete(args, name)
		case !allowsText(property, root, maxRefs):
			if read, ok := readJSON(text); ok {
				args[name] = read
			}
		}
	}
}

// readJSON reads one JSON value that is written exactly so.
func readJSON(text string) (any, bool) {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	return value, err == nil
}

// allowsText reports whether a text can match schema at all, as far as its types
// tell; refs is how many more references are followed.
func allowsText(schema any, root map[string]any, refs int) bool {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema != false
	}
	every := func(key string, some bool) bool {
		list, ok := s[key].([]any)
		if !ok {
			return true
		}
		allows := func(sub any) bool { return allowsText(sub, root, refs) }
		if some {
			return slices.ContainsFunc(list, allows)
		}
		return !slices.ContainsFunc(list, func(sub any) bool { return !allows(sub) })
	}
	isText := func(v any) bool { _, ok := v.(string); return ok }
	switch kind := s["type"].(type) {
	case string:
		ok = kind == "string"
	case []any:
		ok = slices.Contains(kind, any("string"))
	}
	if values, given := s["enum"].([]any); given {
		ok = ok && slices.ContainsFunc(values, isText)
	}
	if value, given := s["const"]; given {
		ok = ok && isText(value)
	}
	if ref, given := s["$ref"].(string); given && refs > 0 {
		ok = ok && allowsText(followRef(ref, root), root, refs-1)
	}
	return ok && every("allOf", false) && every("anyOf", true) && every("oneOf", true)
}

// followRef returns the schema that a local reference points at; nil, which
// allows everything, if it points nowhere.
func followRef(ref string, root map[string]any) any {
	pointer, local := strings.CutPrefix(ref, "#/")
	if !local {
		return nil
	}
	var at any = root
	for token := range strings.SplitSeq(pointer, "/") {
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[pointerUnescape.Replace(token)]
	}
	return at
}
