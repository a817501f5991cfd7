// Package statusview prints the output of `opentabs status`. statusview removes control
// characters from texts of pages, plugins and clients.
package statusview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"opentabs/internal/httpapi"
	"opentabs/internal/humanize"
	"opentabs/internal/pluginview"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

// Print prints the status of a server, its browsers and their tabs, its plugins and its
// clients.
func Print(terminalOut *terminal.Output, s httpapi.Status) {
	printLine(terminalOut, valueIndent, "server    opentabs %s, pid %d, on %s, up %s", s.Version, s.PID, s.Address, humanize.Duration(msToDuration(s.UptimeMs).Truncate(time.Second)))
	printLine(terminalOut, valueIndent, "files     %s", strings.Join(slices.Compact([]string{s.Home.Config, s.Home.State}), ", "))
	printLine(terminalOut, valueIndent, "limits    idle %s, hard %s", humanize.Duration(msToDuration(s.Limits.IdleTimeoutMs)), humanize.Duration(msToDuration(s.Limits.HardTimeoutMs)))
	printLine(terminalOut, valueIndent, "calls     %s", formatCallCount(s.Calls))
	printLine(terminalOut, valueIndent, "browsers  %s", formatCount(len(s.Browsers)))
	for _, b := range s.Browsers {
		printBrowser(terminalOut, b)
	}
	if len(s.Browsers) == 0 {
		printLine(terminalOut, lineIndent, "  open Chrome with the opentabs extension; run `opentabs extension install` for the steps")
	}
	printLine(terminalOut, valueIndent, "plugins   %s", formatCount(len(s.Plugins)+len(s.Failed)))
	for _, p := range s.Plugins {
		printLine(terminalOut, lineIndent, "  %s %s, %s, %s", p.Name, terminal.SafeLine(p.Version), terminal.CountNoun(len(p.Tools), "tool"), pluginview.State(p))
	}
	for _, problemText := range s.Permissions {
		printLine(terminalOut, lineIndent, "  permissions: %s", terminal.SafeLine(problemText))
	}
	for _, f := range s.Failed {
		printLine(terminalOut, lineIndent, "  %s", pluginview.FailedLine(f))
	}
	printLine(terminalOut, valueIndent, "clients   %s", formatCount(len(s.Clients)))
	for _, c := range s.Clients {
		line := fmt.Sprintf("  %s, by %s, since %s", terminal.SafeLine(c.DisplayName()), c.Transport, c.Since.Local().Format(time.DateTime))
		if c.Tools != "" {
			line += ", lists " + terminal.SafeLine(c.Tools) + " tools"
		}
		if c.Timeout != nil {
			line += ", gives up after " + formatTimeout(*c.Timeout)
		}
		printLine(terminalOut, lineIndent, "%s", line)
	}
}

const (
	valueIndent = "          "
	lineIndent  = "  "
)

func printLine(terminalOut *terminal.Output, indent, format string, args ...any) {
	terminal.PrintWrapped(terminalOut, indent, fmt.Sprintf(format, args...))
}

func formatCallCount(c httpapi.CallCount) string {
	var textParts []string
	addCount := func(n int, state string) {
		if n > 0 {
			textParts = append(textParts, fmt.Sprintf("%d %s", n, state))
		}
	}
	addCount(c.Running, "running")
	addCount(c.Queued, "queued")
	addCount(c.WaitingForApproval, "waiting for approval")
	addCount(c.WaitingForYou, "waiting for you")
	return cmp.Or(strings.Join(textParts, ", "), "none")
}

func formatTimeout(t httpapi.ClientTimeout) string {
	timeoutDescription := humanize.Duration(msToDuration(t.LimitMs))
	if t.ProgressRestarts {
		timeoutDescription += " without progress"
	}
	switch t.Source {
	case httpapi.TimeoutSourceLearned:
		timeoutDescription += " (learned)"
	case httpapi.TimeoutSourceUser:
		timeoutDescription += " (set by you)"
	}
	return timeoutDescription
}

