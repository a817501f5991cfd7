package dispatch

import (
	"context"
	"encoding/json"
	"slices"

	"opentabs/dispatch/hops"
	"opentabs/wire"
)

// Readiness is the last result of a plugin's isReady function in a document.
type Readiness int

const (
	// ReadinessUnknown means that the plugin's function isReady has not yet run in the document.
	ReadinessUnknown Readiness = iota
	// ReadinessNotReady means that no tool can run in the document, for example because it is a login page.
	ReadinessNotReady
	// ReadinessReady means that the plugin's tools can run in the document.
	ReadinessReady
)

// Target is one document, or for a browser tool one tab or browser, in which a call can run.
type Target struct {
	// Browser is the permanent ID of the browser. BrowserName is the name that the user gave
	// the browser.
	Browser     string
	BrowserName string
	TabID       int
	// FrameID is 0 for the tab's top document. Only child frames with the origin of the top
	// document can be targets.
	FrameID    int
	DocumentID string
	URL        string
	Title      string
	Readiness  Readiness
	// The field IsFrozen is true if the browser has suspended the page to save resources,
	// so that its scripts do not run.
	IsFrozen bool
	// Problem explains why the adapter did not start, for a target in [Targets.BrokenTabs].
	// For a target in [Targets.ErrorPages], Problem is Chrome's name of the network error. For
	// a target of a browser tool, Problem explains why the extension can't run scripts in the tab.
	Problem string
	// LoadFailedAtMs is when the page failed to load, in milliseconds since 1970, according to the
	// clock of the browser. Only targets in [Targets.ErrorPages] have a LoadFailedAtMs.
	LoadFailedAtMs float64
	// Secrets describes which kinds of secret fields the page contains, such as password
	// fields. The field Secrets is nil if [TargetChoice.Inspect] is nil or the page did
	// not answer.
	Secrets *wire.SecretFields
}

// Instance is one of several sites in a plugin's settings, such as the home server of a wiki.
type Instance struct {
	Name string
	// URL is an http or https URL, of which only the host and port are compared.
	URL string
}

// TargetChoice describes which targets a call accepts. A field of TargetChoice that has its
// zero value excludes no target.
type TargetChoice struct {
	Plugin string
	// Browser is the ID or the name of a browser; see [wire.MatchesBrowser].
	Browser string
	TabID   int
	// Client is the client that makes the call; it does not affect which targets match.
	Client Client
	// The field Sites contains URLs. The tab must have the host and port of one of the
	// URLs in Sites.
	Sites []string
	// The field URLToOpen is the URL to open in a new tab if no tab matches, or empty if the
	// call must not open a tab.
	URLToOpen string
	// TargetKind is where the tool runs. For a tool of any kind except TargetDocument,
	// [Bridge.Targets] returns the current state of the tab TabID, or of all browsers if TabID
	// is 0.
	TargetKind TargetKind
	// Tool and Args are the name and the arguments of a browser tool. If the tool belongs
	// to a plugin, Tool and Args are empty.
	Tool string
	Args json.RawMessage
	// IsPreview is true if the search for targets must not affect pages. If IsPreview is true,
	// [Bridge.Targets] opens no tab and reloads only error pages of Chrome.
	IsPreview bool
	// IsReloadApproved is true if the user has allowed the reload of a tab that may
	// contain unsaved input.
	IsReloadApproved bool
	// If not nil, Inspect asks which kinds of secret fields the tab TabID shows.
	Inspect *wire.TabInspection
}

// Allows reports whether the TargetChoice allows a call to run in the target t.
func (w TargetChoice) Allows(t Target) bool {
	return (w.TabID == 0 || t.TabID == w.TabID) && w.AllowsBrowser(t.Browser, t.BrowserName) &&
		(len(w.Sites) == 0 || slices.ContainsFunc(w.Sites, func(site string) bool { return haveSameHost(site, t.URL) }))
}

