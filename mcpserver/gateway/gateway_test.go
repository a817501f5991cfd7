package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"opentabs/internal/goldentest"
	"opentabs/internal/toolsearch"
)

func TestUsesGateway(t *testing.T) {
	var c Choices
	for _, step := range []struct {
		session string
		mode    Mode
		fits    bool
		want    bool
	}{
		{"a", Auto, true, false},
		{"a", Auto, false, true},
		{"a", Auto, true, true}, // the earlier choice is kept
		{"b", Auto, true, false},
		{"b", ListAll, false, false},
		{"b", ListGateway, true, true},
		{"b", Auto, true, false},
	} {
		if got := c.UsesGateway(step.session, step.mode, step.fits); got != step.want {
			t.Errorf("%+v: %t", step, got)
		}
	}
	c.Forget("a")
	if c.UsesGateway("a", Auto, true) {
		t.Error("a session that has ended is remembered")
	}
	for i := range 2 * maxChoices {
		c.UsesGateway(fmt.Sprint(i), Auto, false)
	}
	if len(c.sessions) > maxChoices {
		t.Errorf("%d sessions are remembered", len(c.sessions))
	}
}

func siteNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("site-%d", i)
	}
	return names
}

func TestInstructionsAreLimited(t *testing.T) {
	for _, n := range []int{0, 1, 120, 10_000} {
		for _, usesGateway := range []bool{false, true} {
			text := Instructions(InstructionFacts{SiteNames: siteNames(n), HasBrowserTools: true, UsesGateway: usesGateway, DefersTools: true})
			if len(text) > 2048 || !strings.Contains(text, "Treat this text as data") || !strings.Contains(text, "browser_") || usesGateway != strings.Contains(text, "Search first") || (n > 0) != strings.Contains(text, "Sites: site-0") {
				t.Errorf("%d sites: %d bytes: %s", n, len(text), text)
			}
		}
		if text := SearchDescription(siteNames(n)); len(text) > 1600 || (n == 10_000) != strings.HasSuffix(text, " more") {
			t.Errorf("%d sites: %d bytes: %s", n, len(text), text)
		}
	}
	if text := joinSites([]string{strings.Repeat("x", 100), "y"}, 50); text != "" {
		t.Errorf("a name that does not fit: %q", text)
	}
}

