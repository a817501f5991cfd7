package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"opentabs/dispatch"
	"opentabs/plugin"
)

const listTabsSchema = `{"type":"object","properties":{"plugin":{"type":"string","description":"The plugin's name. Default: all plugins."}}}`

// tabTools are the tools about tabs.
var tabTools = []ownTool{{
	shown: showOwn("plugin_list_tabs", "List the tabs of plugins",
		"Lists the plugins and the open tabs in which their tools can run, with the tabId and the browser that a call may name. "+
			"A plugin is closed (no tab shows its site), unavailable (a tab is open, but no tool can run there yet) or ready.",
		listTabsSchema, true),
	offered: func(s *Server, _ string) bool { return s.opts.Tabs != nil },
	run:     (*Server).listTabs,
}}

// tabAnswer is one tab of one plugin, for agents.
type tabAnswer struct {
	TabID       int    `json:"tabId"`
	URL         string `json:"url"`
	Title       string `json:"title"`
	Browser     string `json:"browser"`
	BrowserName string `json:"browserName"`
	Instance    string `json:"instance,omitempty"`
	// Ready is whether tools can run there. NeedsReload is set if that takes a
	// reload of the tab.
	Ready       bool `json:"ready"`
	NeedsReload bool `json:"needsReload,omitempty"`
}

// pluginAnswer is one plugin and its tabs, the best first.
type pluginAnswer struct {
	Plugin      string               `json:"plugin"`
	DisplayName string               `json:"displayName,omitempty"`
	State       dispatch.PluginState `json:"state"`
	Tabs        []tabAnswer          `json:"tabs"`
}

func (s *Server) listTabs(_ context.Context, q request) reply {
	var a struct {
		Plugin string `json:"plugin"`
	}
	if err := readOwn(q, &a); err != nil {
		return s.failed(err)
	}
	answers := []pluginAnswer{}
	var lines []string
	for _, p := range s.plugins.Set().Plugins() {
		if a.Plugin != "" && a.Plugin != p.Name {
			continue
		}
		answer := s.tabsOf(p)
		answers = append(answers, answer)
		lines = append(lines, answer.text())
	}
	if len(answers) == 0 && a.Plugin != "" {
		return s.failed(invalidArguments("There is no plugin %q. Leave the argument out to list all plugins, then call again.", a.Plugin))
	}
	if len(answers) == 0 {
		lines = []string{"There are no plugins. The person can add some: opentabs plugin install NAME."}
	}
	return reply{text: strings.Join(lines, "\n"), data: mustJSON(map[string]any{"plugins": answers})}
}

// tabsOf returns a plugin and its tabs. Of one that the person has not reviewed
// it says nothing that its author wrote.
func (s *Server) tabsOf(p *plugin.Plugin) pluginAnswer {
	places := s.opts.Tabs(p.Name)
	answer := pluginAnswer{Plugin: p.Name, State: places.State(), Tabs: []tabAnswer{}}
	if s.opts.Reviewed == nil || s.opts.Reviewed(p.Name) {
		answer.DisplayName = p.DisplayName
	}
	add := func(t dispatch.Target, reload bool) {
		for i, known := range answer.Tabs { // a frame of a tab is no tab
			if known.TabID == t.TabID && known.Browser == t.Browser {
				answer.Tabs[i].Ready = known.Ready || t.Readiness == dispatch.Ready
				return
			}
		}
		answer.Tabs = append(answer.Tabs, tabAnswer{
			TabID: t.TabID, URL: t.URL, Title: t.Title, Browser: t.Browser, BrowserName: t.BrowserName,
			Instance: dispatch.InstanceOf(p.Instances, t.URL), Ready: t.Readiness == dispatch.Ready, NeedsReload: reload,
		})
	}
	for _, t := range places.Live {
		add(t, false)
	}
	for _, t := range append(places.Loading, places.Broken...) {
		add(t, false)
	}
	for _, t := range places.NeedReload {
		add(t, true)
	}
	return answer
}

// text is the answer in words. What a page may have written is quoted.
func (a pluginAnswer) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", a.Plugin, a.State)
	for _, t := range a.Tabs {
		fmt.Fprintf(&b, "\n  tab %d of browser %q (id %s): %q %q", t.TabID, t.BrowserName, t.Browser, t.URL, t.Title)
		if t.Instance != "" {
			fmt.Fprintf(&b, ", instance %q", t.Instance)
		}
		switch {
		case t.NeedsReload:
			b.WriteString(", to be reloaded first")
		case !t.Ready:
			b.WriteString(", not ready")
		}
	}
	return b.String()
}
