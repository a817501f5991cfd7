package mcpserver

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"opentabs/internal/goldentest"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

func newPackagesOfAllKinds() []plugintest.Package {
	yes, no := true, false
	return []plugintest.Package{{
		Name: "messages",
		Tools: []plugintest.Tool{
			{
				Name: "export", DisplayName: "Export messages", Description: "Exports all messages of a channel, oldest first.",
				Input: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{
					"channel":{"type":"string","description":"The channel's id"},
					"since":{"type":"string","format":"date-time"},
					"page":{"type":"integer","default":100,"minimum":1,"maximum":9007199254740993}},
					"required":["channel"],"additionalProperties":false}`),
				Output: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{
					"messages":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"text":{"type":"string"}},
					"required":["id","text"],"additionalProperties":false}}},"required":["messages"],"additionalProperties":false}`),
				Annotations: &plugin.Annotations{ReadOnly: &yes, OpenWorld: &no},
			},
			{
				Name: "send", DisplayName: "Send a message", Description: "Sends one message <now> & returns its id.",
				Input:       json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`),
				Output:      json.RawMessage(`{"type":"string"}`),
				Annotations: &plugin.Annotations{Title: "Send", Destructive: &no, Idempotent: &no},
			},
			{
				Name: "focus", DisplayName: "Focus a tab", Description: "Has parameters that are named like the ones every call has.",
				Input: json.RawMessage(`{"type":"object","properties":{"tabId":{"type":"string"},"browser":{"type":"integer"}}}`),
			},
		},
	}}
}

func listTools(t *testing.T, c *client) []json.RawMessage {
	t.Helper()
	var listResponse struct {
		Tools []json.RawMessage `json:"tools"`
	}
	m := c.call(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if err := json.Unmarshal(m.Result, &listResponse); err != nil {
		t.Fatal(err)
	}
	return listResponse.Tools
}

type clientVisibleTool struct {
	Name        string                     `json:"name"`
	Title       string                     `json:"title"`
	Description string                     `json:"description"`
	Input       map[string]json.RawMessage `json:"inputSchema"`
	Output      map[string]json.RawMessage `json:"outputSchema"`
	Annotations map[string]json.RawMessage `json:"annotations"`
}

func parseTool(t *testing.T, rawJSON json.RawMessage) clientVisibleTool {
	t.Helper()
	var tool clientVisibleTool
	if err := json.Unmarshal(rawJSON, &tool); err != nil {
		t.Fatal(err)
	}
	return tool
}

func TestGoldenToolDefinitions(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{}, newPackagesOfAllKinds()...)
	dir := filepath.Join("testdata", "tools")
	seenNames := map[string]bool{}
	for _, rawJSON := range listTools(t, s.open(t, "a")) {
		file := parseTool(t, rawJSON).Name + ".json"
		seenNames[file] = true
		var indentedJSON bytes.Buffer
		if err := json.Indent(&indentedJSON, rawJSON, "", "  "); err != nil {
			t.Fatal(err)
		}
		indentedJSON.WriteByte('\n')
		goldentest.Compare(t, filepath.Join(dir, file), indentedJSON.Bytes())
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != len(seenNames) || len(seenNames) == 0 {
		t.Errorf("testdata has %d snapshots for %d tools, error %v; want one for each tool", len(files), len(seenNames), err)
	}
}

// TestToolListIsAcceptedByClients checks that the list of tools obeys the rules whose
// violation makes some clients reject the whole list.
func TestToolListIsAcceptedByClients(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "tools", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata has no snapshots, error %v; want at least one", err)
	}
	name := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	for _, file := range files {
		rawJSON, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tool := parseTool(t, rawJSON)
		if !name.MatchString(tool.Name) || tool.Title == "" || tool.Description == "" || tool.Annotations == nil {
			t.Errorf("%s: want a valid name, a title, a description and annotations", file)
		}
		for _, schema := range []map[string]json.RawMessage{tool.Input, tool.Output} {
			if schema == nil {
				continue
			}
			if string(schema["type"]) != `"object"` {
				t.Errorf("%s: the root of a schema is not an object; want the type object", file)
			}
			for _, keyword := range []string{"oneOf", "anyOf", "allOf", "not", "$ref"} {
				if _, ok := schema[keyword]; ok {
					t.Errorf("%s: the root of a schema has the keyword %s; want none of the combining keywords", file, keyword)
				}
			}
		}
	}
}

func TestToolsAreListedInOrder(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{}, plugintest.Package{Name: "b"}, plugintest.Package{Name: "c"}, plugintest.Package{Name: "a"})
	var names []string
	for _, rawJSON := range listTools(t, s.open(t, "a")) {
		names = append(names, parseTool(t, rawJSON).Name)
	}
	if !slices.IsSorted(names) || len(names) != 3 {
		t.Error(names)
	}
}

func TestUnlistableToolIsSkipped(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{}, plugintest.Package{Tools: []plugintest.Tool{
		{Name: "bad", Description: "d", Input: json.RawMessage(`{"type":"object","properties":{"a":{"type":"array","x-mcp-header":"A"}}}`)},
		{Name: "good", Description: "d"},
	}})
	if listedTools := listTools(t, s.open(t, "a")); len(listedTools) != 1 || parseTool(t, listedTools[0]).Name != "messages__good" {
		t.Errorf("listed tools = %s; want only messages__good", listedTools)
	}
}

func TestRemovedPluginToolsAreUnlisted(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{}, plugintest.Package{Name: "a"}, plugintest.Package{Name: "messages"})
	c := s.open(t, "a")
	if err := s.store.Remove("messages"); err != nil {
		t.Fatal(err)
	}
	if err := s.reg.Reload(); err != nil {
		t.Fatal(err)
	}
	if m := c.call(callText(`1`, `{}`, `{}`)); m.Error == nil || m.Error.Code != -32602 {
		t.Error(m.messageJSON)
	}
	if listedTools := listTools(t, c); len(listedTools) != 1 {
		t.Errorf("listed tools = %s; want 1", listedTools)
	}
}

func TestToolListWithoutPlugins(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{}, []plugintest.Package{}...)
	c := s.open(t, "a")
	if m := c.call(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); string(m.Result) != `{"tools":[]}` {
		t.Error(m.messageJSON)
	}
}

func TestOwnTargetParametersReachTool(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{}, newPackagesOfAllKinds()...)
	m := s.open(t, "a").call(strings.Replace(callText(`1`, `{"tabId":"x","browser":5}`, `{}`), "messages__echo", "messages__focus", 1))
	if got := string(m.toolResultOf(t).Structured); got != `{"tabId":"x","browser":5}` {
		t.Error(m.messageJSON)
	}
}

func TestToolCategory(t *testing.T) {
	c := serveTools(t, callerFunc(echoArguments), Options{}, plugintest.Package{Tools: []plugintest.Tool{
		{Name: "a", Description: "d", Group: " Reading "}, {Name: "b", Description: "d"},
	}}).open(t, "agent")
	listResponse := listTools(t, c)
	if got := string(listResponse[0]); !strings.Contains(got, `"_meta":{"opentabs/category":"Reading"}`) {
		t.Error(got)
	}
	if got := string(listResponse[1]); strings.Contains(got, "_meta") {
		t.Error(got)
	}
}
