package callview

import (
	"slices"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

func TestTicketLines(t *testing.T) {
	now := time.Now()
	v := dispatch.View{Snapshot: dispatch.Snapshot{CallID: "call_1", ToolName: "chat__export"}, Waiting: &dispatch.WaitingTicket{
		Tool: "chat__export", Kind: wire.TicketPermission, Reason: "Client cursor wants to run chat__export",
		Args: `{"channel":"gen` + "\u202e" + `eral"}`, ExpiresAt: now.Add(90 * time.Second),
		About: dispatch.ToolAbout{PluginName: "Chat", Title: "Export\x1b[2J messages", Description: "Exports " + strings.Repeat("ä", 200)},
		Page:  &dispatch.TicketPage{BrowserName: "Work", TabTitle: "general", Site: "https://chat.example.com"},
	}}
	lines := TicketLines(v, now)
	joinedLines := strings.Join(lines, "\n")
	for _, want := range []string{
		"chat__export is waiting for approval, ", "messages (Chat): can change data", "Client cursor wants to run chat__export",
		"in general, https://chat.example.com, Work", "arguments\n", `"channel": "gen`,
	} {
		if !strings.Contains(joinedLines, want) {
			t.Errorf("the ticket text does not contain %q:\n%s", want, joinedLines)
		}
	}
	if strings.ContainsAny(joinedLines, "\x1b\u202e") {
		t.Errorf("the lines of the ticket contain control characters: %q", joinedLines)
	}
	if i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Exports") }); i < 0 || len(lines[i]) > maxDescriptionBytes+3 {
		t.Errorf("the ticket contains the whole description, want a shortened one:\n%s", joinedLines)
	}
	v.Waiting.About.IsReadOnly, v.Waiting.About.Title, v.Waiting.Page = true, "", nil
	if joinedLines := strings.Join(TicketLines(v, now), "\n"); !strings.Contains(joinedLines, "chat__export (Chat): reads") || strings.Contains(joinedLines, "\nin ") {
		t.Errorf("the ticket of a read-only tool without a page has the wrong lines:\n%s", joinedLines)
	}
	v.Waiting = nil
	if got := TicketLines(v, now); got != nil {
		t.Errorf("a call that does not wait for approval has the ticket lines %q, want none", got)
	}
}
