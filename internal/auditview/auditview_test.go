package auditview

import (
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/shape"
	"opentabs/internal/audit"
	"opentabs/wire"
)

var testTime = time.Date(2026, 5, 4, 3, 2, 1, 0, time.Local)

func TestLineSummarizesRecord(t *testing.T) {
	yes, no := true, false
	const decisionSurface = "the side panel"
	laptopRequester := dispatch.Requester{Client: "laptop", ClientCredential: "token"}
	for want, r := range map[string]audit.Record{
		"a__b  done after 1.5 s, called by client laptop, allowed for the session by the side panel": {Kind: audit.KindCall, Tool: "a__b",
			AuditedCall: shape.AuditedCall{Status: wire.StatusDone, RanMs: 1500, Requester: laptopRequester}, Approval: &audit.Approval{Scope: wire.ScopeSession, By: decisionSurface}},
		"a__b  failed (tab_closed) after 0.1 s, called by c__d (tab 7, https://x.example)": {Kind: audit.KindCall, Tool: "a__b",
			AuditedCall: shape.AuditedCall{Status: wire.StatusFailed, ErrorCode: wire.ErrTabClosed, RanMs: 100, Caller: &dispatch.Caller{Tool: "c__d", TabID: 7, Origin: "https://x.example"}}},
		"a__b  timed out (idle_timeout) after 30 s":                {Kind: audit.KindCall, Tool: "a__b", AuditedCall: shape.AuditedCall{Status: wire.StatusTimedOut, ErrorCode: wire.ErrIdleTimeout, RanMs: 30_000}},
		"a__b  allowed for 10 min by the side panel":               {Kind: audit.KindDecision, Tool: "a__b", Allow: &yes, Scope: wire.ScopeTime, DurationMs: 600_000, By: decisionSurface},
		"a__b  denied by the side panel":                           {Kind: audit.KindDecision, Tool: "a__b", Allow: &no, By: decisionSurface, AuditedCall: shape.AuditedCall{Requester: laptopRequester}},
		"a__b  waited for the user: yes by the side panel":         {Kind: audit.KindAnswer, Tool: "a__b", Allow: &yes, By: decisionSurface},
		"a__b  waited for the user: no by the side panel":          {Kind: audit.KindAnswer, Tool: "a__b", By: decisionSurface},
		"a  reviewed with the permission ask by the side panel":    {Kind: audit.KindReview, Tool: "a", New: "ask", By: decisionSurface},
		"a__b  permission auto, was default, by the side panel":    {Kind: audit.KindPermission, Tool: "a__b", New: "auto", By: decisionSurface},
		"a__b  limit default, was 1/1m, by the side panel":         {Kind: audit.KindLimit, Tool: "a__b", Old: "1/1m", By: decisionSurface},
		"a  calls may open https://a.example/, by the side panel":  {Kind: audit.KindTabOpening, Tool: "a", New: "https://a.example/", By: decisionSurface},
		"a  tabs may not be opened any more, by the side panel":    {Kind: audit.KindTabOpening, Tool: "a", Old: "https://a.example/", By: decisionSurface},
		"a  may call b, by the side panel":                         {Kind: audit.KindCalls, Tool: "a", New: "b", By: decisionSurface},
		"a  may not call b any more, by the side panel":            {Kind: audit.KindCalls, Tool: "a", Old: "b", By: decisionSurface},
		"a  late access on, by the side panel":                     {Kind: audit.KindLateAccess, Tool: "a", New: "on", By: decisionSurface},
		"a  late access off, by the side panel":                    {Kind: audit.KindLateAccess, Tool: "a", By: decisionSurface},
		"a  settings changed (size, token) by the side panel":      {Kind: audit.KindSettings, Tool: "a", New: "size, token", By: decisionSurface},
		"a  all settings removed by the side panel":                {Kind: audit.KindSettings, Tool: "a", By: decisionSurface},
		"a  an agent (desk) recommends the permission auto":        {Kind: audit.KindRecommendation, Tool: "a", By: "desk", New: "auto"},
		"the token of the client laptop was added by the terminal": {Kind: audit.KindClient, AuditedCall: shape.AuditedCall{Requester: laptopRequester}, New: "added", By: "the terminal"},
		"a  removed by the side panel":                             {Kind: audit.KindForget, Tool: "a", By: decisionSurface},
		"a  logged (error) broken (and 3 more before it)":          {Kind: audit.KindLog, Tool: "a", Level: wire.LogError, Message: "broken", Dropped: 3},
		"browser_click  https://shop.example  denied by the side panel": {Kind: audit.KindDecision, Tool: "browser_click", Allow: &no, By: decisionSurface,
			AuditedCall: shape.AuditedCall{Origin: "https://shop.example"}},
		"2 events could not be recorded":   {Kind: audit.KindDropped, Dropped: 2},
		"a  later":                         {Kind: "later", Tool: "a"},
		`a  logged (info) \x1b[2J one two`: {Kind: audit.KindLog, Tool: "a", Level: wire.LogInfo, Message: "\x1b[2J one\ntwo"},
	} {
		r.Time = testTime
		if got := Line(r); got != "2026-05-04 03:02:01  "+want {
			t.Errorf("Line returned %q, want the time and %q", got, want)
		}
	}
}

func TestDetails(t *testing.T) {
	r := audit.Record{
		AuditedCall: shape.AuditedCall{CallID: "call_1", TabID: 7, Reason: "the wrong\nchannel\x1b"}, Approval: &audit.Approval{At: testTime},
		Decisions:    []audit.Decision{{At: testTime, By: "the user", RequestReason: "input"}, {At: testTime, By: "the user", Allow: true, Scope: wire.ScopeOnce}},
		LastMessages: []dispatch.ToolMessage{{Time: testTime, Message: "m"}, {Time: testTime, Message: "n", Audience: "user"}},
	}
	want := []string{
		"call      call_1", "tab       7", `reason    the wrong channel\x1b`, "allowed   2026-05-04 03:02:01",
		"decided   03:02:01 no by the user (asked for its input)", "decided   03:02:01 yes, once by the user (asked by the tool)",
		"message   03:02:01 (internal) m", "message   03:02:01 (user) n",
	}
	if got := strings.Join(Details(r), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("Details returned\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
