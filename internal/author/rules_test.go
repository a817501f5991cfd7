package author

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"opentabs/plugin"
)

func buildGoodPlugin(t testing.TB) *tempBuild {
	t.Helper()
	dir := t.TempDir()
	b := &tempBuild{sourceDir: filepath.Join(dir, "source"), outDir: filepath.Join(dir, "out")}
	writePluginFile(t, b.sourceDir, "package.json", `{"name": "opentabs-plugin-tickets", "version": "1.0.0", "main": "dist/adapter.iife.js", "files": ["dist"], "keywords": ["opentabs-plugin"]}`)
	writePluginFile(t, b.sourceDir, "icon.svg", "<svg/>")
	writePluginFile(t, b.sourceDir, "src/index.test.ts", "")
	for _, outDir := range []string{"source/dist", "out"} {
		writePluginFile(t, dir, outDir+"/adapter.iife.js", "code")
		writePluginFile(t, dir, outDir+"/tools.json", "tools")
	}
	yes := true
	b.Plugin = &plugin.Plugin{
		Name: "tickets", DisplayName: "Tickets", Description: "Reads and files tickets.", Version: "1.0.0", Matches: []string{"*://*.tickets.test/*"}, Icon: "svg",
	}
	for _, name := range []string{"list_tickets", "get_ticket"} {
		b.Tools = append(b.Tools, &plugin.Tool{
			Plugin: b.Plugin, Name: name, Icon: "ticket", Annotations: plugin.Annotations{ReadOnly: &yes},
			Description:  "Returns tickets of the project, newest first. By " + name + ".",
			InputSchema:  json.RawMessage(`{"type":"object","properties":{"id":{"type":"string","description":"The ticket's id"}},"additionalProperties":false}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"}}}`),
		})
	}
	_, readme, err := b.readmeTexts()
	if err != nil {
		t.Fatal(err)
	}
	writePluginFile(t, b.sourceDir, readmeFile, string(readme))
	return b
}

func addInputField(name, schema string) func(testing.TB, *tempBuild) {
	return func(_ testing.TB, b *tempBuild) {
		b.Tools[0].InputSchema = fmt.Appendf(nil, `{"type":"object","properties":{"first":{"type":"string","description":"d"},%q:%s},"additionalProperties":false}`, name, schema)
	}
}

func renameTool(name string) func(testing.TB, *tempBuild) {
	return func(t testing.TB, b *tempBuild) { b.Tools[0].Name = name; rewriteReadme(t, b) }
}

func describeTool(description string) func(testing.TB, *tempBuild) {
	return func(t testing.TB, b *tempBuild) { b.Tools[0].Description = description; rewriteReadme(t, b) }
}

func rewriteReadme(t testing.TB, b *tempBuild) {
	t.Helper()
	_, updatedReadme, err := b.readmeTexts()
	if err != nil {
		t.Fatal(err)
	}
	writePluginFile(t, b.sourceDir, readmeFile, string(updatedReadme))
}

func editManifest(oldText, replacement string) func(testing.TB, *tempBuild) {
	return func(t testing.TB, b *tempBuild) {
		writePluginFile(t, b.sourceDir, "package.json", strings.Replace(readPluginFile(t, b.sourceDir, "package.json"), oldText, replacement, 1))
	}
}

func annotateTool(readOnlyHint, destructiveHint *bool) func(testing.TB, *tempBuild) {
	return func(t testing.TB, b *tempBuild) {
		b.Tools[0].Annotations = plugin.Annotations{ReadOnly: readOnlyHint, Destructive: destructiveHint}
		rewriteReadme(t, b)
	}
}

func applyBothEdits(firstEdit, secondEdit func(testing.TB, *tempBuild)) func(testing.TB, *tempBuild) {
	return func(t testing.TB, b *tempBuild) { firstEdit(t, b); secondEdit(t, b) }
}