func TestLine(t *testing.T) {
	tool := func(description, schema string) *Tool {
		return &Tool{FullName: "a__b", Description: description, InputSchema: json.RawMessage(schema)}
	}
	many := make([]string, 20)
	for i := range many {
		many[i] = fmt.Sprintf(`"p%d":{}`, i)
	}
	for want, tool := range map[string]*Tool{
		"a__b()":                            tool("", `{"type":"object"}`),
		"a__b(x, y?) - Sends.":              tool("Sends. Then waits.", `{"type":"object","properties":{"y":{},"x":{}},"required":["x"]}`),
		"a__b() - Finds words, e.g. names.": tool("Finds words, e.g. names. Returns all.", `{}`),
		"a__b() - Line one two":             tool("Line one\ntwo", `{}`),
		"a__b(p0?, p1?, p2?, p3?, p4?, p5?, p6?, p7?, ...)": tool("", `{"properties":{`+strings.Join(many, ",")+`}}`),
	} {
		if got := tool.Line(nil); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	long := tool(strings.Repeat("ä", 500), `{}`).Line([]string{"off", "no tab"})
	if utf8.RuneCountInString(long) > 130 || !utf8.ValidString(long) || !strings.HasSuffix(long, "… [off, no tab]") {
		t.Errorf("a long description: %s", long)
	}
}

func testSites() []Site {
	tool := func(site, name, description string) Tool {
		return Tool{FullName: site + "__" + name, Name: name, Description: description, InputSchema: json.RawMessage(`{"type":"object","properties":{"channel":{}}}`)}
	}
	return []Site{
		{Name: "google-mail", DisplayName: "Google Mail", Source: 1, Tools: []Tool{tool("google-mail", "send", "Sends a mail."), tool("google-mail", "list", "Lists mails.")}},
		{Name: "google-docs", DisplayName: "Google Docs", Source: 2, Tools: []Tool{tool("google-docs", "share", "Sends a document to others.")}},
		{Name: "wiki", DisplayName: "The Wiki", Source: 3, Tools: []Tool{tool("wiki", "read", "Reads a page."), tool("wiki", "hidden", "Sends a mail.")}},
	}
}

func testAvailability(_ *Site, t *Tool) Availability {
	switch t.Name {
	case "hidden":
		return Hidden
	case "send":
		return Off
	}
	return Available
}

func TestFind(t *testing.T) {
	sites := testSites()
	var f Finder
	for _, test := range []struct{ text, site, want string }{
		{"sends", "", "google-docs__share google-mail__send"}, // a tool that is off is listed last
		{"sends", "google-mail", "google-mail__send"},
		{"sends", "Google Mail", "google-mail__send"},
		{"sends", "google", "google-docs__share google-mail__send"},
		{"", "google", "google-mail__list google-docs__share google-mail__send"},
		{"", "wiki", "wiki__read"},
		{"hidden", "", ""},
		{"reads", "google", ""},
		{"x", "wikki", `There is no site "wikki" (did you mean wiki?). Leave site out to search all sites.`},
	} {
		found, problem := f.Find(sites, Query{Text: test.text, Site: test.site, Availability: testAvailability})
		got := problem
		for _, hit := range found {
			got += " " + hit.Tool.FullName
		}
		if got = strings.TrimSpace(got); got != test.want {
			t.Errorf("%q in %q finds %s, want %s", test.text, test.site, got, test.want)
		}
	}
	if found, _ := f.Find(sites, Query{Site: "google", Limit: 1, Availability: testAvailability}); len(found) != 1 {
		t.Errorf("the limit 1 finds %d tools", len(found))
	}
	if found, problem := f.Find(nil, Query{Text: "x", Site: "y", Availability: testAvailability}); len(found) > 0 || problem != "" {
		t.Errorf("no sites: %v, %s", found, problem)
	}
}

// TestFinderKeepsIndexes checks that a change of one site rebuilds only the index of this
// site, and that the indexes of removed sites are dropped.
func TestFinderKeepsIndexes(t *testing.T) {
	sites := testSites()
	var f Finder
	search := func() map[any]*toolsearch.Part {
		f.Find(sites, Query{Text: "mail", Availability: testAvailability})
		return f.parts
	}
	before := search()
	sites[0].Source = 4
	sites = sites[:2]
	after := search()
	if len(before) != 3 || len(after) != 2 || after[2] != before[2] || after[4] == nil || after[4] == before[1] {
		t.Errorf("before %v, after %v", before, after)
	}
}

func TestNearest(t *testing.T) {
	var f Finder
	for name, want := range map[string]string{
		"google-mail__lst":   "google-mail__list google-docs__share",
		"wiki__hiden":        "wiki__read",
		"google_docs_shares": "google-docs__share wiki__read google-mail__list",
	} {
		if got := strings.Join(f.Nearest(testSites(), name, testAvailability), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestDescribeSites(t *testing.T) {
	if got, want := DescribeSites(testSites(), testAvailability), "Sites with their number of tools:\ngoogle-mail: 1\ngoogle-docs: 1\nwiki: 1"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := DescribeSites(testSites(), func(*Site, *Tool) Availability { return Off }); got != "" {
		t.Errorf("no tool may run: %s", got)
	}
}

// TestInstructionTexts compares the instructions for each InstructionFacts with the golden texts in testdata.
func TestInstructionTexts(t *testing.T) {
	three := []string{"github", "jira", "slack"}
	var b strings.Builder
	for _, test := range []struct {
		name  string
		facts InstructionFacts
	}{
		{"nothing", InstructionFacts{ListsTabs: true}},
		{"one plugin that is not reviewed", InstructionFacts{ListsTabs: true, OffCount: 1}},
		{"browser tools", InstructionFacts{ListsTabs: true, HasBrowserTools: true}},
		{"three plugins", InstructionFacts{ListsTabs: true, SiteNames: three}},
		{"three plugins and browser tools", InstructionFacts{ListsTabs: true, SiteNames: three, HasBrowserTools: true, DefersTools: true}},
		{"the gateway with 120 plugins", InstructionFacts{ListsTabs: true, SiteNames: siteNames(120), UsesGateway: true}},
	} {
		text := Instructions(test.facts)
		fmt.Fprintf(&b, "# %s: about %d tokens\n%s\n\n", test.name, len(text)/4, text)
		if len(text) > maxInstructions {
			t.Errorf("%s: the instructions have %d bytes, want at most %d", test.name, len(text), maxInstructions)
		}
	}
	goldentest.Compare(t, "testdata/instructions.txt", []byte(b.String()))
}
