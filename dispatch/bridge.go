package dispatch

import (
	"context"
	"encoding/json"
	"slices"

	"opentabs/wire"
)

// Readiness is what an adapter last said of itself in a document (isReady).
type Readiness int

const (
	// ReadyUnknown means that it has not been asked yet.
	ReadyUnknown Readiness = iota
	// NotReady means that no tool can run there, such as in a page that shows a
	// login form.
	NotReady
	// Ready means that tools can run.
	Ready
)

// Target is one document in which a plugin's adapter is live.
type Target struct {
	// Browser is the browser's stable id, BrowserName what the person calls it.
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
	// Frozen says that the browser has suspended the page: nothing runs in it.
	Frozen bool
	// Problem says why the adapter did not start, in [Targets.Broken]; in
	// [Targets.Failed] it is Chrome's name of the network error.
	Problem string
	// FailedMs is when the load failed, by the browser's clock; only in
	// [Targets.Failed].
	FailedMs float64
}

// Instance is one of several sites that a plugin knows by a setting, such as the
// work and the home server of a wiki.
type Instance struct {
	Name string
	// URL is a http or https URL; the host and port of it count.
	URL string
}

// Want says where a call wants to run. Zero values leave the choice open.
type Want struct {
	Plugin string
	// Browser is a browser's id or name.
	Browser string
	TabID   int
	// Sites are URLs; the tab must have the host and port of one.
	Sites []string
	// Open is the URL of the tab that may be opened if there is none; empty if
	// none may.
	Open string
}

// Allows reports whether the call may run in t.
func (w Want) Allows(t Target) bool {
	return (w.TabID == 0 || t.TabID == w.TabID) && w.AllowsBrowser(t.Browser, t.BrowserName) &&
		(len(w.Sites) == 0 || slices.ContainsFunc(w.Sites, func(site string) bool { return sameHost(site, t.URL) }))
}

// AllowsBrowser reports whether the call may run in the browser with this id and
// name.
func (w Want) AllowsBrowser(id, name string) bool {
	return w.Browser == "" || w.Browser == id || w.Browser == name
}

// Targets is what a bridge knows of the places where a plugin could run.
type Targets struct {
	// Browsers counts the connected browsers.
	Browsers int
	// Live are the documents where the adapter is live, the best first: those that
	// may be ready before those that are not; within each active tab of the focused
	// window, active tab, tab of the focused window, rest; then the tab used
	// last; within a tab the top document first. Those of one browser stand
	// together.
	Live []Target
	// Silent are documents where the adapter is live and whose page does not answer,
	// because a script occupies it. No call begins there.
	Silent []Target
	// NeedReload are tabs that match the plugin but were opened before it.
	NeedReload []Target
	// Broken are tabs in which the adapter failed to start.
	Broken []Target
	// Loading are tabs in which the adapter may be live in a moment.
	Loading []Target
	// Failed are tabs that show Chrome's error page, because the page could not be
	// loaded.
	Failed []Target
	// Arriving are tabs that the adapter's code is on its way to.
	Arriving []Target
	// Syncing says that a browser in which the call may run has not yet taken the
	// list of plugins.
	Syncing bool
	// Openers are the browsers in which a tab could be opened for the call: only
	// Browser and BrowserName are set. Empty unless the call may open one.
	Openers []Target
	// Opened is the tab that was opened for the call and in which the plugin did
	// not come up in time; nil if there is none.
	Opened *Target
}

// PluginState says whether the tools of a plugin can run.
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
	case slices.ContainsFunc(t.Live, func(t Target) bool { return t.Readiness == Ready }):
		return StateReady
	case len(t.Live)+len(t.Silent)+len(t.NeedReload)+len(t.Loading)+len(t.Arriving)+len(t.Failed) > 0:
		return StateUnavailable
	case len(t.Broken) > 0:
		return StateFailed
	default:
		return StateClosed
	}
}

// Run is one attempt to run a call in a document.
type Run struct {
	// ID is the dispatchId on the wire: the call's id, with ".2", ".3" ... behind
	// it if another document was tried before.
	ID     string
	Plugin string
	Tool   string
	// Prompt says that Tool names a prompt.
	Prompt bool
	// Decision is what a person decided, for the tool; nil if there is none.
	Decision json.RawMessage
	// Args is a JSON object.
	Args json.RawMessage
	// MaxResultBytes is the largest result the page may send.
	MaxResultBytes int
	Target         Target
}

// Sink takes what a bridge learns of one run. Its methods never block, may be
// called from any goroutine, and are no-ops once the run has ended.
type Sink interface {
	// Reports takes reports in the order they were made; skipped counts those
	// the page made before them and did not send.
	Reports(reports []wire.Report, skipped int)
	// Ask takes what the tool asks for, each ask once. It is answered by
	// Bridge.Answer, unless it is withdrawn or the run ends before.
	Ask(wire.ToolAskParams)
	// LinkLost tells that the link to the run's browser is lost and may come
	// back: until LinkBack the page's silence is not its own, so the idle limit
	// does not run. Both return at once and do not call the bridge, which may
	// hold a lock.
	LinkLost()
	LinkBack()
	// Finish ends the run: with the result's JSON text (nil for undefined), or
	// with err.
	Finish(output json.RawMessage, err *wire.CallError)
}

// Bridge is a set of browsers that can run a tool. An implementation may not
// assume that they are on this host. Its methods are safe for concurrent use.
type Bridge interface {
	// Targets returns where a plugin can run now, also where the call does not
	// want to. If it can run nowhere that the call wants, Targets may wait a few
	// seconds for a browser that is expected to come back or a document that is
	// loading, and longer for a tab that it opens, but not longer than ctx. It
	// opens none if it would have to choose between two browsers.
	Targets(ctx context.Context, want Want) Targets
	// Start hands run to its target's browser. Everything that happens to the
	// run afterwards goes to sink, ending with exactly one Finish: with the
	// result, with the error the page or browser told, or with tab_closed,
	// navigated, browser_lost or link_lost. Start returns browser_lost if the
	// browser is not connected, navigated if the document is gone,
	// invalid_arguments if they do not fit into a frame, internal if the id is
	// taken; then sink is not called.
	Start(ctx context.Context, run Run, sink Sink) *wire.CallError
	// Cancel tells the page to stop the run, forgets its sink (no Finish will
	// come) and calls answered exactly once with the outcome: at the latest
	// wire.CancelAnswerMs later, with "ignored". If the run is not known,
	// answered is called with "finished", at once. While the link is lost the page is
	// told on its return.
	Cancel(id, reason string, answered func(wire.CancelOutcome))
	// Answer hands the tool of a run the answer to an ask: JSON text (nil for
	// undefined), or err. It does not wait for the network. A run that is not known
	// (any more) gets none.
	Answer(id string, ask int, output json.RawMessage, err *wire.CallError)
	// Resync asks the page of a run for an activity anew.
	Resync(id, activityType string)
}
