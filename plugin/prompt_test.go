package plugin_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

const summarizeInputSchema = `{"type":"object","properties":{
	"channelId":{"type":"string","description":"The channel"},
	"max":{"type":"integer","default":20,"description":"How many"},
	"unread":{"type":"boolean"},
	"tags":{"type":"array","items":{"type":"string"}},
	"style":{"enum":["short","long"]},
	"limit":{"anyOf":[{"type":"number"},{"type":"string"}]},
	"since":{"$ref":"#/$defs/day"},
	"any":{}
},"required":["channelId","max"],"additionalProperties":false,"$defs":{"day":{"type":["integer","null"]}}}`

func loadSummarizePrompt(t testing.TB) *plugin.Prompt {
	t.Helper()
	p := plugintest.Load(t, plugintest.Package{Prompts: []plugintest.Prompt{
		{Name: "summarise", DisplayName: "Summarise", Description: "Sums a channel up.", Input: json.RawMessage(summarizeInputSchema)},
	}})
	if len(p.Prompts) != 1 {
		t.Fatalf("%d prompts; want 1", len(p.Prompts))
	}
	return p.Prompts[0]
}

func TestPromptsAreLoaded(t *testing.T) {
	p := loadSummarizePrompt(t)
	if p.FullName() != "messages__summarise" || p.DisplayName != "Summarise" || p.Description != "Sums a channel up." {
		t.Errorf("prompt = %+v; want messages__summarise with the texts of the package", p)
	}
	want := []plugin.PromptArgument{
		{"channelId", "The channel", true}, {"max", "How many", false}, {Name: "unread"}, {Name: "tags"},
		{Name: "style"}, {Name: "limit"}, {Name: "since"}, {Name: "any"},
	}
	if !slices.Equal(p.Arguments, want) {
		t.Errorf("arguments of the prompt = %+v; want %v", p.Arguments, want)
	}
	d := p.Dispatch()
	if !d.Prompt || d.Plugin != "messages" || d.Name != "summarise" || d.PluginName != "The messages" || len(d.Matches) != 1 {
		t.Errorf("prompt for the dispatcher = %+v; want summarise of the plugin messages", d)
	}
}

func TestPromptsOfOlderPackages(t *testing.T) {
	dir := plugintest.Package{}.Write(t)
	editFile(t, dir, toolsFile, newJSONMemberEdit("prompts", `[{"name":"greet","arguments":[
		{"name":"who","description":"Whom","required":true},{"name":"how"}]},{"name":"bare"}]`))
	p, err := plugin.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	greetPrompt, promptWithoutArguments := p.Prompts[0], p.Prompts[1]
	if greetPrompt.DisplayName != "greet" || !slices.Equal(greetPrompt.Arguments, []plugin.PromptArgument{{"who", "Whom", true}, {Name: "how"}}) {
		t.Errorf("prompt greet = %+v; want the arguments who and how", greetPrompt)
	}
	if got, err := greetPrompt.Validate(json.RawMessage(`{"who":"1"}`)); err != nil || string(got) != `{"who":"1"}` {
		t.Errorf("Validate({\"who\":\"1\"}) = %s, error %v; want unchanged arguments", got, err)
	}
	for args, want := range map[string]string{`{}`: "who", `{"who":"a","other":"b"}`: "other"} {
		if _, err := greetPrompt.Validate(json.RawMessage(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error for the arguments %s = %v; want an error that contains %q", args, err, want)
		}
	}
	if got, err := promptWithoutArguments.Validate(nil); err != nil || string(got) != `{}` {
		t.Errorf("Validate(nil) of a prompt without arguments = %s, error %v; want {}", got, err)
	}
}

func TestInvalidPromptsAreReported(t *testing.T) {
	for prompts, want := range map[string]string{
		`{}`:                          "prompts is an object; build",
		`["a"]`:                       "prompts[0] is a string; make it an object",
		`[{}]`:                        "prompts[0].name is missing; give the prompt a name",
		`[{"name":"a b"}]`:            `prompts[0].name makes the prompt's full name "messages__a b"`,
		`[{"name":"a"},{"name":"a"}]`: `prompts[1].name is "a", as prompts[0].name is`,
		`[{"name":"echo"}]`:           `prompts[0].name is "echo", as tools[0].name is`,
		`[{"name":"a","description":"` + strings.Repeat("x", 1001) + `"}]`:                     "prompts[0].description has 1001 characters",
		`[{"name":"a","description":"x\u202ey"}]`:                                              "prompts[0].description has the character U+202E",
		`[{"name":"a","arguments":{}}]`:                                                        "prompts[0].arguments is an object; make it an array",
		`[{"name":"a","arguments":[1]}]`:                                                       "prompts[0].arguments[0] is a number",
		`[{"name":"a","arguments":[{}]}]`:                                                      "prompts[0].arguments[0].name is missing",
		`[{"name":"a","arguments":[{"name":"b","required":1}]}]`:                               "prompts[0].arguments[0].required is a number",
		`[{"name":"a","arguments":[{"name":"b"},{"name":"b"}]}]`:                               `prompts[0].arguments[1].name is "b", as that of another`,
		`[{"name":"a","input_schema":[]}]`:                                                     "prompts[0].input_schema is an array",
		`[{"name":"a","input_schema":{"type":"array"}}]`:                                       "prompts[0].input_schema has a root",
		`[{"name":"a","input_schema":{"type":"object","properties":{"b":{"description":1}}}}]`: "prompts[0].input_schema.properties.b.description is a number",
	} {
		dir := plugintest.Package{}.Write(t)
		editFile(t, dir, toolsFile, newJSONMemberEdit("prompts", prompts))
		_, err := plugin.Load(dir)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error for the prompts %s = %v, want %q", prompts, err, want)
		}
	}
}