func removeSource(name string) func(testing.TB, *tempBuild) {
	return func(t testing.TB, b *tempBuild) {
		if err := os.Remove(filepath.Join(b.sourceDir, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
}

func allFindings(b *tempBuild) []Finding {
	c := &CheckResult{}
	c.applyRules(b)
	return c.Findings
}

func TestGoodPluginHasNoFindings(t *testing.T) {
	for _, f := range allFindings(buildGoodPlugin(t)) {
		t.Errorf("the good plugin has the finding %+v; want no findings", f)
	}
}

func TestRulesReportBrokenPlugins(t *testing.T) {
	yes, no := true, false
	deepSchema := `{"type":"string","description":"d"}`
	for range 6 {
		deepSchema = `{"type":"object","description":"d","additionalProperties":false,"properties":{"in":` + deepSchema + `}}`
	}
	choices, err := json.Marshal(slices.Repeat([]string{"a"}, 101))
	if err != nil {
		t.Fatal(err)
	}
	seenNames := map[string]bool{}
	for _, c := range []struct {
		rule, locationText, wantProblem string
		breakPlugin                     func(testing.TB, *tempBuild)
	}{
		{"package-version", "package.json", `"1.0"`, editManifest("1.0.0", "1.0")},
		{"package-version", "package.json", `"01.0.0"`, editManifest("1.0.0", "01.0.0")},
		{"package-main", "package.json", `"index.js"`, editManifest("dist/adapter.iife.js", "index.js")},
		{"package-files", "package.json", "dist", editManifest(`["dist"]`, `["src"]`)},
		{"package-keyword", "package.json", "keywords", editManifest(`"keywords": ["opentabs-plugin"]`, `"keywords": []`)},
		{"package-scripts", "package.json", "postinstall", editManifest(`"files"`, `"scripts": {"postinstall": "x"}, "files"`)},
		{"package-dependencies", "package.json", "lodash", editManifest(`"files"`, `"dependencies": {"lodash": "1", "zod": "4"}, "files"`)},
		{"display-name", "package.json", "41 characters", func(t testing.TB, b *tempBuild) { b.DisplayName = strings.Repeat("x", 41) }},
		{"display-name", "package.json", "use the spelling of the site", func(t testing.TB, b *tempBuild) { b.DisplayName = "tickets" }},
		{"description", "package.json", "7 characters", func(t testing.TB, b *tempBuild) { b.Description = "Tickets" }},
		{"pattern-wide", "package.json", "all sites below github.io", func(t testing.TB, b *tempBuild) { b.Matches = []string{"https://*.github.io/*"} }},
		{"pattern-wide", "package.json", "all sites below co.uk", func(t testing.TB, b *tempBuild) { b.Matches = []string{"*://*.co.uk/x/*"} }},
		{"pattern-wide", "package.json", "11 patterns", func(t testing.TB, b *tempBuild) { b.Matches = slices.Repeat(b.Matches, 11) }},
		{"icon", "icon.svg", "put a square SVG", removeSource("icon.svg")},
		{"icon", "", "no tool has its own icon", func(t testing.TB, b *tempBuild) { b.Tools[0].Icon, b.Tools[1].Icon = "wrench", "wrench" }},
		{"adapter-size", "dist/adapter.iife.js", "2.0 MB", func(t testing.TB, b *tempBuild) {
			writePluginFile(t, b.outDir, "adapter.iife.js", strings.Repeat("x", largeAdapterBytes+1))
			writePluginFile(t, b.sourceDir, "dist/adapter.iife.js", strings.Repeat("x", largeAdapterBytes+1))
		}},
		{"world-isolated", "package.json", `set "world": "isolated"`, func(t testing.TB, b *tempBuild) {
			writePluginFile(t, b.sourceDir, "src/index.ts", "export default {};")
		}},
		{"dist-stale", "dist/tools.json", "opentabs plugin build", func(t testing.TB, b *tempBuild) { writePluginFile(t, b.sourceDir, "dist/tools.json", "old") }},
		{"tests", "", "no tests", removeSource("src/index.test.ts")},
		{"readme", "README.md", "has no README", removeSource("README.md")},
		{"readme", "README.md", "its tables do not match the plugin", func(t testing.TB, b *tempBuild) { b.Tools[1].Description += " And more." }},
		{"tool-name", "tickets_list", "twice", renameTool("tickets_list")},
		{"tool-name", "ticket_list", "the verb comes last", renameTool("ticket_list")},
		{"tool-name", "tickets", "does not begin with a verb", renameTool("tickets")},
		{"tool-name", "list", "has no noun", renameTool("list")},
		{"tool-name", "list_" + strings.Repeat("x", 36), "41 characters", renameTool("list_" + strings.Repeat("x", 36))},
		{"tool-description", "list_tickets", "16 characters", describeTool("Returns tickets.")},
		{"tool-description", "list_tickets", "601 characters", describeTool(strings.Repeat("x", 601))},
		{"tool-description", "list_tickets", "begin with the action", describeTool("This tool returns the tickets of the project.")},
		{"tool-description", "get_ticket", "the same as that of list_tickets", func(t testing.TB, b *tempBuild) {
			b.Tools[1].Description = b.Tools[0].Description
			rewriteReadme(t, b)
		}},
		{"tool-annotations", "list_tickets", "readOnlyHint: true } if its name", annotateTool(nil, nil)},
		{"tool-annotations", "send_ticket", "destructiveHint: false", applyBothEdits(renameTool("send_ticket"), annotateTool(nil, nil))},
		{"tool-annotations-contradict", "list_tickets", "destroys nothing", annotateTool(&yes, &yes)},
		{"tool-annotations-contradict", "delete_ticket", "changes something", applyBothEdits(renameTool("delete_ticket"), annotateTool(&yes, nil))},
		{"tool-annotations-contradict", "list_tickets", "only reads", annotateTool(nil, &yes)},
		{"tool-annotations-contradict", "remove_ticket", "set it to true", applyBothEdits(renameTool("remove_ticket"), annotateTool(nil, &no))},
		{"field-description", "list_tickets: input.state", "add .describe", addInputField("state", `{"type":"string"}`)},
		{"field-description", "list_tickets: input.all[].id", "add .describe", addInputField("all", `{"type":"array","description":"d","maxItems":3,"items":{"type":"object","properties":{"id":{"type":"string"}}}}`)},
		{"field-any", "list_tickets: input.data", "the field accepts any value", addInputField("data", `{"description":"d"}`)},
		{"field-any", "list_tickets: input.map.*", "the field accepts any value", addInputField("map", `{"description":"d","type":"object","additionalProperties":{}}`)},
		{"field-any", "list_tickets: output.title", "an agent can't rely on its form", func(t testing.TB, b *tempBuild) {
			b.Tools[0].OutputSchema = json.RawMessage(`{"type":"object","properties":{"title":{}}}`)
		}},
		{"field-open", "list_tickets: input", "unknown fields", func(t testing.TB, b *tempBuild) { b.Tools[0].InputSchema = json.RawMessage(`{"type":"object"}`) }},
		{"field-bounds", "list_tickets: input.ids", "the list has no limit", addInputField("ids", `{"description":"d","type":"array","items":{"type":"string"}}`)},
		{"field-bounds", "list_tickets: input.limit", "has no limit", addInputField("limit", `{"description":"d","type":"integer","maximum":9007199254740991}`)},
		{"field-bounds", "list_tickets: input.maxResults", "has no limit", addInputField("maxResults", `{"description":"d","type":["number","null"]}`)},
		{"field-reserved", "list_tickets: input.tabId", "for example to tabName", addInputField("tabId", `{"description":"d","type":"integer"}`)},
		{"field-names", "list_tickets: input.created_at", "that of list_tickets: input.createdBy is in camelCase", applyBothEdits(addInputField("created_at", `{"description":"d","type":"string"},"createdBy":{"description":"d","type":"string"}`), func(testing.TB, *tempBuild) {})},
		{"tool-undo", "list_tickets", "there is nothing to undo", func(_ testing.TB, b *tempBuild) { b.Tools[0].Undo = &plugin.Undo{Tool: "get_ticket"} }},
		{"tool-undo", "list_tickets", "its undo names get_ticket, which has readOnlyHint", func(t testing.TB, b *tempBuild) {
			no := false
			b.Tools[0].Annotations.ReadOnly, b.Tools[0].Undo = &no, &plugin.Undo{Tool: "get_ticket"}
			rewriteReadme(t, b)
		}},
		{"schema-size", "list_tickets: input", "9 KB", addInputField("long", `{"type":"string","description":"`+strings.Repeat("x", 9<<10)+`"}`)},
		{"schema-size", "list_tickets: input.state", "101 choices", addInputField("state", `{"description":"d","type":"string","enum":`+string(choices)+`}`)},
		{"schema-depth", "list_tickets: input.deep.in.in.in.in.in.in", "nested 7 levels deep", addInputField("deep", deepSchema)},
	} {
		b := buildGoodPlugin(t)
		c.breakPlugin(t, b)
		seenNames[c.rule] = true
		findings := allFindings(b)
		if len(findings) != 1 || findings[0].Rule != c.rule || findings[0].Location != c.locationText || !strings.Contains(findings[0].Text, c.wantProblem) {
			t.Errorf("findings = %+v; want one of the rule %s at %q with the text %q", findings, c.rule, c.locationText, c.wantProblem)
		}
	}
	for _, ruleUnderTest := range rules {
		if !seenNames[ruleUnderTest.ID] {
			t.Errorf("the test has no case for the linter rule %s; want a case for every rule", ruleUnderTest.ID)
		}
	}
}

// TestRulesAcceptZodSchemas checks that the linter accepts the schemas that zod generates
// for unions, records and tuples.
func TestRulesAcceptZodSchemas(t *testing.T) {
	for _, schema := range []string{
		`{"description":"d","anyOf":[{"type":"string"},{"type":"null"}]}`,
		`{"description":"d","oneOf":[{"type":"object","properties":{"kind":{"const":"a"}}}]}`,
		`{"description":"d","type":"array","prefixItems":[{"type":"string"}]}`,
		`{"description":"d","type":"object","additionalProperties":{"type":"string"}}`,
		`{"description":"d","type":"integer","exclusiveMaximum":10}`,
		`{"description":"d","$ref":"#/$defs/x"}`,
	} {
		b := buildGoodPlugin(t)
		addInputField("limit", schema)(t, b)
		for _, f := range allFindings(b) {
			t.Errorf("the input schema %s has the finding %+v; want no findings", schema, f)
		}
	}
}
