package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"opentabs/dispatch"
	"opentabs/internal/clients"
	"opentabs/internal/rawjson"
	"opentabs/mcpserver/content"
	"opentabs/mcpserver/gateway"
	"opentabs/plugin"
)

const listTabsSchema = `{"type":"object","properties":{"plugin":{"type":"string","description":"The plugin's name. Default: all plugins."}}}`

var tabTools = []builtinTool{{
	definition: newBuiltinDefinition("plugin_list_tabs", "List the tabs of plugins",
		"Lists the plugins and the open tabs in which their tools can run, with their tabId and browser. "+
			"A plugin is ready, closed (no tab shows its site), unavailable (no tool can run in its tabs yet), failed (it started in no tab) or off (the user has not enabled it: ask the user).",
		listTabsSchema, true),
	isOffered: func(s *Server, _ clients.ID) bool { return s.opts.Tabs != nil },
	runTool:   (*Server).listTabs,
}}

// tabSummary describes one tab of one plugin for agents.
type tabSummary struct {
	TabID int `json:"tabId"`
	// Origin is scheme, host and port of the page. URL is the page's address without query and
	// fragment, which can contain secrets. URL is empty while all tools of the plugin are blocked.
	Origin      string `json:"origin"`
	URL         string `json:"url,omitempty"`
	Title       string `json:"title"`
	Browser     string `json:"browser"`
	BrowserName string `json:"browserName"`
	Instance    string `json:"instance,omitempty"`
	// The field ReadinessReady is true if the plugin's tools can run in the tab. NeedsReload is
	// true if tools can run only after the tab is reloaded.
	IsReady     bool `json:"ready"`
	NeedsReload bool `json:"needsReload,omitempty"`
}

// pluginSummary describes one plugin and its tabs, best tab first.
type pluginSummary struct {
	Plugin      string               `json:"plugin"`
	DisplayName string               `json:"displayName,omitempty"`
	State       dispatch.PluginState `json:"state"`
	// DisabledReason is the reason why all tools of the plugin are off; empty if a tool is on.
	// An agent cannot turn on the tools of a plugin; only the user can.
	DisabledReason string       `json:"off,omitempty"`
	Tabs           []tabSummary `json:"tabs"`
	// NextStep is what the agent should do next if no tool of the plugin can run now, or empty.
	NextStep string `json:"next,omitempty"`
}

func (s *Server) listTabs(_ context.Context, q request) reply {
	var a struct {
		Plugin string `json:"plugin"`
	}
	if err := decodeArguments(q, &a); err != nil {
		return newToolErrorReply(err)
	}
	pluginReplies := []pluginSummary{}
	pluginSet := s.plugins.Set()
	for _, p := range pluginSet.Plugins() {
		if p.IsBuiltin() || a.Plugin != "" && a.Plugin != p.Name {
			continue
		}
		pluginTabs := s.listPluginTabs(p)
		pluginTabs.NextStep = gateway.PluginState{
			Name: p.Name, IsNotReviewed: pluginTabs.DisabledReason == notReviewedReason, IsOff: pluginTabs.DisabledReason != "", State: string(pluginTabs.State),
			NeedsReload: slices.ContainsFunc(pluginTabs.Tabs, func(t tabSummary) bool { return t.NeedsReload }),
		}.NextStep()
		pluginReplies = append(pluginReplies, pluginTabs)
	}
	for _, f := range pluginSet.Failed() {
		if f.Name != "" && (a.Plugin == "" || a.Plugin == f.Name) {
			pluginReplies = append(pluginReplies, pluginSummary{Plugin: f.Name, State: dispatch.StateFailed, Tabs: []tabSummary{}, NextStep: gateway.LoadErrorAdvice})
		}
	}
	var lines []string
	for _, pluginTabs := range pluginReplies {
		lines = append(lines, pluginTabs.answerText())
	}
	if len(pluginReplies) == 0 && a.Plugin != "" {
		return newToolErrorReply(newArgumentsError("There is no plugin %q. Leave the argument out to list all plugins, then call again.", a.Plugin))
	}
	if len(pluginReplies) == 0 {
		lines = []string{"There are no plugins. The user can install one: opentabs plugin install NAME. " + gateway.NoPluginAdvice(s.lists.hasBrowserTools())}
	}
	return reply{replyText: strings.Join(lines, "\n"), structuredContent: rawjson.Encode(map[string]any{"plugins": pluginReplies})}
}

// For a plugin that must not run, listPluginTabs returns no text of the plugin's author.
func (s *Server) listPluginTabs(p *plugin.Plugin) pluginSummary {
	targets := s.opts.Tabs(p.Name)
	pluginTabs := pluginSummary{Plugin: p.Name, State: targets.State(), Tabs: []tabSummary{}}
	disabledReason := s.catalog.toolsOffReason(p)
	if disabledReason == "" {
		pluginTabs.DisplayName = p.DisplayName
	}
	pluginTabs.DisabledReason = disabledReason
	addTab := func(t dispatch.Target, needsReload bool) {
		for i, listedTab := range pluginTabs.Tabs { // frames of one tab are listed as one tab
			if listedTab.TabID == t.TabID && listedTab.Browser == t.Browser {
				pluginTabs.Tabs[i].IsReady = listedTab.IsReady || t.Readiness == dispatch.ReadinessReady
				return
			}
		}
		pluginTabs.Tabs = append(pluginTabs.Tabs, tabSummary{
			TabID: t.TabID, Origin: dispatch.OriginOf(t.URL), URL: content.StripURL(t.URL, disabledReason == ""), Title: t.Title, Browser: t.Browser, BrowserName: t.BrowserName,
			Instance: dispatch.InstanceName(p.Instances, t.URL), IsReady: t.Readiness == dispatch.ReadinessReady, NeedsReload: needsReload,
		})
	}
	for _, t := range targets.LiveTargets {
		addTab(t, false)
	}
	for _, t := range append(append(targets.LoadingTabs, targets.TabsWithoutPluginCode...), targets.BrokenTabs...) {
		addTab(t, false)
	}
	for _, t := range append(targets.TabsToReload, targets.ErrorPages...) {
		addTab(t, true)
	}
	return pluginTabs
}

// answerText quotes text that can come from a page.
func (a pluginSummary) answerText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", a.Plugin, a.State)
	if a.DisabledReason != "" {
		fmt.Fprintf(&b, "; its tools do not run: %s", a.DisabledReason)
	}
	for _, t := range a.Tabs {
		fmt.Fprintf(&b, "\n  tab %d of browser %q (id %s): %q %q", t.TabID, t.BrowserName, t.Browser, cmp.Or(t.URL, t.Origin), t.Title)
		if t.Instance != "" {
			fmt.Fprintf(&b, ", instance %q", t.Instance)
		}
		switch {
		case t.NeedsReload:
			b.WriteString(", needs a reload")
		case !t.IsReady:
			b.WriteString(", not ready")
		}
	}
	if a.NextStep != "" {
		b.WriteString("\n  next: " + a.NextStep)
	}
	return b.String()
}