func TestPromptArgumentsAreReadFromTexts(t *testing.T) {
	p := loadSummarizePrompt(t)
	for args, want := range map[string]string{
		`{"channelId":"5"}`:                                          `{"channelId":"5"}`,
		`{"channelId":"5","max":"7"}`:                                `{"channelId":"5","max":7}`,
		`{"channelId":"5","max":7}`:                                  `{"channelId":"5","max":7}`,
		`{"channelId":"5","max":" 9007199254740993 "}`:               `{"channelId":"5","max":9007199254740993}`,
		`{"channelId":"5","unread":"true"}`:                          `{"channelId":"5","unread":true}`,
		`{"channelId":"5","tags":"[\"<a>\"]"}`:                       `{"channelId":"5","tags":["<a>"]}`,
		`{"channelId":"5","style":"long"}`:                           `{"channelId":"5","style":"long"}`,
		`{"channelId":"5","limit":"5"}`:                              `{"channelId":"5","limit":"5"}`,
		`{"channelId":"5","since":"20260101"}`:                       `{"channelId":"5","since":20260101}`,
		`{"channelId":"5","since":"null"}`:                           `{"channelId":"5","since":null}`,
		`{"any":"5","channelId":"5"}`:                                `{"any":"5","channelId":"5"}`,
		`{"channelId":"5","max":"","unread":"","style":"","any":""}`: `{"channelId":"5"}`,
	} {
		if got, err := p.Validate(json.RawMessage(args)); err != nil || string(got) != want {
			t.Errorf("Validate(%s) = %s, error %v; want %s", args, got, err, want)
		}
	}
	if got, err := p.Validate(json.RawMessage(`{"channelId":""}`)); err != nil || string(got) != `{"channelId":""}` {
		t.Errorf("Validate with an empty text for a required argument = %s, error %v; want unchanged arguments", got, err)
	}
}

