package form

import (
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/wire"
)

func TestSafeText(t *testing.T) {
	for input, want := range map[string]string{
		"plain, größer, 漢字":      "plain, größer, 漢字",
		"a\nb\tc":                "a b c",
		"\u202eevil\u2066":       `\u202eevil\u2066`,
		"\x1b[2J\x00":            `\x1b[2J\x00`,
		"zero\u200bwidth":        `zero\u200bwidth`,
		"👩\u200d🚀":               "👩\u200d🚀",
		strings.Repeat("ä", 25):  strings.Repeat("ä", 20) + "... (5 more characters)",
		strings.Repeat("x", 20):  strings.Repeat("x", 20),
		"\xff":                   "\uFFFD",
		"a\u00a0b\u2028c\u3000d": `a\u00a0b\u2028c\u3000d`,
	} {
		if got := escapeForUser(input, 20); got != want {
			t.Errorf("escaped text of %q = %q, want %q", input, got, want)
		}
	}
}

func TestFormShowsCallerName(t *testing.T) {
	q := Question{dispatch.WaitingTicket{
		Tool: "messages__echo", Kind: wire.TicketPermission, Args: `{}`, Scopes: []wire.Scope{wire.ScopeOnce, wire.ScopeSession},
		Reason: "The plugin tickets (tab 7, https://site.test) wants to run messages__echo, called by its tool tickets__file for Agent",
		Caller: &dispatch.Caller{Plugin: "tickets", Tool: "tickets__file", TabID: 7, Origin: "https://site.test"},
	}}
	builtForm := q.Build()
	want := "May messages__echo run in your browser?\nThe plugin tickets (tab 7, https://site.test) wants to run messages__echo, called by its tool tickets__file for Agent\nArguments: {}"
	if builtForm.Message != want {
		t.Errorf("text of the approval form = %q\nwant %q", builtForm.Message, want)
	}
	if got := builtForm.Schema.Properties[decisionField].Description; got != "It applies to calls that the plugin tickets makes, not to those of your agent. Declining denies the call, too." {
		t.Errorf("description of the decision for a nested call = %q, want %q", got, "It applies to calls that the plugin tickets makes, not to those of your agent. Declining denies the call, too.")
	}
	q.Title, q.Caller = "https://shop.example", nil
	if got := q.Build().Schema.Properties[decisionField].Description; got != "For this session, it applies to later calls on https://shop.example. Declining denies the call, too." {
		t.Errorf("description of the decision for a browser tool = %q; want the site https://shop.example", got)
	}
	q.Title = ""
	if got := q.Build().Schema.Properties[decisionField].Description; got != "Declining denies the call, too." {
		t.Errorf("description of the decision without a session = %q, want %q", got, "Declining denies the call, too.")
	}
}

// TestFormShowsCompleteCode checks that the form for a tool that runs code shows all of the code.
func TestFormShowsCompleteCode(t *testing.T) {
	args := `{"function":"` + strings.Repeat("x", 5000) + `evil()"}`
	for tool, isFullText := range map[string]bool{evaluateToolName: true, "browser_type": false} {
		q := Question{dispatch.WaitingTicket{Tool: tool, Kind: wire.TicketPermission, Args: args, Scopes: []wire.Scope{wire.ScopeOnce}}}
		if requestJSON := q.Build().Message; strings.Contains(requestJSON, "evil()") != isFullText {
			t.Errorf("the form of %s shows all arguments: %t, want %t", tool, !isFullText, isFullText)
		}
	}
}