// AllowsBrowser reports whether TargetChoice.Browser selects the browser with the given ID and
// name. An empty TargetChoice.Browser selects every browser.
func (w TargetChoice) AllowsBrowser(id, name string) bool {
	return w.Browser == "" || wire.MatchesBrowser(w.Browser, id, name)
}

// Targets are the documents and tabs in which a plugin runs or could run, grouped by their state.
type Targets struct {
	// BrowserCount is the number of connected browsers.
	BrowserCount int
	// LiveTargets are the documents in which the adapter runs, best first. Documents that
	// may be ready precede documents that are not ready. Tabs of equal readiness are
	// sorted: the active tab of the focused window, other active tabs, other tabs of the
	// focused window, all other tabs. Of tabs in the same state, the most recently used
	// tab is first, and within a tab the top document is first. LiveTargets lists all
	// documents of one browser before the documents of the next browser.
	LiveTargets []Target
	// UnresponsiveTargets are documents whose page does not answer because a script blocks it, although the adapter
	// runs. opentabs never starts a call in one of the UnresponsiveTargets.
	UnresponsiveTargets []Target
	// TabsToReload are tabs that match the plugin, but were opened before the plugin was loaded.
	TabsToReload []Target
	// BrokenTabs are tabs that match the plugin, but in which the adapter failed to start.
	BrokenTabs []Target
	// LoadingTabs are tabs that match the plugin and are still loading, so that the adapter
	// has not started yet.
	LoadingTabs []Target
	// ErrorPages are tabs that match the plugin, but show an error page of Chrome because
	// their page could not be loaded.
	ErrorPages []Target
	// TabsWithoutPluginCode are tabs that match the plugin, and to which the browser is still
	// sending the adapter's code.
	TabsWithoutPluginCode []Target
	// IsPluginListSyncing is true until each browser that could run the call confirms the daemon's
	// current list of plugins.
	IsPluginListSyncing bool
	// BrowsersToOpen are the browsers in which a tab could be opened for the call. Of each
	// Target in BrowsersToOpen, only the fields Browser and BrowserName are set.
	// BrowsersToOpen is empty if the call must not open a tab.
	BrowsersToOpen []Target
	// OpenedTab is the tab that opentabs opened for the call. OpenedTab is set only if the
	// plugin did not start in the opened tab in time. OpenedTab is nil if no tab was opened or
	// if the plugin started.
	OpenedTab *Target
}

// PluginState summarizes whether the tools of a plugin can run in any open tab.
type PluginState string

const (
	// StateClosed means that no tab shows the plugin's site.
	StateClosed PluginState = "closed"
	// StateUnavailable means that tabs show the plugin's site, but none is ready.
	StateUnavailable PluginState = "unavailable"
	StateReady       PluginState = "ready"
	// StateFailed means that the adapter did not start in any tab of the site.
	StateFailed PluginState = "failed"
)

// State returns whether the plugin's tools can run in any of the targets.
func (t Targets) State() PluginState {
	switch {
	case slices.ContainsFunc(t.LiveTargets, func(t Target) bool { return t.Readiness == ReadinessReady }):
		return StateReady
	case len(t.LiveTargets)+len(t.UnresponsiveTargets)+len(t.TabsToReload)+len(t.LoadingTabs)+len(t.TabsWithoutPluginCode)+len(t.ErrorPages) > 0:
		return StateUnavailable
	case len(t.BrokenTabs) > 0:
		return StateFailed
	default:
		return StateClosed
	}
}

// Run is one attempt to run a call in a target.
type Run struct {
	// ID is the dispatchId in the wire protocol: the call ID, with a suffix such as ".2" for
	// later attempts.
	ID     string
	Plugin string
	Tool   string
	// The field Prompt is true if Tool is the name of a prompt.
	Prompt bool
	// TargetKind is where the tool runs, such as in a document or in a tab.
	TargetKind TargetKind
	// Client is the MCP client that calls a browser tool. For tools of plugins, Client is empty.
	Client Client
	// Decision is the user's decision for the tool, as JSON, or nil if the user made no decision.
	Decision json.RawMessage
	// Args is a JSON object of the tool's arguments.
	Args json.RawMessage
	// MaxResultBytes is the maximum size of the result that the server accepts from the page,
	// in bytes of UTF-8.
	MaxResultBytes int
	Target         Target
	// If the run is traced, Trace records when the run passes each stage; otherwise Trace is nil.
	Trace *hops.Trace
}

