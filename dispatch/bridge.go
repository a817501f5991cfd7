package dispatch

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"opentabs/dispatch/hops"
	"opentabs/wire"
)

// Readiness is the last result of an adapter's isReady in a document.
type Readiness int

const (
	// ReadyUnknown means that isReady has not run yet.
	ReadyUnknown Readiness = iota
	// NotReady means that no tool can run in the document, for example in a login page.
	NotReady
	// Ready means that tools can run.
	Ready
)

// Target is one document in which an adapter runs.
type Target struct {
	// Browser is the stable ID of the browser. BrowserName is the name that the user
	// gave the browser.
	Browser     string
	BrowserName string
	TabID       int
	// FrameID is 0 for the tab's top document. A frame has the origin of its top
	// document.
	FrameID    int
	DocumentID string
	URL        string
	Title      string
	Readiness  Readiness
	// Frozen is set if the browser has suspended the page, so that no code runs in it.
	Frozen bool
	// Problem is why the adapter did not start, for a target in [Targets.BrokenTabs]. For
	// a target in [Targets.ErrorPages], Problem is Chrome's name of the network error. For
	// a target of a browser tool, Problem is why no script of the extension can run there.
	Problem string
	// LoadFailedMs is the time of the failed load by the browser's clock; set only in
	// [Targets.ErrorPages].
	LoadFailedMs float64
	// Secrets are the secret fields of the page. Secrets is nil if [TargetChoice.Inspect]
	// is nil or the page did not answer.
	Secrets *wire.SecretFields
}

// Instance is one of several sites in a plugin's settings, such as the work and the
// home server of a wiki.
type Instance struct {
	Name string
	// URL is an http or https URL; only its host and port count.
	URL string
}

// TargetChoice is a call's choice of a target. A zero field allows any target.
type TargetChoice struct {
	Plugin string
	// Browser is a browser's ID or name.
	Browser string
	TabID   int
	// Client is the client of the call. A target does not have to match Client.
	Client Client
	// The tab must have the host and port of a URL in Sites.
	Sites []string
	// Open is the URL to open if there is no tab; empty if no tab may be opened.
	Open string
	// Place is the place of the tool. Unless Place is PlaceDocument, the bridge returns
	// the current state of the tab TabID, or of all browsers if TabID is 0.
	Place Place
	// Tool and Args are the called browser tool and its arguments; empty for other tools.
	Tool string
	Args json.RawMessage
	// IsPreview is true if the search for targets must not affect pages. The bridge then
	// opens no tab and reloads only Chrome's error pages.
	IsPreview bool
	// IsReloadApproved is true if the user has allowed the reload of a tab that may
	// contain unsaved input.
	IsReloadApproved bool
	// Inspect selects the secret fields to inspect in the page of TabID; nil for none.
	Inspect *wire.TabInspection
}

// Allows reports whether the call may run in t.
func (w TargetChoice) Allows(t Target) bool {
	return (w.TabID == 0 || t.TabID == w.TabID) && w.AllowsBrowser(t.Browser, t.BrowserName) &&
		(len(w.Sites) == 0 || slices.ContainsFunc(w.Sites, func(site string) bool { return sameHost(site, t.URL) }))
}

// AllowsBrowser reports whether the call may run in the browser with this ID and name.
func (w TargetChoice) AllowsBrowser(id, name string) bool {
	return w.Browser == "" || w.Browser == id || strings.EqualFold(w.Browser, name)
}

// Targets are the documents and tabs of one plugin, by state.
type Targets struct {
	// BrowserCount counts the connected browsers.
	BrowserCount int
	// LiveTargets are the documents where the adapter runs, the best first: documents
	// that may be ready precede documents that are not ready. Tabs of equal readiness
	// are in this order: the active tab of the focused window, other active tabs, other
	// tabs of that window, all others. Among equal tabs the tab used last comes first,
	// and within a tab the top document. The documents of one browser are consecutive.
	LiveTargets []Target
	// SilentTargets are documents whose adapter runs and whose page does not answer,
	// because a script occupies it. No call starts in SilentTargets.
	SilentTargets []Target
	// TabsToReload are matching tabs that were opened before the plugin was loaded.
	TabsToReload []Target
	// BrokenTabs are tabs in which the adapter failed to start.
	BrokenTabs []Target
	// LoadingTabs are tabs in which the adapter may start soon.
	LoadingTabs []Target
	// ErrorPages are tabs that show Chrome's error page, because the page could not be
	// loaded.
	ErrorPages []Target
	// TabsAwaitingCode are tabs to which the adapter's code is being sent.
	TabsAwaitingCode []Target
	// IsSyncing is set while a browser in which the call may run has not accepted the list
	// of plugins.
	IsSyncing bool
	// BrowsersToOpen are the browsers in which a tab could be opened for the call: only
	// Browser and BrowserName are set. BrowsersToOpen is empty unless the call may open
	// a tab.
	BrowsersToOpen []Target
	// OpenedTab is the tab that was opened for the call, if the plugin did not start there
	// in time; else nil.
	OpenedTab *Target
}