func msToDuration(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

func formatCount(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

func printBrowser(terminalOut *terminal.Output, b httpapi.Browser) {
	state := "connected"
	if !b.Connected {
		state = "link lost"
	}
	printLine(terminalOut, lineIndent, "  %s (%s), extension %s, %s", terminal.SafeLine(b.Name), terminal.SafeLine(b.ID), terminal.SafeLine(b.Version), state)
	switch b.InjectMode {
	case wire.InjectNone:
		printLine(terminalOut, lineIndent, "    it cannot run plugins: turn on \"Allow User Scripts\" in the extension's details in chrome://extensions")
	case wire.InjectFiles:
		printLine(terminalOut, lineIndent, "    optional: turn on \"Allow User Scripts\" to update plugins without reloading the extension")
	}
	for _, t := range b.Tabs {
		printLine(terminalOut, lineIndent, "    tab %d  %s  %s", t.TabID, terminal.SafeLine(t.URL), terminal.SafeLine(strings.Join(describePlugins(t), ", ")))
		if t.IsFrozen {
			printLine(terminalOut, lineIndent, "      Chrome has suspended it to save resources: nothing runs in this tab until you switch to it")
		}
		if t.Unresponsive {
			printLine(terminalOut, lineIndent, "      the page does not respond: a script blocks it (opentabs browser reload-tab %d)", t.TabID)
		}
	}
	for _, h := range b.HeldTabs {
		client := terminal.SafeLine(h.Client)
		state := fmt.Sprintf("held by %s until %s", client, h.EndsAt.Local().Format(time.TimeOnly))
		if h.IsTakenBack {
			state = fmt.Sprintf("you took it back from %s, which must read the page before it acts again", client)
		}
		printLine(terminalOut, lineIndent, "    tab %d  %s  %s", h.TabID, terminal.SafeLine(h.Site), state)
	}
	if len(b.HeldTabs) > 0 {
		printLine(terminalOut, lineIndent, "      to stop a client in a tab, run `opentabs browser release %d`", b.HeldTabs[0].TabID)
	}
}

func describePlugins(t wire.TabInfo) []string {
	var names []string
	addPlugins := func(plugins []wire.TabPlugin, locationText string) {
		for _, p := range plugins {
			name := p.Name + locationText
			if p.IsReady == nil || !*p.IsReady {
				name += " (not ready)"
			}
			names = append(names, name)
		}
	}
	addPlugins(t.Plugins, "")
	for _, f := range t.Frames {
		addPlugins(f.Plugins, fmt.Sprintf(" in frame %d", f.FrameID))
	}
	for _, p := range t.BrokenPlugins {
		names = append(names, p.Name+" (failed to start: "+p.Problem+")")
	}
	for _, name := range t.NeedsReload {
		reason := "reload the tab"
		switch {
		case t.LoadError == wire.LoadErrorNoAnswer:
			reason = "the site does not answer"
		case t.LoadError == wire.LoadErrorNoAccess:
			reason = "Chrome gives the extension no access to the site"
		case t.LoadError != "":
			reason = "the page can't be loaded: " + t.LoadError
		case t.Discarded:
			reason = "unloaded by the browser; a call loads it"
		}
		names = append(names, name+" ("+reason+")")
	}
	return names
}

// PrintTabsToReload reports that the server has loaded a changed plugin, and lists the tabs
// that must be reloaded before the plugin works in them. If plugin is empty, PrintTabsToReload
// lists no tabs.
func PrintTabsToReload(terminalOut *terminal.Output, s httpapi.Status, plugin string) {
	terminalOut.Notef("the running server (pid %d) has loaded the change", s.PID)
	for _, b := range s.Browsers {
		for _, t := range b.Tabs {
			if slices.Contains(t.NeedsReload, plugin) {
				terminalOut.Notef("reload tab %d (%s) in %s to use it there", t.TabID, terminal.SafeLine(t.URL), terminal.SafeLine(b.Name))
			}
		}
	}
}
