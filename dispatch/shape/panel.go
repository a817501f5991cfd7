package shape

import (
	"time"

	"opentabs/dispatch"
	"opentabs/internal/plaintext"
	"opentabs/wire"
)

// These constants limit the texts in a side panel, in characters.
const (
	maxPanelClient = 100
	maxPanelResult = 200
)

// CallForPanel returns a call as the side panel of a browser shows it, without its
// activities. The tab of a call in another browser is omitted, because tab IDs of two
// browsers may be equal.
func CallForPanel(v dispatch.View, browserID string) wire.CallView {
	c := wire.CallView{
		CallID: v.CallID, Plugin: v.Plugin, Tool: v.Tool, Status: v.Status, Progress: v.Progress,
		Message: v.Message, Client: plaintext.Clean(v.ToClient().String(), maxPanelClient), RunMs: v.RunMs, Error: v.Error,
		Prompt: v.Prompt, ParentCallID: v.ParentCallID,
		UserProgress: v.UserProgress, UserMessage: v.UserMessage, EndAudience: v.EndAudience,
		StatusWord: v.StatusWord, UserStatusWord: v.UserStatusWord, Result: plaintext.Clean(v.Result, maxPanelResult),
	}
	if v.Browser == browserID {
		c.TabID = v.TabID
	}
	if w := v.Waiting; w != nil {
		c.Waiting = &wire.WaitingView{
			TicketID: w.TicketID, Kind: w.Kind, Reason: w.Reason, Title: w.Title, Args: w.Args,
			Caller: panelCaller(w.Caller, browserID),
			LeftMs: max(0, float64(time.Until(w.ExpiresAt))/float64(time.Millisecond)), Scopes: w.Scopes,
		}
	}
	return c
}

// panelCaller returns the tool that made a call, as side panels show it; nil for a call
// of a client.
func panelCaller(caller *dispatch.Caller, browserID string) *wire.CallerView {
	if caller == nil {
		return nil
	}
	v := &wire.CallerView{Plugin: caller.Plugin, Tool: caller.Tool, Origin: caller.Origin}
	if caller.Browser == browserID {
		v.TabID = caller.TabID
	}
	return v
}

// ActivityForPanel returns an activity as side panels show it. A content longer than
// maxBytes is omitted.
func ActivityForPanel(a dispatch.ActivityView, maxBytes int) wire.ActivityView {
	v := wire.ActivityView{Type: a.Type, Audience: a.Audience, Bytes: len(a.Content)}
	if v.Bytes <= maxBytes {
		v.Content = string(a.Content)
	}
	return v
}
