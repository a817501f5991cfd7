package dispatch

import (
	"context"
	"encoding/json"
	"opentabs/dispatch/events"
	"time"

	"opentabs/dispatch/hops"
	"opentabs/wire"
)

// Tool identifies a tool or a prompt, with its time limits and the texts that users see.
type Tool struct {
	Plugin string
	Name   string
	// PluginName is the plugin's display name, and Matches are the URL patterns of its sites.
	// opentabs uses PluginName and Matches only in error messages.
	PluginName string
	Matches    []string
	// Summary describes the tool for the user who approves or denies the call.
	Summary events.ToolSummary
	// The field Instances contains the sites that the user configured in the plugin's settings,
	// such as a work and a home server. Two instances can have the same name if they come from
	// different settings. The field Instances is empty if the plugin's sites are fixed.
	Instances []Instance
	// OpenURL is the page to open for a call that finds no tab, if the user permits opening
	// tabs. OpenURL is empty if the plugin's author declared no page to open.
	OpenURL string
	// The field Prompt is true if Name is the name of a prompt, not of a tool.
	Prompt bool
	// TargetKind is where the tool runs: in a plugin's document, a page, a tab or a browser. A
	// browser tool never has the kind TargetDocument, and the dispatcher chooses its target before
	// the gates decide.
	TargetKind TargetKind
	// IsExclusive is true if the tool changes the tab in which it runs. Exclusive calls in one tab
	// run one after another.
	IsExclusive bool
	// IdleLimit and HardLimit, if positive, replace the limits of the dispatcher, up to Options.MaxIdleLimit and
	// Options.HardLimit.
	IdleLimit time.Duration
	HardLimit time.Duration
	// Output checks the output of each call of the tool. The field Output is nil if every output
	// is valid.
	Output OutputChecker `json:"-"`
}

// OutputChecker returns an error if a tool's output is invalid. A call whose output is invalid
// fails with the error that CheckOutput returns. CheckOutput must be safe for concurrent use.
type OutputChecker interface {
	CheckOutput(toolOutput json.RawMessage) *wire.CallError
}

// FullName returns the tool name that agents use: <plugin>__<tool>, or only the name for a
// browser tool.
func (t Tool) FullName() string {
	if t.TargetKind != TargetDocument {
		return t.Name
	}
	return events.ToolName(t.Plugin, t.Name)
}

// Call is a request to run a tool once.
type Call struct {
	Tool Tool
	// Args must be a JSON object that is valid for the tool's input schema.
	Args json.RawMessage
	// Browser and TabID select the tab; zero values leave the choice to the dispatcher. Instance
	// selects one of the plugin's configured sites by its name in Tool.Instances; empty for any site.
	Browser  string
	TabID    int
	Instance string
	Client   Client
	// The field Progress is called for each progress notification to an MCP client, one at a
	// time, and never after Dispatcher.Call has returned. A Progress function that blocks
	// delays only its own call. The field Progress is nil if the client wants no
	// notifications.
	Progress func(Progress)
	// OnTicket is called when the call or one of its nested calls waits for the user, so that
	// an MCP client can ask the user. OnTicket runs on a separate goroutine and passes the
	// decision to [Dispatcher.Decide]; ctx ends when the ticket is decided or withdrawn.
	// OnTicket is nil if the client can't ask its user.
	OnTicket func(ctx context.Context, w WaitingTicket)
	// Trace records when the call passes each stage, such as the queue. The field Trace is
	// nil for a call that is not traced.
	Trace *hops.Trace
	// ParentCallID and ParentNodeID identify the call whose tool made a nested call.
	ParentCallID string
	ParentNodeID string
	// Caller is the tool that made the call, or nil for a call of a client.
	Caller *Caller
}

// Result is the result of a successful call.
type Result struct {
	CallID string
	// Output is the tool's result as JSON text, unchanged from the page, or nil for undefined.
	Output json.RawMessage
	Target Target
	// RunTime is how long the call ran, without the time in which it waited for the user.
	RunTime time.Duration
	// ReportCount is the number of progress reports that the page made.
	ReportCount int
	// Audience is "user" if the result is meant for the user; any other value means internal.
	Audience string
}

// PreparedCall is a call that already has an ID and that its owner starts later. A
// PreparedCall is safe for concurrent use.
type PreparedCall struct{ call *liveCall }

// Prepare returns a call that has not started. Until Run is called, Dispatcher.Calls does not list
// the call.
func (d *Dispatcher) Prepare(req Call) *PreparedCall { return &PreparedCall{newLiveCall(d, req)} }

// ID returns the call ID, which is known before the call starts.
func (p *PreparedCall) ID() string { return p.call.id }

// Run runs the call like Dispatcher.Call, and must be called only once.
func (p *PreparedCall) Run(ctx context.Context) (Result, error) { return p.call.d.call(ctx, p.call) }

// Cancel cancels the call, or returns false if the call had already ended.
func (p *PreparedCall) Cancel(c Cancellation) bool { return p.call.cancel(c) }

// View returns the current state of the call.
func (p *PreparedCall) View() View { return p.call.listView() }
