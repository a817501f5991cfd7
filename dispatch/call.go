package dispatch

import (
	"context"
	"encoding/json"
	"opentabs/dispatch/events"
	"time"

	"opentabs/dispatch/hops"
)

// Tool identifies a tool or a prompt, and its limits.
type Tool struct {
	Plugin string
	Name   string
	// PluginName is the plugin's display name; Matches are its URL patterns. PluginName
	// and Matches are used in errors only.
	PluginName string
	Matches    []string
	// About describes the tool for the user who approves or denies the call.
	About events.ToolAbout
	// Instances are the sites in the plugin's settings. Instances of different settings
	// may share a name. A plugin with fixed sites has no Instances.
	Instances []Instance
	// OpenURL is the URL of the page to open for a permitted call without a tab; empty
	// if the plugin has none.
	OpenURL string
	// Prompt is set if Name is the name of a prompt, not of a tool.
	Prompt bool
	// Place is where the tool runs. If Place is not PlaceDocument, the tool is a browser
	// tool: its name for agents is Name, and its target is chosen before the gates.
	Place Place
	// IsExclusive is set if the tool changes its tab. Exclusive calls of one tab run one
	// after the other.
	IsExclusive bool
	// IdleLimit and HardLimit replace the dispatcher's limits if they are positive, up
	// to Options.MaxIdleLimit and Options.HardLimit.
	IdleLimit time.Duration
	HardLimit time.Duration
}

// FullName is the name for agents: <plugin>__<tool>, or Name for a browser tool.
func (t Tool) FullName() string {
	if t.Place != PlaceDocument {
		return t.Name
	}
	return events.ToolName(t.Plugin, t.Name)
}

// Call requests one execution of a tool.
type Call struct {
	Tool Tool
	// Args is a JSON object, validated by the caller.
	Args json.RawMessage
	// Browser and TabID identify the target; zero values leave the choice to the
	// dispatcher. Instance is the name of one of Tool.Instances, or empty.
	Browser  string
	TabID    int
	Instance string
	Client   Client
	// Progress receives the notifications for an MCP client, one at a time, never after
	// Call has returned. Progress may block, which delays only this call. A nil
	// Progress means that the client wants no notifications.
	Progress func(Progress)
	// OnTicket receives each ticket of the call and of its nested calls, so that an MCP
	// client can ask its user. OnTicket runs on a separate goroutine; ctx ends when the
	// ticket is decided or withdrawn. OnTicket sends the decision with
	// [Dispatcher.Decide]. A nil OnTicket means that the client cannot ask its user.
	OnTicket func(ctx context.Context, w WaitingTicket)
	// Trace receives the times of the call's stations; nil for a call that is not traced.
	Trace *hops.Trace
	// ParentCallID and ParentNodeID are set for a nested call.
	ParentCallID string
	ParentNodeID string
	// Caller is the tool that made the call; nil for a call of a client.
	Caller *Caller
}

// Result is the result of a successful call.
type Result struct {
	CallID string
	// Output is the page's JSON text, unchanged; nil for undefined.
	Output json.RawMessage
	Target Target
	// RunTime is the time since the call began, without suspensions.
	RunTime time.Duration
	// ReportCount counts all reports of the page.
	ReportCount int
	// Audience is the audience of the result: "user", or internal for every other value.
	Audience string
}

// PreparedCall is a call with an ID that its owner runs later, shows and cancels.
// PreparedCall is safe for concurrent use.
type PreparedCall struct{ call *liveCall }

// Prepare returns a call that has not started. The call appears in Calls when it runs.
func (d *Dispatcher) Prepare(req Call) *PreparedCall { return &PreparedCall{newLiveCall(d, req)} }

// ID returns the ID of the call.
func (p *PreparedCall) ID() string { return p.call.id }

// Run runs the call to its end, as Dispatcher.Call does. Run must be called once.
func (p *PreparedCall) Run(ctx context.Context) (Result, error) { return p.call.d.call(ctx, p.call) }

// Cancel ends the call as cancelled and reports false if the call had ended.
func (p *PreparedCall) Cancel(c Cancellation) bool { return p.call.cancel(c) }

// View returns the current state of the call.
func (p *PreparedCall) View() View { return p.call.listView() }
