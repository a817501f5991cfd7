package dispatchtest

import (
	"encoding/json"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
	"opentabs/wire"
)

// ArrivalTime is the arrival time of the call that [View] returns.
var ArrivalTime = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

// View returns a call in which every field is set, for tests of surfaces. No real call has
// all fields at once: a call that waits for the user has no error and no result.
func View() dispatch.View {
	progress, loadedBytes, totalProgress, userProgress := 0.5, 50.0, 100.0, 0.25
	endedTime := ArrivalTime.Add(time.Minute)
	return dispatch.View{
		Snapshot: dispatch.Snapshot{
			Schema: dispatch.SnapshotSchema, NodeID: "node_1", CallID: "call_1", ToolName: "messages__export",
			Progression:  dispatch.Progression{Status: wire.StatusRunning, Progress: &progress, Loaded: &loadedBytes, Total: &totalProgress, Message: "page <1> of 2"},
			ParentNodeID: "node_0", ParentCallID: "call_0",
		},
		Plugin: "messages", Tool: "export",
		Requester: dispatch.Requester{Client: "laptop", ClientCredential: dispatch.CredentialToken, ClaimedName: "claude-code", Session: "session-1"},
		Browser:   "b1", BrowserName: "Work", TabID: 7, URL: "https://chat.example:8443/general?x=1", ArgsStart: `{"channel":"general"}`, Created: ArrivalTime, Ended: &endedTime, RunMs: 1500.5, ReportCount: 9, InvalidCount: 2, Prompt: true, NestingDepth: 1,
		Caller:       &dispatch.Caller{Plugin: "mail", Tool: "mail__archive", Browser: "b1", TabID: 6, Origin: "https://mail.example", ParentTools: []string{"mail__all"}},
		UserProgress: &userProgress, UserMessage: "a quarter", StatusWord: "indexing", UserStatusWord: "reading", EndAudience: dispatch.AudienceUser,
		Result: `{"messages":2}`, Waiting: newWaitingTicket(),
		Decision: &dispatch.Resolution{
			TicketID: "ticket_0", Gate: "permission", Allow: true, Scope: wire.ScopeTime, Duration: time.Minute, Data: json.RawMessage(`{"note":1}`),
			Surface: "a notification", DecidedAt: ArrivalTime, IsFromRecheck: true,
		},
		Activities: []dispatch.ActivityView{
			{Type: "table", Content: json.RawMessage(`[{"a":1}]`), Audience: dispatch.AudienceUser, Dropped: 1},
			{Type: "text", Content: json.RawMessage(`"for the agent"`)},
		},
		Timeline: []dispatch.TimelineEntry{
			{Time: ArrivalTime, Kind: dispatch.EventCreated},
			{Time: ArrivalTime.Add(time.Second), Kind: dispatch.EventSuspended, Reason: "It sends messages."},
			{Time: ArrivalTime.Add(2 * time.Second), Kind: dispatch.EventResumed, Resolution: Resolution()},
		},
		Trace: &hops.View{Start: ArrivalTime, Hops: []hops.Hop{{Stage: "guard", Us: 12.5}, {Stage: "parse", StartUs: 12.5, Us: 7}}, TraceID: "0af7651916cd43dd8448eb211c80319c"},
		Seq:   42, ErrorCode: wire.ErrToolError, Error: "The channel is <gone>.", NextStep: "Choose another <channel>.", CancelReason: "not needed", StopOutcome: wire.CancelAborted,
	}
}

func newWaitingTicket() *dispatch.WaitingTicket {
	return &dispatch.WaitingTicket{
		TicketID: "ticket_1", CallID: "call_1", Tool: "messages__export", Kind: wire.TicketPermission, Reason: "It sends messages.",
		Caller:  &dispatch.Caller{Plugin: "mail", Tool: "mail__archive", Browser: "b2", TabID: 6, Origin: "https://mail.example", ParentTools: []string{"mail__all"}},
		Browser: "b1", TabID: 7, Title: "Export messages", Args: `{"channel":"general"}`, ArgsBytes: 4000,
		StartedAt: ArrivalTime.Add(time.Second), ExpiresAt: ArrivalTime.Add(5 * time.Minute), Scopes: []wire.Scope{wire.ScopeOnce, wire.ScopeAlways},
		Summary: dispatch.ToolSummary{PluginName: "Messages", Title: "Export messages", Description: "Exports a channel.", IsReadOnly: true},
		Page:    &dispatch.TicketPage{Browser: "b1", BrowserName: "Work", TabID: 7, TabTitle: "general", Site: "https://messages.example"},
	}
}

// Resolution returns a decision of the user in which every field is set, for tests of
// surfaces.
func Resolution() *dispatch.Resolution {
	return &dispatch.Resolution{
		TicketID: "ticket_1", Gate: "permission", Allow: true, Scope: wire.ScopeTime, Duration: time.Hour, Data: json.RawMessage(`{"note":1}`),
		Surface: "the side panel", DecidedAt: ArrivalTime.Add(2 * time.Second), IsFromRecheck: true,
	}
}
