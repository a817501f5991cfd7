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

// good is a plugin in which nothing could be better. Its source has a built dist.
func good(t testing.TB) *built {
	t.Helper()
	dir := t.TempDir()
	b := &built{source: filepath.Join(dir, "source"), out: filepath.Join(dir, "out")}
	put(t, b.source, "package.json", `{"name": "opentabs-plugin-tickets", "version": "1.0.0", "main": "dist/adapter.iife.js", "files": ["dist"], "keywords": ["opentabs-plugin"]}`)
	put(t, b.source, "icon.svg", "<svg/>")
	put(t, b.source, "src/index.test.ts", "")
	for _, out := range []string{"source/dist", "out"} {
		put(t, dir, out+"/adapter.iife.js", "code")
		put(t, dir, out+"/tools.json", "tools")
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
	_, readme, err := b.readme()
	if err != nil {
		t.Fatal(err)
	}
	put(t, b.source, readmeFile, string(readme))
	return b
}

// takes gives the first tool one more field.
func takes(name, schema string) func(testing.TB, *built) {
	return func(_ testing.TB, b *built) {
		b.Tools[0].InputSchema = fmt.Appendf(nil, `{"type":"object","properties":{"first":{"type":"string","description":"d"},%q:%s},"additionalProperties":false}`, name, schema)
	}
}

func named(name string) func(testing.TB, *built) {
	return func(t testing.TB, b *built) { b.Tools[0].Name = name; rewriteReadme(t, b) }
}

func described(text string) func(testing.TB, *built) {
	return func(t testing.TB, b *built) { b.Tools[0].Description = text; rewriteReadme(t, b) }
}

func rewriteReadme(t testing.TB, b *built) {
	t.Helper()
	_, fresh, err := b.readme()
	if err != nil {
		t.Fatal(err)
	}
	put(t, b.source, readmeFile, string(fresh))
}

// manifest replaces a text of package.json.
func manifest(old, fresh string) func(testing.TB, *built) {
	return func(t testing.TB, b *built) {
		put(t, b.source, "package.json", strings.Replace(read(t, b.source, "package.json"), old, fresh, 1))
	}
}

func hints(readOnly, destructive *bool) func(testing.TB, *built) {
	return func(t testing.TB, b *built) {
		b.Tools[0].Annotations = plugin.Annotations{ReadOnly: readOnly, Destructive: destructive}
		rewriteReadme(t, b)
	}
}

func both(first, second func(testing.TB, *built)) func(testing.TB, *built) {
	return func(t testing.TB, b *built) { first(t, b); second(t, b) }
}

func without(name string) func(testing.TB, *built) {
	return func(t testing.TB, b *built) {
		if err := os.Remove(filepath.Join(b.source, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
}

func about(b *built) *Checked {
	c := &Checked{}
	c.apply(b)
	return c
}

func TestNothingIsFoundInAGoodPlugin(t *testing.T) {
	for _, f := range about(good(t)).Findings {
		t.Errorf("%+v", f)
	}
}

func TestRules(t *testing.T) {
	yes, no := true, false
	deep := `{"type":"string","description":"d"}`
	for range 6 {
		deep = `{"type":"object","description":"d","additionalProperties":false,"properties":{"in":` + deep + `}}`
	}
	choices, err := json.Marshal(slices.Repeat([]string{"a"}, 101))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range []struct {
		rule, where, text string
		spoil             func(testing.TB, *built)
	}{
		{"package-version", "package.json", `"1.0"`, manifest("1.0.0", "1.0")},
		{"package-version", "package.json", `"01.0.0"`, manifest("1.0.0", "01.0.0")},
		{"package-main", "package.json", `"index.js"`, manifest("dist/adapter.iife.js", "index.js")},
		{"package-files", "package.json", "dist", manifest(`["dist"]`, `["src"]`)},
		{"package-keyword", "package.json", "keywords", manifest(`"keywords": ["opentabs-plugin"]`, `"keywords": []`)},
		{"package-scripts", "package.json", "postinstall", manifest(`"files"`, `"scripts": {"postinstall": "x"}, "files"`)},
		{"package-dependencies", "package.json", "lodash", manifest(`"files"`, `"dependencies": {"lodash": "1", "zod": "4"}, "files"`)},
		{"display-name", "package.json", "41 characters", func(t testing.TB, b *built) { b.DisplayName = strings.Repeat("x", 41) }},
		{"display-name", "package.json", "as the site writes itself", func(t testing.TB, b *built) { b.DisplayName = "tickets" }},
		{"description", "package.json", "7 characters", func(t testing.TB, b *built) { b.Description = "Tickets" }},
		{"pattern-wide", "package.json", "everybody below github.io", func(t testing.TB, b *built) { b.Matches = []string{"https://*.github.io/*"} }},
		{"pattern-wide", "package.json", "everybody below co.uk", func(t testing.TB, b *built) { b.Matches = []string{"*://*.co.uk/x/*"} }},
		{"pattern-wide", "package.json", "11 patterns", func(t testing.TB, b *built) { b.Matches = slices.Repeat(b.Matches, 11) }},
		{"icon", "icon.svg", "put a square SVG", without("icon.svg")},
		{"icon", "", "no tool has an icon", func(t testing.TB, b *built) { b.Tools[0].Icon, b.Tools[1].Icon = "wrench", "wrench" }},
		{"adapter-size", "dist/adapter.iife.js", "2.0 MB", func(t testing.TB, b *built) {
			put(t, b.out, "adapter.iife.js", strings.Repeat("x", largeAdapterBytes+1))
			put(t, b.source, "dist/adapter.iife.js", strings.Repeat("x", largeAdapterBytes+1))
		}},
		{"world-isolated", "package.json", `set "world": "isolated"`, func(t testing.TB, b *built) { put(t, b.source, "src/index.ts", "export default {};") }},
		{"dist-stale", "dist/tools.json", "opentabs plugin build", func(t testing.TB, b *built) { put(t, b.source, "dist/tools.json", "old") }},
		{"tests", "", "no tests", without("src/index.test.ts")},
		{"readme", "README.md", "there is none", without("README.md")},
		{"readme", "README.md", "is not that of the plugin", func(t testing.TB, b *built) { b.Tools[1].Description += " And more." }},
		{"tool-name", "tickets_list", "twice", named("tickets_list")},
		{"tool-name", "ticket_list", "the verb comes last", named("ticket_list")},
		{"tool-name", "tickets", "does not begin with a verb", named("tickets")},
		{"tool-name", "list", "add a noun", named("list")},
		{"tool-name", "list_" + strings.Repeat("x", 36), "41 characters", named("list_" + strings.Repeat("x", 36))},
		{"tool-description", "list_tickets", "16 characters", described("Returns tickets.")},
		{"tool-description", "list_tickets", "601 characters", described(strings.Repeat("x", 601))},
		{"tool-description", "list_tickets", "begin with what it does", described("This tool returns the tickets of the project.")},
		{"tool-description", "get_ticket", "the same words as list_tickets", func(t testing.TB, b *built) {
			b.Tools[1].Description = b.Tools[0].Description
			rewriteReadme(t, b)
		}},
		{"tool-annotations", "list_tickets", "readOnlyHint: true }, if its name", hints(nil, nil)},
		{"tool-annotations", "send_ticket", "destructiveHint: false", both(named("send_ticket"), hints(nil, nil))},
		{"tool-annotations-contradict", "list_tickets", "destroys nothing", hints(&yes, &yes)},
		{"tool-annotations-contradict", "delete_ticket", "changes something", both(named("delete_ticket"), hints(&yes, nil))},
		{"tool-annotations-contradict", "list_tickets", "only reads", hints(nil, &yes)},
		{"tool-annotations-contradict", "remove_ticket", "make it true", both(named("remove_ticket"), hints(nil, &no))},
		{"field-description", "list_tickets: input.state", "add .describe", takes("state", `{"type":"string"}`)},
		{"field-description", "list_tickets: input.all[].id", "add .describe", takes("all", `{"type":"array","description":"d","maxItems":3,"items":{"type":"object","properties":{"id":{"type":"string"}}}}`)},
		{"field-any", "list_tickets: input.data", "it takes anything", takes("data", `{"description":"d"}`)},
		{"field-any", "list_tickets: input.map.*", "it takes anything", takes("map", `{"description":"d","type":"object","additionalProperties":{}}`)},
		{"field-any", "list_tickets: output.title", "no agent knows", func(t testing.TB, b *built) {
			b.Tools[0].OutputSchema = json.RawMessage(`{"type":"object","properties":{"title":{}}}`)
		}},
		{"field-open", "list_tickets: input", "does not name", func(t testing.TB, b *built) { b.Tools[0].InputSchema = json.RawMessage(`{"type":"object"}`) }},
		{"field-bounds", "list_tickets: input.ids", "a list without a limit", takes("ids", `{"description":"d","type":"array","items":{"type":"string"}}`)},
		{"field-bounds", "list_tickets: input.limit", "has no limit", takes("limit", `{"description":"d","type":"integer","maximum":9007199254740991}`)},
		{"field-bounds", "list_tickets: input.maxResults", "has no limit", takes("maxResults", `{"description":"d","type":["number","null"]}`)},
		{"field-reserved", "list_tickets: input.tabId", "such as tabName", takes("tabId", `{"description":"d","type":"integer"}`)},
		{"field-names", "list_tickets: input.created_at", "list_tickets: input.createdBy one in camelCase", both(takes("created_at", `{"description":"d","type":"string"},"createdBy":{"description":"d","type":"string"}`), func(testing.TB, *built) {})},
		{"schema-size", "list_tickets: input", "9 KB", takes("long", `{"type":"string","description":"`+strings.Repeat("x", 9<<10)+`"}`)},
		{"schema-size", "list_tickets: input.state", "101 choices", takes("state", `{"description":"d","type":"string","enum":`+string(choices)+`}`)},
		{"schema-depth", "list_tickets: input.deep.in.in.in.in.in.in", "nested 7 deep", takes("deep", deep)},
	} {
		b := good(t)
		c.spoil(t, b)
		seen[c.rule] = true
		found := about(b).Findings
		if len(found) != 1 || found[0].Rule != c.rule || found[0].Where != c.where || !strings.Contains(found[0].Text, c.text) {
			t.Errorf("%s (%s): found %+v", c.rule, c.text, found)
		}
	}
	for _, one := range rules {
		if !seen[one.ID] {
			t.Errorf("no case for the rule %s", one.ID)
		}
	}
}

// TestRulesAllowWhatIsDescribed: what zod writes for unions, records and lists of fixed
// length is no fault.
func TestRulesAllowWhatIsDescribed(t *testing.T) {
	for _, schema := range []string{
		`{"description":"d","anyOf":[{"type":"string"},{"type":"null"}]}`,
		`{"description":"d","oneOf":[{"type":"object","properties":{"kind":{"const":"a"}}}]}`,
		`{"description":"d","type":"array","prefixItems":[{"type":"string"}]}`,
		`{"description":"d","type":"object","additionalProperties":{"type":"string"}}`,
		`{"description":"d","type":"integer","exclusiveMaximum":10}`,
		`{"description":"d","$ref":"#/$defs/x"}`,
	} {
		b := good(t)
		takes("limit", schema)(t, b)
		for _, f := range about(b).Findings {
			t.Errorf("%s: %+v", schema, f)
		}
	}
}
