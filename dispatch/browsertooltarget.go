package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"opentabs/dispatch/events"
	"opentabs/wire"
)

// TargetKind is where a tool runs: in a plugin's document, a page, a tab or a browser.
type TargetKind int

const (
	// TargetDocument is a document in which the tool's plugin runs. All tools of plugins have the
	// kind TargetDocument. opentabs chooses the document after the gates have allowed the call.
	TargetDocument TargetKind = iota
	// TargetPage is the page of any tab in which the extension can run scripts.
	TargetPage
	// TargetTab is any tab, even a tab in which the extension can't run scripts.
	TargetTab
	// TargetBrowser is a browser as a whole, without a particular tab.
	TargetBrowser
)

func (p TargetKind) isChosenBeforeGates() bool { return p != TargetDocument }

// browserToolTarget stores the target that was chosen for a call of a browser tool.
type browserToolTarget struct {
	mu     sync.Mutex // the mutex guards the field target
	target Target
}

func (p *browserToolTarget) get() Target {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target
}

func (p *browserToolTarget) choose(ctx context.Context, c *liveCall) bool {
	if !c.req.Tool.TargetKind.isChosenBeforeGates() {
		storeArgsStart(c)
		return true
	}
	if !c.search.Begin(ctx) {
		return false
	}
	if p.get() == (Target{}) {
		// If a gate blocks the call regardless of its tab, the error must not disclose
		// which tabs exist.
		if v, _ := c.d.runGates(c); v.Block != nil {
			c.fail(v.Block)
			return false
		}
	}
	target, err := findBrowserToolTarget(c)
	if err != nil {
		c.fail(err)
		return false
	}
	p.mu.Lock()
	p.target = target
	p.mu.Unlock()
	storeArgsStart(c) // the target determines which arguments are masked
	return true
}

// checkPage fails a call of a browser tool if the extension can't run scripts in the
// tab's page. checkPage returns false if it failed the call. The gates run before
// checkPage, so that a blocked call does not disclose the state of the tab.
func (p *browserToolTarget) checkPage(c *liveCall) bool {
	target := p.get()
	if c.req.Tool.TargetKind != TargetPage || target.Problem == "" {
		return true
	}
	c.fail(&wire.CallError{Code: wire.ErrNoTab, Message: fmt.Sprintf("no browser tool can work in tab %d: %s", target.TabID, target.Problem)})
	return false
}

func findBrowserToolTarget(c *liveCall) (Target, *wire.CallError) {
	t := c.req.Tool
	choice := TargetChoice{Plugin: t.Plugin, Browser: c.req.Browser, TabID: c.req.TabID, Client: c.req.Client, TargetKind: t.TargetKind, Tool: t.Name, Args: c.arguments()}
	if choice.TabID == 0 && c.d.opts.CurrentTab != nil {
		browser, tabID := c.d.opts.CurrentTab(c.req)
		if choice.Browser == "" {
			choice.Browser = browser
		}
		if t.TargetKind != TargetBrowser && choice.Browser == browser { // a tab of another browser may have the same ID
			choice.TabID = tabID
		}
	}
	if choice.TabID == 0 && t.TargetKind != TargetBrowser {
		return Target{}, &wire.CallError{
			Code: wire.ErrNoTab, Message: `the call names no tab, and this client has not opened or selected one; ` +
				`open a tab with browser_tabs {"action":"new","url":...}, select one with browser_tabs {"action":"select"}, or pass tabId`,
			UserText: "The call names no tab, and its client has not opened or selected one. In a terminal, choose a tab with --tab.",
		}
	}
	targets := c.d.bridge.Targets(&c.search, choice)
	tabs := matchingTargets(targets.LiveTargets, choice)
	switch {
	case targets.BrowserCount == 0:
		return Target{}, newTargetProblem(targets, choice, &c.req).err
	case len(tabs) == 0 && choice.Browser != "" && len(targets.LiveTargets) == 0 && t.TargetKind == TargetBrowser:
		return Target{}, &wire.CallError{Code: wire.ErrNoBrowser, Message: fmt.Sprintf("no browser %q is connected", choice.Browser)}
	case len(tabs) == 0:
		return Target{}, &wire.CallError{
			Code: wire.ErrNoTab, Message: fmt.Sprintf("there is no tab %d; list the tabs with browser_tabs", choice.TabID),
			UserText: fmt.Sprintf("There is no tab %d. In a terminal, choose an open tab with --tab.", choice.TabID),
		}
	case inSeveralBrowsers(tabs):
		names := nameBrowsers(tabs)
		return Target{}, &wire.CallError{
			Code: wire.ErrAmbiguousTarget, Message: fmt.Sprintf("several browsers are connected: %s; name one as \"browser\"", names),
			UserText: fmt.Sprintf("Several browsers are connected: %s. In a terminal, choose one with --browser.", names),
		}
	}
	return tabs[0], nil
}

func maskArgs(c *liveCall) json.RawMessage {
	args := c.arguments()
	if args == nil || !c.req.Tool.TargetKind.isChosenBeforeGates() || c.d.opts.MaskArgs == nil {
		return args
	}
	return c.d.opts.MaskArgs(c.gateInfo(nil))
}

// maxArgsStart is how many bytes of a call's arguments are shown in lists of calls.
const maxArgsStart = 300

func storeArgsStart(c *liveCall) {
	text := "{}"
	if c.argBytes > len(text) {
		text = events.TruncateText(maskArgs(c), maxArgsStart)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.argsStart = text
}

// shapeOutput passes the output of a browser tool to [Options.ShapeOutput].
func (d *Dispatcher) shapeOutput(c *liveCall, output json.RawMessage) (json.RawMessage, *wire.CallError) {
	if !c.req.Tool.TargetKind.isChosenBeforeGates() || d.opts.ShapeOutput == nil {
		return output, nil
	}
	return d.opts.ShapeOutput(c.gateInfo(nil), output)
}
