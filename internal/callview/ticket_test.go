package callview

import (
	"slices"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

func TestTicketLinesShowQuestion(t *testing.T) {
	now := time.Now()
	v := dispatch.View{Snapshot: dispatch.Snapshot{CallID: "call_1", ToolName: "chat__export"}, Waiting: &dispatch.WaitingTicket{
		Tool: "chat__export", Kind: wire.TicketPermission, Reason: "Client cursor wants to run chat__export",
		Args: `{"channel":"gen` + "\u202e" + `eral"}`, ExpiresAt: now.Add(90 * time.Second),
		Summary: dispatch.ToolSummary{PluginName: "Chat", Title: "Export\x1b[2J messages", Description: "Exports " + strings.Repeat("ä", 200)},
		Page:    &dispatch.TicketPage{BrowserName: "Work", TabTitle: "general", Site: "https://chat.example.com"},
	}}
	lines := TicketLines(v, now)
	joinedLines := strings.Join(lines, "\n")
	for _, want := range []string{
		"chat__export is waiting for approval, ", "messages (Chat): can change data", "Client cursor wants to run chat__export",
		"in general, https://chat.example.com, Work", "arguments\n", `"channel": "gen`,
	} {
		if !strings.Contains(joinedLines, want) {
			t.Errorf("the description of the waiting call does not contain %q:\n%s", want, joinedLines)
		}
	}
	if strings.ContainsAny(joinedLines, "\x1b\u202e") {
		t.Errorf("description of the waiting call = %q; want no control characters", joinedLines)
	}
	if i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Exports") }); i < 0 || len(lines[i]) > maxDescriptionBytes+3 {
		t.Errorf("the approval request shows the tool's whole description; want a shortened one:\n%s", joinedLines)
	}
	v.Waiting.Summary.IsReadOnly, v.Waiting.Summary.Title, v.Waiting.Page = true, "", nil
	if joinedLines := strings.Join(TicketLines(v, now), "\n"); !strings.Contains(joinedLines, "chat__export (Chat): reads") || strings.Contains(joinedLines, "\nin ") {
		t.Errorf("approval request for a read-only tool without a page; want \"reads\" and no page:\n%s", joinedLines)
	}
	v.Waiting = nil
	if got := TicketLines(v, now); got != nil {
		t.Errorf("lines for a call that does not wait for approval = %q, want none", got)
	}
}
