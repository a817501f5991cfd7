package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/internal/version"
	"opentabs/wire"
)

type statusOptions struct {
	program *program
	json    bool
}

func newStatusCmd(p *program) *cobra.Command {
	opts := statusOptions{program: p}
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show the server, the browsers, the plugins and the clients",
		Long:    "Show the running server, the browsers that are connected and their tabs, the\nplugins, the MCP clients and the number of calls.",
		Example: "  opentabs status\n  opentabs status --json",
		Args:    atMost(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runStatus(ctx context.Context, opts statusOptions) error {
	client, _, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	s, err := client.Status(ctx)
	if err != nil {
		return err
	}
	out := opts.program.out
	if opts.json {
		return out.PrintValue(s)
	}
	uptime := time.Duration(s.UptimeMs) * time.Millisecond
	out.PrintLine("server    opentabs %s, pid %d, on %s, up %s", s.Version, s.PID, s.Address, terminal.Elapsed(uptime))
	out.PrintLine("files     %s", strings.Join(slices.Compact([]string{s.Home.Config, s.Home.State}), ", "))
	out.PrintLine("limits    idle %s, hard %s", limit(s.Limits.IdleMs), limit(s.Limits.HardMs))
	out.PrintLine("calls     %d running, %d waiting", s.Calls.Running, s.Calls.Pending)
	showBrowsers(out, s)
	showPlugins(out, s)
	out.PrintLine("clients   %s", count(len(s.Clients)))
	for _, c := range s.Clients {
		out.PrintLine("  %s, by %s, since %s", terminal.SafeLine(c.DisplayName()), c.Transport, c.Since.Local().Format(time.DateTime))
	}
	return nil
}

func limit(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }

func count(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

func showBrowsers(out *terminal.Output, s httpapi.Status) {
	out.PrintLine("browsers  %s", count(len(s.Browsers)))
	for _, b := range s.Browsers {
		state := "connected"
		if !b.Connected {
			state = "link lost"
		}
		out.PrintLine("  %s (%s), extension %s, %s", terminal.SafeLine(b.Name), terminal.SafeLine(b.ID), terminal.SafeLine(b.Version), state)
		switch b.Inject {
		case wire.InjectNone:
			out.PrintLine("    it cannot run plugins: switch on \"Allow User Scripts\" on the extension's page in chrome://extensions")
		case wire.InjectFiles:
			out.PrintLine("    it runs plugins from files; switch on \"Allow User Scripts\" on the extension's page in chrome://extensions to load new ones at once")
		}
		for _, t := range b.Tabs {
			out.PrintLine("    tab %d  %s  %s", t.TabID, terminal.SafeLine(t.URL), terminal.SafeLine(strings.Join(pluginsIn(t), ", ")))
			if t.Frozen {
				out.PrintLine("      Chrome has suspended it to save resources: nothing runs in this tab until you switch to it")
			}
			if t.Unresponsive {
				out.PrintLine("      the page does not respond: a script blocks it (opentabs browser reload-tab %d)", t.TabID)
			}
		}
	}
	if len(s.Browsers) == 0 {
		out.PrintLine("  open Chrome with the opentabs extension; run `opentabs extension install` for the steps")
	}
}

func showPlugins(out *terminal.Output, s httpapi.Status) {
	out.PrintLine("plugins   %s", count(len(s.Plugins)+len(s.Failed)))
	for _, p := range s.Plugins {
		out.PrintLine("  %s %s, %s, %s", p.Name, terminal.SafeLine(p.Version), terminal.Plural(len(p.Tools), "tool"), pluginState(p))
	}
	for _, problem := range s.Permissions {
		out.PrintLine("  permissions: %s", terminal.SafeLine(problem))
	}
	for _, f := range s.Failed {
		out.PrintLine("  %s failed: %s", terminal.SafeLine(f.Path), terminal.SafeLine(f.Error))
	}
}

// pluginsIn returns the plugins of a tab, with the reason why one does not work.
func pluginsIn(t wire.TabInfo) []string {
	var names []string
	show := func(plugins []wire.TabPlugin, where string) {
		for _, p := range plugins {
			name := p.Name + where
			if p.Ready == nil || !*p.Ready {
				name += " (not ready)"
			}
			names = append(names, name)
		}
	}
	show(t.Plugins, "")
	for _, f := range t.Frames {
		show(f.Plugins, fmt.Sprintf(" in frame %d", f.FrameID))
	}
	for _, p := range t.Broken {
		names = append(names, p.Name+" (failed to start: "+p.Problem+")")
	}
	for _, name := range t.NeedsReload {
		switch {
		case t.LoadError == wire.LoadErrorNoAnswer:
			names = append(names, name+" (the site does not answer)")
		case t.LoadError != "":
			names = append(names, name+" (the page can't be loaded: "+t.LoadError+")")
		case t.Discarded:
			names = append(names, name+" (unloaded by the browser; a call loads it)")
		default:
			names = append(names, name+" (reload the tab)")
		}
	}
	return names
}

// pluginState returns how the tools of a plugin run, and whether they can run now.
func pluginState(p httpapi.Plugin) string {
	advised := ""
	if p.Recommended != nil {
		advised = ", " + terminal.SafeLine(p.Recommended.By) + " recommends it"
	}
	if p.Changed {
		return "changed since it was reviewed (opentabs plugin review " + p.Name + ")" + advised
	}
	if !p.Reviewed {
		return "not reviewed (opentabs plugin review " + p.Name + ")" + advised
	}
	if p.Fault != nil {
		return terminal.SafeLine(string(p.Permission) + ", failed: " + p.Fault.Text)
	}
	if len(p.Needs) > 0 {
		return "needs settings: " + terminal.SafeLine(strings.Join(p.Needs, ", ")) + " (opentabs plugin configure " + p.Name + ")"
	}
	text := string(p.Permission)
	if p.State != "" { // only a running server has the state
		text += ", " + string(p.State)
	}
	if len(p.Calls) > 0 {
		text += ", may call " + strings.Join(p.Calls, " and ")
	}
	if p.LateAccess {
		text += ", late access"
	}
	return terminal.SafeLine(text)
}

func newBrowserCmd(p *program) *cobra.Command {
	return group(&cobra.Command{
		Use:     "browser",
		Short:   "Manage the tabs of a browser",
		Example: "  opentabs browser reload-tab 1271",
	}, newBrowserReloadTabCmd(p))
}

type browserReloadTabOptions struct {
	program *program
	tab     int
	browser string
}

func newBrowserReloadTabCmd(p *program) *cobra.Command {
	opts := browserReloadTabOptions{program: p}
	cmd := &cobra.Command{
		Use:   "reload-tab TAB",
		Short: "Reload a tab, even if its page does not respond",
		Long: `Reload the tab with this number, which opentabs status shows. The process of a
page that does not respond is ended first. Unsaved input in the page is lost,
and calls that run in it fail.`,
		Example: "  opentabs browser reload-tab 1271\n  opentabs browser reload-tab 1271 --browser Work",
		Args:    requireArgs(1, "the number of the tab"),
		RunE: func(cmd *cobra.Command, args []string) error {
			tab, err := strconv.Atoi(args[0])
			if err != nil || tab <= 0 {
				return usage("%q is not the number of a tab: `opentabs status` shows the numbers", args[0])
			}
			opts.tab = tab
			return runBrowserReloadTab(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.browser, "browser", "", "the `NAME` or id of the browser, if several browsers have a tab with this number")
	return cmd
}

func runBrowserReloadTab(ctx context.Context, opts browserReloadTabOptions) error {
	client, _, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	if err := client.ReloadTab(ctx, opts.browser, opts.tab); err != nil {
		return err
	}
	opts.program.out.Notef("reloading tab %d", opts.tab)
	return nil
}

type versionOptions struct {
	out  *terminal.Output
	json bool
}

func newVersionCmd(p *program) *cobra.Command {
	opts := versionOptions{out: p.out}
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  opentabs version\n  opentabs version --json",
		Args:    atMost(0),
		RunE:    func(*cobra.Command, []string) error { return runVersion(opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runVersion(opts versionOptions) error {
	v := struct {
		Version  string `json:"version"`
		Protocol int    `json:"protocol"`
		Go       string `json:"go"`
		OS       string `json:"os"`
		Arch     string `json:"arch"`
	}{version.Version, wire.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH}
	if opts.json {
		return opts.out.PrintValue(v)
	}
	opts.out.PrintLine("opentabs %s (protocol %d, %s, %s/%s)", v.Version, v.Protocol, v.Go, v.OS, v.Arch)
	return nil
}
