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
	mu        sync.Mutex // guards target
	runTarget Target
}

func (p *browserToolTarget) get() Target {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runTarget
}

func (p *browserToolTarget) choose(ctx context.Context, c *liveCall) bool {
	if !c.req.Tool.TargetKind.isChosenBeforeGates() {
		storeArgsStart(c)
		return true
	}
	if !c.targetSearchCtx.Begin(ctx) {
		return false
	}
	if p.get() == (Target{}) {
		// If a gate blocks the call regardless of its tab, the error must not disclose
		// which tabs exist.
		if v, _ := c.d.runGates(c); v.BlockError != nil {
			c.fail(v.BlockError)
			return false
		}
	}
	target, err := findBrowserToolTarget(c)
	if err != nil {
		c.fail(err)
		return false
	}
	p.mu.Lock()
	p.runTarget = target
	p.mu.Unlock()
	storeArgsStart(c) // which arguments are masked depends on the target
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
	targetChoice := TargetChoice{Plugin: t.Plugin, Browser: c.req.Browser, TabID: c.req.TabID, Client: c.req.Client, TargetKind: t.TargetKind, Tool: t.Name, Args: c.arguments()}
	if targetChoice.TabID == 0 && c.d.opts.CurrentTab != nil {
		browser, tabID := c.d.opts.CurrentTab(c.req)
		if targetChoice.Browser == "" {
			targetChoice.Browser = browser
		}
		if t.TargetKind != TargetBrowser && targetChoice.Browser == browser { // a tab of another browser may have the same ID
			targetChoice.TabID = tabID
		}
	}
	if targetChoice.TabID == 0 && t.TargetKind != TargetBrowser {
		return Target{}, &wire.CallError{
			Code: wire.ErrNoTab, Message: `the call names no tab, and this client has not opened or selected one; ` +
				`open a tab with browser_tabs {"action":"new","url":...}, select one with browser_tabs {"action":"select"}, or pass tabId`,
			UserText: "The call names no tab, and its client has not opened or selected one. In a terminal, choose a tab with --tab.",
		}
	}
	targets := c.d.bridge.Targets(&c.targetSearchCtx, targetChoice)
	tabs := matchingTargets(targets.LiveTargets, targetChoice)
	switch {
	case targets.BrowserCount == 0:
		return Target{}, newTargetProblem(targets, targetChoice, &c.req).err
	case len(tabs) == 0 && targetChoice.Browser != "" && len(targets.LiveTargets) == 0 && t.TargetKind == TargetBrowser:
		return Target{}, &wire.CallError{Code: wire.ErrNoBrowser, Message: fmt.Sprintf("no browser %q is connected", targetChoice.Browser)}
	case len(tabs) == 0:
		return Target{}, &wire.CallError{
			Code: wire.ErrNoTab, Message: fmt.Sprintf("there is no tab %d; list the tabs with browser_tabs", targetChoice.TabID),
			UserText: fmt.Sprintf("There is no tab %d. In a terminal, choose an open tab with --tab.", targetChoice.TabID),
		}
	case spansSeveralBrowsers(tabs):
		names := describeBrowsers(tabs)
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
	argsStart := "{}"
	if c.argBytes > len(argsStart) {
		argsStart = events.TruncateText(maskArgs(c), maxArgsStart)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.argsStart = argsStart
}

// shapeOutput passes the output of a browser tool to [Options.ShapeOutput].
func (d *Dispatcher) shapeOutput(c *liveCall, toolOutput json.RawMessage) (json.RawMessage, *wire.CallError) {
	if !c.req.Tool.TargetKind.isChosenBeforeGates() || d.opts.ShapeOutput == nil {
		return toolOutput, nil
	}
	return d.opts.ShapeOutput(c.gateInfo(nil), toolOutput)
}
