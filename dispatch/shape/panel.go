package shape

import (
	"net/url"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/plaintext"
	"opentabs/wire"
)

const (
	maxPanelClient   = 100 // the maximum length of a client's name in characters
	maxPanelResult   = 200 // the maximum length of a result in characters
	maxShownCalls    = 200
	maxActivityCalls = 20
	maxActivityBytes = 512 << 10
)

// Calls provides the calls that a side panel shows. A *dispatch.Dispatcher implements
// Calls.
type Calls interface {
	Calls() []dispatch.View
	Find(callID string) (dispatch.View, bool)
}

// PanelCalls creates the state.sync notifications for the side panel of one browser. A
// PanelCalls is not safe for concurrent use.
type PanelCalls struct {
	BrowserID     string
	ServerVersion string
	// ClientNames returns the names of the connected MCP clients. If ClientNames is nil,
	// the side panel shows no list of clients.
	ClientNames func() []string
	// listedEndedIDs contains the IDs of the ended calls that the last list with ended calls contained.
	listedEndedIDs map[string]bool
}

// Next returns the calls that have not ended, and the calls that have ended since Next was
// last called. If calls is nil, the result contains no calls.
func (p *PanelCalls) Next(calls Calls) wire.StateSyncParams {
	params := wire.StateSyncParams{ServerVersion: p.ServerVersion}
	if p.ClientNames != nil {
		params.Clients = p.ClientNames()
	}
	if calls == nil {
		return params
	}
	budget := activityBudget{calls: maxActivityCalls, bytes: maxActivityBytes}
	newCallView := func(v dispatch.View) wire.CallView {
		c := CallForPanel(v, p.BrowserID)
		c.Activities = budget.activitiesOf(calls, v.CallID)
		return c
	}
	listedEndedIDs := map[string]bool{}
	var shownWaitingCalls, shownOtherCalls int
	for _, v := range calls.Calls() {
		if v.Ended != nil {
			// Two calls may end while the list is read, so a call that was listed as running can precede calls that Next
			// has already returned as ended.
			listedEndedIDs[v.CallID] = true
			if !p.listedEndedIDs[v.CallID] && len(params.Ended) < maxShownCalls {
				params.Ended = append(params.Ended, newCallView(v))
			}
			continue
		}
		params.Running++
		// The panel counts the calls that wait for the user separately, so that it shows
		// them however many other calls are open.
		shownCount := &shownOtherCalls
		if v.Waiting != nil {
			shownCount = &shownWaitingCalls
		}
		if *shownCount < maxShownCalls {
			*shownCount++
			params.Calls = append(params.Calls, newCallView(v))
		}
	}
	if len(listedEndedIDs) > 0 { // an empty list does not make Next return earlier calls again
		p.listedEndedIDs = listedEndedIDs
	}
	return params
}

// CallForPanel converts a call to the form that the side panel of a browser shows, without activities. CallForPanel
// omits the tab ID of a call in another browser, because two browsers may use equal tab IDs.
func CallForPanel(v dispatch.View, browserID string) wire.CallView {
	c := wire.CallView{
		CallID: v.CallID, Plugin: v.Plugin, Tool: v.Tool, Status: v.Status, Progress: v.Progress,
		Message: v.Message, Client: plaintext.Clean(v.ToClient().String(), maxPanelClient), RunMs: v.RunMs, Error: v.Error, NextStep: v.NextStep,
		Prompt: v.Prompt, ParentCallID: v.ParentCallID,
		ErrorCode: v.ErrorCode, Site: hostOf(v.URL), Args: v.ArgsStart,
		UserProgress: v.UserProgress, UserMessage: v.UserMessage, EndAudience: v.EndAudience,
		StatusWord: v.StatusWord, UserStatusWord: v.UserStatusWord, Result: plaintext.Clean(v.Result, maxPanelResult),
	}
	if !v.Created.IsZero() {
		c.CreatedMs = float64(v.Created.UnixMilli())
	}
	if v.Browser == browserID {
		c.TabID = v.TabID
	}
	if c.Status != wire.StatusRunning && !c.Status.HasEnded() {
		c.Status = wire.StatusPending // the side panel shows the field Waiting of the call instead
	}
	if w := v.Waiting; w != nil {
		c.Waiting = &wire.WaitingView{
			TicketID: w.TicketID, Kind: w.Kind, Reason: w.Reason, Title: w.Title, Args: w.Args,
			Caller: panelCaller(w.Caller, browserID),
			LeftMs: max(0, float64(time.Until(w.ExpiresAt))/float64(time.Millisecond)), Scopes: w.Scopes,
			PluginName: w.Summary.PluginName, ToolTitle: w.Summary.Title, Description: w.Summary.Description, ReadOnly: w.Summary.IsReadOnly,
			Page: ticketPageForPanel(w.Page, browserID),
		}
	}
	if d := v.Decision; d != nil {
		c.Decision = &wire.DecisionView{TicketID: d.TicketID, Allowed: d.Allow, By: plaintext.Clean(d.Surface, maxPanelClient)}
	}
	return c
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// PanelName is the name of the side panel in the audit log and on other surfaces.
const PanelName = "the side panel"

// SurfaceName returns the name that users and the audit log see for a surface of the
// extension, such as "the popup".
func SurfaceName(s wire.Surface) string {
	switch s {
	case wire.SurfacePopup:
		return "the popup"
	case wire.SurfaceNotification:
		return "a notification"
	}
	return PanelName
}

func ticketPageForPanel(page *dispatch.TicketPage, browserID string) *wire.TicketPageView {
	if page == nil {
		return nil
	}
	v := &wire.TicketPageView{BrowserName: page.BrowserName, TabTitle: page.TabTitle, Site: page.Site}
	if page.Browser == browserID {
		v.TabID = page.TabID
	}
	return v
}

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

func activityForPanel(a dispatch.ActivityView, maxBytes int) wire.ActivityView {
	v := wire.ActivityView{Type: a.Type, Audience: a.Audience, Bytes: len(a.Content)}
	if v.Bytes <= maxBytes {
		v.Content = string(a.Content)
	}
	return v
}

// activityBudget is how many calls with activities, and how many bytes of activities,
// opentabs can still add to one state.sync.
type activityBudget struct{ calls, bytes int }

func (a *activityBudget) activitiesOf(calls Calls, callID string) []wire.ActivityView {
	if a.calls == 0 {
		return nil
	}
	callView, ok := calls.Find(callID)
	if !ok || len(callView.Activities) == 0 {
		return nil
	}
	a.calls--
	var activityViews []wire.ActivityView
	for _, activity := range callView.Activities {
		v := activityForPanel(activity, min(wire.MaxShownActivityBytes, a.bytes))
		a.bytes -= len(v.Content)
		activityViews = append(activityViews, v)
	}
	return activityViews
}