// Sink receives the progress, the requests and the result of one run. The methods of Sink
// never block, may be called from any goroutine, and do nothing after the end of the run.
type Sink interface {
	// Reports receives the run's progress reports in order. The argument skippedCount is the
	// number of progress reports that the page dropped just before the first element of reports.
	Reports(reports []wire.Report, skippedCount int)
	// Ask receives each request of a running tool once, such as a nested call. The dispatcher
	// answers each request through Bridge.Answer, unless the tool withdraws the request or the
	// run ends.
	Ask(wire.ToolAskParams)
	// LinkLost reports that the browser of the run was disconnected and may reconnect. While the
	// browser is disconnected, the idle limit is suspended, because the page can't report progress.
	// LinkLost and LinkRestored return at once and do not call the [Bridge], which may hold a lock.
	LinkLost()
	LinkRestored()
	// ReceivePart reports that a part of a large result has arrived. Each part restarts the idle limit, because
	// the tool has finished. ReceivePart returns at once and does not call the [Bridge].
	ReceivePart()
	// Finish ends the run with its result as JSON text (nil for undefined), or with err.
	Finish(toolOutput json.RawMessage, err *wire.CallError)
}

// LateAnswer is a page's answer to a run that had already ended when the answer arrived,
// for example because the link was lost.
type LateAnswer struct {
	// Output is the result of the tool as JSON text, and is valid only if Err is nil. The
	// field Output is nil if the tool returned undefined.
	Output json.RawMessage
	Err    *wire.CallError
	// IsOutputLost is true if the tool returned a result of which a part did not arrive.
	IsOutputLost bool
}

// Bridge runs tools in browsers. The methods of a Bridge are safe for concurrent use.
type Bridge interface {
	// Targets returns where a plugin can run now, including targets that choice excludes. If
	// no target matches choice, Targets waits several seconds for a browser to reconnect or a
	// document to load. Targets waits longer for a tab that it opens than for a tab that was
	// already open. Targets stops waiting when ctx ends. If several browsers could open a tab,
	// Targets opens none.
	Targets(ctx context.Context, targetChoice TargetChoice) Targets
	// Start asks the browser of the run's target to run the tool. The last call to sink is Finish,
	// exactly once: with the result, an error of the page or the browser, or tab_closed, navigated,
	// browser_lost or link_lost. Start returns browser_lost if the browser is not connected, and
	// navigated if the tab has navigated away from the document. Start returns invalid_arguments if
	// the arguments are too large for a frame, and internal if the ID is in use. If Start returns
	// an error, no method of sink is called.
	Start(ctx context.Context, toolRun Run, sink Sink) *wire.CallError
	// Cancel asks the page to stop the tool of a run. After Cancel, the sink of the run receives
	// nothing, not even Finish. Cancel calls onOutcome once: with "finished" if no such run exists,
	// or with "ignored" if the page does not answer within wire.CancelTimeoutMs. If the browser is
	// disconnected, the request is sent after the browser reconnects.
	Cancel(id, cancelReason string, onOutcome func(wire.CancelOutcome))
	// Answer sends a running tool the answer to its request: JSON text (nil for undefined), or
	// err. Answer does not wait for the network, and ignores an unknown run.
	Answer(id string, askID int, toolOutput json.RawMessage, err *wire.CallError)
	// RequestActivityResync asks the page of a run for the complete content of an activity. If
	// activityType is empty, RequestActivityResync requests all activities of the run.
	RequestActivityResync(id, activityType string)
}