// PluginState is whether the tools of a plugin can run.
type PluginState string

const (
	// StateClosed means that no tab shows the plugin's site.
	StateClosed PluginState = "closed"
	// StateUnavailable means that there is a tab, but none is ready.
	StateUnavailable PluginState = "unavailable"
	StateReady       PluginState = "ready"
	// StateFailed means that the adapter did not start in any tab of the site.
	StateFailed PluginState = "failed"
)

// State returns the state of the plugin.
func (t Targets) State() PluginState {
	switch {
	case slices.ContainsFunc(t.LiveTargets, func(t Target) bool { return t.Readiness == Ready }):
		return StateReady
	case len(t.LiveTargets)+len(t.SilentTargets)+len(t.TabsToReload)+len(t.LoadingTabs)+len(t.TabsAwaitingCode)+len(t.ErrorPages) > 0:
		return StateUnavailable
	case len(t.BrokenTabs) > 0:
		return StateFailed
	default:
		return StateClosed
	}
}

// Run is one attempt to run a call in a document.
type Run struct {
	// ID is the dispatchId on the wire: the call's ID, with the suffix ".2", ".3" ... for
	// later attempts.
	ID     string
	Plugin string
	Tool   string
	// Prompt is set if Tool is the name of a prompt.
	Prompt bool
	// Place is the place of the tool.
	Place Place
	// Client is the client of a browser tool's call. For other tools, Client is empty.
	Client Client
	// Decision is the user's decision for the tool; nil if there is none.
	Decision json.RawMessage
	// Args is a JSON object.
	Args json.RawMessage
	// MaxResultBytes is the largest result that the page may send.
	MaxResultBytes int
	Target         Target
	// Trace receives the times of the run's stations; nil for a run that is not traced.
	Trace *hops.Trace
}

// Sink receives what happens to one run. The methods of Sink never block, may be called
// from any goroutine, and do nothing after the end of the run.
type Sink interface {
	// Reports receives reports in order; skippedCount counts earlier reports that the
	// page made but did not send.
	Reports(reports []wire.Report, skippedCount int)
	// Ask receives each request of the tool once. Bridge.Answer answers the request,
	// unless the tool withdraws the request or the run ends.
	Ask(wire.ToolAskParams)
	// LinkLost reports that the link to the browser is lost and may return. The idle
	// limit is suspended until LinkRestored, because the page can't report. LinkLost and
	// LinkRestored return at once and do not call the bridge, which may hold a lock.
	LinkLost()
	LinkRestored()
	// Finish ends the run with the JSON text of the result (nil for undefined), or with
	// err.
	Finish(output json.RawMessage, err *wire.CallError)
}

// LateAnswer is the answer of a page to a run that has ended without it, such as after a
// lost link.
type LateAnswer struct {
	// Output is the result if Err is nil; nil for undefined.
	Output json.RawMessage
	Err    *wire.CallError
	// IsOutputLost is true if the tool has returned a result that did not arrive whole.
	IsOutputLost bool
}

// Bridge is a set of browsers that can run tools. The methods of Bridge are safe for
// concurrent use.
type Bridge interface {
	// Targets returns where a plugin can run now, including targets that choice
	// excludes. If no target matches choice, Targets may wait seconds for a lost
	// browser or a loading document, and longer for a tab that Targets opens. The end
	// of ctx ends the wait. Targets opens no tab if two browsers could open it.
	Targets(ctx context.Context, choice TargetChoice) Targets
	// Start sends run to its target's browser. The sink receives what happens to the
	// run. Finish is called last and once: with the result, an error of page or
	// browser, or tab_closed, navigated, browser_lost or link_lost. Start returns
	// browser_lost if the browser is not connected, and navigated if the document is
	// gone. Start returns invalid_arguments if the arguments are too large for a frame,
	// and internal if the ID is in use. If Start fails, the sink receives nothing.
	Start(ctx context.Context, run Run, sink Sink) *wire.CallError
	// Cancel requests that the page stop the run, and drops the sink of the run without
	// a Finish. Cancel calls onOutcome once: with "finished" for an unknown run, with
	// "ignored" if the page does not answer within wire.CancelTimeoutMs. If the link is
	// lost, the stop is sent when the link returns.
	Cancel(id, reason string, onOutcome func(wire.CancelOutcome))
	// Answer sends the tool of a run the answer to a request: JSON text (nil for
	// undefined), or err. Answer does not wait for the network, and ignores an unknown
	// run.
	Answer(id string, askID int, output json.RawMessage, err *wire.CallError)
	// Resync requests the whole content of an activity from the page of a run; an empty
	// type means all activities.
	Resync(id, activityType string)
}
