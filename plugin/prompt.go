package plugin

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"opentabs/dispatch"
	"opentabs/internal/jsonread"
	"opentabs/internal/rawjson"
	"opentabs/plugin/schema"
)

// Prompt is a text for an agent, such as a summary of a page. The plugin's adapter, which runs
// in the page, writes the text from the arguments that the user enters.
type Prompt struct {
	Plugin *Plugin
	Name   string
	// DisplayName is the prompt's name for users; the default is Name.
	DisplayName string
	// Description has at most 1,000 characters, or is empty.
	Description string
	// Arguments lists the prompt's arguments in the same order as the plugin's package.
	Arguments []PromptArgument
	// InputSchema is a compact JSON Schema of all arguments, whose root is an object. An
	// argument with a default is never required.
	InputSchema json.RawMessage
	// IdleLimit and HardLimit are the prompt's time limits; zero means the server's limits. Every call ends at the
	// server's hard limit, even if the prompt's limits are longer.
	IdleLimit time.Duration
	HardLimit time.Duration

	arguments schema.Validator
}

// PromptArgument describes one argument of a prompt, as MCP lists it.
type PromptArgument struct {
	Name string
	// Description explains the argument to the user; Description may be empty.
	Description string
	Required    bool
}

// FullName returns the prompt's name for clients: <plugin>__<prompt>.
func (p *Prompt) FullName() string { return p.Plugin.Name + "__" + p.Name }

// Dispatch returns the prompt in the form that the dispatcher needs.
func (p *Prompt) Dispatch() dispatch.Tool {
	return dispatch.Tool{
		Plugin: p.Plugin.Name, Name: p.Name,
		PluginName: p.Plugin.DisplayName, Matches: p.Plugin.Matches, Prompt: true, IdleLimit: p.IdleLimit, HardLimit: p.HardLimit,
		Instances: p.Plugin.Instances, OpenURL: p.Plugin.OpenURL,
		Summary: dispatch.ToolSummary{PluginName: p.Plugin.DisplayName, Title: p.DisplayName, Description: p.Description},
	}
}

// Call parsePrompts after the tools are parsed.
func parsePrompts(manifestReader *jsonread.Reader, p *Plugin) {
	if !manifestReader.Has("prompts") {
		return
	}
	rawJSON := manifestReader.Members["prompts"]
	if rawjson.KindOf(rawJSON) != rawjson.KindArray {
		manifestReader.Add("prompts", "is %s; build the plugin again", rawjson.KindOf(rawJSON))
		return
	}
	// A prompt must not have the name of a tool, because logs and permissions identify prompts and tools by name.
	seenIDs := map[string]string{}
	for i, tool := range p.Tools {
		seenIDs[tool.Name] = fmt.Sprintf("tools[%d]", i)
	}
	parseListItems(manifestReader, "prompts", rawjson.Elements(rawJSON), seenIDs, func(f *jsonread.Reader) string {
		prompt := parsePrompt(f, p)
		p.Prompts = append(p.Prompts, prompt)
		return prompt.Name
	})
}

func parsePrompt(f *jsonread.Reader, p *Plugin) *Prompt {
	prompt := &Prompt{Plugin: p}
	prompt.Name = f.Text("name", "give the prompt a name, as in summarise_channel")
	if prompt.Name != "" && p.Name != "" {
		checkFullName(f, p, "prompt", prompt.FullName())
	}
	prompt.DisplayName = readTruncatedText(f, p, "displayName", maxNameChars)
	if prompt.DisplayName == "" {
		prompt.DisplayName = prompt.Name
	}
	prompt.Description = f.OptionalText("description")
	if n := utf8.RuneCountInString(prompt.Description); n > maxDescriptionChars {
		f.Add("description", "has %d characters; shorten it to at most %d", n, maxDescriptionChars)
	}
	prompt.IdleLimit, prompt.HardLimit = readTimeouts(f)
	if f.Has("input_schema") {
		prompt.InputSchema = readInputSchema(f, p)
		prompt.Arguments = argumentsOf(prompt.InputSchema, f)
	} else {
		prompt.Arguments = parseArguments(f, p)
		prompt.InputSchema = argumentsSchema(prompt.Arguments)
	}
	return prompt
}

func argumentsOf(rawJSON json.RawMessage, f *jsonread.Reader) []PromptArgument {
	root := jsonread.New(rawJSON, f.Path+"input_schema.", f.Problems)
	requiredNames := root.Strings("required")
	var promptArguments []PromptArgument
	for m := range rawjson.Members(root.Members["properties"]) {
		a := PromptArgument{Name: m.Key, Required: slices.Contains(requiredNames, m.Key)}
		a.Description = jsonread.New(m.Value, root.Path+"properties."+m.Key+".", f.Problems).OptionalText("description")
		promptArguments = append(promptArguments, a)
	}
	return promptArguments
}

func parseArguments(f *jsonread.Reader, p *Plugin) []PromptArgument {
	if !f.Has("arguments") {
		return nil
	}
	if rawJSON := f.Members["arguments"]; rawjson.KindOf(rawJSON) != rawjson.KindArray {
		f.Add("arguments", "is %s; make it an array", rawjson.KindOf(rawJSON))
		return nil
	}
	var promptArguments []PromptArgument
	for i, rawJSON := range rawjson.Elements(f.Members["arguments"]) {
		at := fmt.Sprintf("arguments[%d]", i)
		if rawjson.KindOf(rawJSON) != rawjson.KindObject {
			f.Add(at, "is %s; make it an object", rawjson.KindOf(rawJSON))
			continue
		}
		g := jsonread.New(rawJSON, f.Path+at+".", f.Problems)
		a := PromptArgument{Name: g.Text("name", "give the argument a name"), Description: readTruncatedText(g, p, "description", maxDescriptionChars)}
		if isRequired := g.Bool("required"); isRequired != nil {
			a.Required = *isRequired
		}
		if slices.ContainsFunc(promptArguments, func(b PromptArgument) bool { return a.Name != "" && a.Name == b.Name }) {
			g.Add("name", "is %q, as that of another argument is; rename one of them", a.Name)
		}
		promptArguments = append(promptArguments, a)
	}
	return promptArguments
}

// argumentsSchema returns an input schema for a prompt's arguments, in which every argument is a
// string.
func argumentsSchema(arguments []PromptArgument) json.RawMessage {
	properties, requiredNames := map[string]any{}, []string{}
	for _, a := range arguments {
		properties[a.Name] = map[string]string{"type": "string"}
		if a.Required {
			requiredNames = append(requiredNames, a.Name)
		}
	}
	return rawjson.Encode(map[string]any{
		"type": "object", "properties": properties, "required": requiredNames, "additionalProperties": false,
	})
}

// Validate checks the arguments of an MCP prompts/get request and converts them for the
// page; see [schema.Validator.CheckTextArguments].
func (p *Prompt) Validate(args json.RawMessage) (json.RawMessage, error) {
	return p.arguments.CheckTextArguments(p.validationSubject(), p.InputSchema, args)
}

func (p *Prompt) validationSubject() schema.Subject {
	return schema.Subject{Name: p.Name, RetryAdvice: "get the prompt again", Plugin: p.Plugin.Name, Version: p.Plugin.Version}
}