func TestPromptArgumentsParsedAsJSON(t *testing.T) {
	for schema, argumentText := range map[string]bool{
		`{"type":"string"}`:                               true,
		`{"type":["number","string"]}`:                    true,
		`{"minimum":1}`:                                   true,
		`{"enum":["1",1]}`:                                true,
		`{"anyOf":[{"type":"number"},{"const":"1"}]}`:     true,
		`{"$ref":"#/$defs/none"}`:                         true,
		`{"$ref":"#/$defs/t~1x"}`:                         true,
		`{"type":"number"}`:                               false,
		`{"enum":[1,2]}`:                                  false,
		`{"const":1}`:                                     false,
		`{"anyOf":[{"type":"number"},{"type":"null"}]}`:   false,
		`{"anyOf":[{"type":"number"},false]}`:             false,
		`{"oneOf":[{"type":"integer"},{"const":true}]}`:   false,
		`{"allOf":[{"type":"number"},{"minimum":0}]}`:     false,
		`{"type":["string","number"],"enum":[1]}`:         false,
		`{"$ref":"#/$defs/n"}`:                            false,
		`{"allOf":[{"$ref":"#/$defs/n"},{"maximum":10}]}`: false,
	} {
		input := `{"type":"object","properties":{"v":` + schema + `},"$defs":{"n":{"type":"number"},"t/x":{"type":"string"},"none":{}}}`
		p := plugintest.Load(t, plugintest.Package{Prompts: []plugintest.Prompt{{Name: "a", Input: json.RawMessage(input)}}})
		want := `{"v":1}`
		if argumentText {
			want = `{"v":"1"}`
		}
		if got, err := p.Prompts[0].Validate(json.RawMessage(`{"v":"1"}`)); err != nil || string(got) != want {
			t.Errorf("converted arguments for the schema %s = %s, error %v; want %s", schema, got, err, want)
		}
	}
}

func TestPromptArgumentsAreChecked(t *testing.T) {
	p := loadSummarizePrompt(t)
	for args, want := range map[string]string{
		``:                                   "channelId",
		`{`:                                  "not valid JSON",
		`[]`:                                 "they have to be an object",
		`{"channelId":"5","max":"many"}`:     "/max: ",
		`{"channelId":"5","max":"1]"}`:       "/max: ",
		`{"channelId":"5","max":"true"}`:     "/max: ",
		`{"channelId":"5","max":"1e999999"}`: "exponent beyond 400",
		`{"channelId":"5","unread":"yes"}`:   "/unread: ",
		`{"channelId":"5","style":"odd"}`:    "/style: ",
		`{"channelId":"5","other":""}`:       "other",
		`{"channelId":"5","tags":"` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + `"}`: "1000 levels",
	} {
		_, err := p.Validate(json.RawMessage(args))
		var e *dispatch.Error
		if !errors.As(err, &e) || e.Code != wire.ErrInvalidArguments || !strings.Contains(e.Message, want) {
			t.Errorf("error for the arguments %s = %v, want %q", args, err, want)
			continue
		}
		if !strings.HasPrefix(e.Message, "invalid arguments for messages__summarise:\n- ") ||
			!strings.HasSuffix(e.Message, "Correct the arguments and get the prompt again.") {
			t.Errorf("error for the arguments %s = %s; want the advice to get the prompt again", args, e.Message)
		}
	}
}

func TestPromptWithInvalidSchema(t *testing.T) {
	p := plugintest.Load(t, plugintest.Package{Prompts: []plugintest.Prompt{
		{Name: "a", Input: json.RawMessage(`{"type":"object","properties":{"b":{"pattern":"("}}}`)},
	}})
	_, err := p.Prompts[0].Validate(nil)
	var e *dispatch.Error
	if !errors.As(err, &e) || e.Code != wire.ErrInternal || !strings.Contains(e.Message, "messages__a cannot be used") {
		t.Error(err)
	}
}

func TestPluginSetContainsPrompts(t *testing.T) {
	prompts := []plugintest.Prompt{{Name: "z"}, {Name: "b"}}
	s := plugin.NewSet([]*plugin.Plugin{
		plugintest.Load(t, plugintest.Package{Prompts: prompts}),
		plugintest.Load(t, plugintest.Package{Name: "chat", Prompts: prompts}),
	}, nil)
	var entryNames []string
	for _, p := range s.Prompts() {
		entryNames = append(entryNames, p.FullName())
	}
	if want := []string{"chat__b", "chat__z", "messages__b", "messages__z"}; !slices.Equal(entryNames, want) {
		t.Errorf("names of all prompts = %v; want %v", entryNames, want)
	}
	if p, ok := s.Prompt("chat__z"); !ok || p.Plugin.Name != "chat" {
		t.Errorf("prompt chat__z = %v, found %v; want a prompt of the plugin chat", p, ok)
	}
	if _, ok := s.Prompt("chat__echo"); ok {
		t.Error("the set lists the tool chat__echo as a prompt; want no such prompt")
	}
}
