package main

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/browser"
	"opentabs/internal/cli"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

func newBrowserCmd(p *cli.Program) *cobra.Command {
	return cli.GroupCommands(&cobra.Command{
		Use:     "browser",
		Short:   "Manage browsers, browser tools and tabs",
		Example: "  opentabs browser tools on\n  opentabs browser site shop.example read\n  opentabs browser reload-tab 1271",
	}, newBrowserToolsCmd(p), newBrowserSiteCmd(p), newBrowserReleaseCmd(p), newBrowserReloadTabCmd(p),
		newBrowserListCmd(p), newBrowserNameCmd(p), newBrowserDefaultCmd(p), newBrowserForgetCmd(p))
}

func newBrowserToolsCmd(p *cli.Program) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "tools [on|off [GROUP|TOOL]...]",
		Short: "Switch browser tools on or off, or show which are on",
		Long: `Switch the browser tools on or off. With browser tools, agents read and use any
page without a plugin: on sites where you approve it, or that you have allowed
with "opentabs browser site". They are off until you switch them on.

"on" without a name switches on the group core, or after "off" the tools that
were on before. Name the tools of other groups, or a whole group. Dangerous
tools, which run code or handle data such as cookies, are not switched on with
their group: name each.`,
		Example: "  opentabs browser tools\n  opentabs browser tools on\n  opentabs browser tools on network browser_evaluate\n  opentabs browser tools off network",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runBrowserTools(cmd.Context(), p, args, asJSON)
		},
	}
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

// browserToolsState is the JSON object that `opentabs browser tools --json` prints.
type browserToolsState struct {
	IsOn  bool                `json:"on"`
	Tools []listedBrowserTool `json:"tools"`
}

// listedBrowserTool is one browser tool in the output of `opentabs browser tools --json`.
type listedBrowserTool struct {
	Group      string          `json:"group"`
	Name       string          `json:"name"`
	Permission wire.Permission `json:"permission"`
}

func runBrowserTools(ctx context.Context, p *cli.Program, args []string, asJSON bool) error {
	policyAccess, err := p.OpenPolicy(ctx)
	if err != nil {
		return err
	}
	if len(args) > 0 {
		if err := switchBrowserTools(p, policyAccess, args[0], args[1:]); err != nil {
			return err
		}
	}
	currentPermissions, err := policyAccess.Permissions(browser.Name)
	if err != nil {
		return err
	}
	listedBrowserTools := listBrowserTools(currentPermissions)
	if asJSON {
		return p.Out.PrintValue(browserToolsState{currentPermissions.Permission != wire.PermissionOff, listedBrowserTools})
	}
	if currentPermissions.Permission == wire.PermissionOff {
		hint := ""
		if len(args) == 0 {
			hint = "; `opentabs browser tools on` switches them on"
		}
		p.Out.Notef("browser tools are off%s", hint)
		return nil
	}
	p.Out.Notef("browser tools are on; each site needs your approval unless `opentabs browser site` allows it")
	if len(args) == 0 {
		tableRows := [][]string{{"GROUP", "TOOL", "PERMISSION"}}
		for _, tool := range listedBrowserTools {
			tableRows = append(tableRows, []string{tool.Group, tool.Name, string(tool.Permission)})
		}
		p.Out.PrintTable("", tableRows)
	}
	return nil
}

func switchBrowserTools(p *cli.Program, policyAccess home.PolicyAccess, state string, names []string) error {
	on, ok := map[string]bool{"on": true, "off": false}[state]
	if !ok {
		return cli.NewUsageError("%q is neither on nor off: run `opentabs browser tools on` or `opentabs browser tools off`", state)
	}
	if _, err := browser.SelectTools(names); err != nil {
		return cli.NewUsageError("%v", err)
	}
	currentPermissions, err := policyAccess.Permissions(browser.Name)
	if err != nil {
		return err
	}
	switchedTools, skippedTools, err := browser.SwitchTools(policyAccess, names, on, currentPermissions.Permission == wire.PermissionOff, httpapi.CommandLine)
	for _, tool := range skippedTools {
		p.Out.Notef("%s is dangerous and stays off; to switch it on, run `opentabs browser tools on %s`", tool, tool)
	}
	for _, tool := range switchedTools {
		p.Out.Notef("%s is %s", tool, state)
	}
	return err
}

func listBrowserTools(permissions httpapi.PluginPermissions) []listedBrowserTool {
	listedBrowserTools := []listedBrowserTool{}
	for _, toolGroup := range browser.Groups() {
		for _, tool := range toolGroup.Tools {
			for _, t := range permissions.Tools {
				if t.Name == tool {
					listedBrowserTools = append(listedBrowserTools, listedBrowserTool{toolGroup.Name, tool, t.Permission})
				}
			}
		}
	}
	return listedBrowserTools
}

type browserSiteOptions struct {
	program          *cli.Program
	site, permission string
	json             bool
}

func newBrowserSiteCmd(p *cli.Program) *cobra.Command {
	opts := browserSiteOptions{program: p}
	cmd := &cobra.Command{
		Use:   "site [SITE [off|read|ask|auto|default]]",
		Short: "Show or set what browser tools may do on a site",
		Long: `Show what browser tools may do on sites, or set it for one site:

  off      nothing
  read     read without approval, and not act
  ask      after your approval: reading once for each client, each act
  auto     read and act without approval
  default  remove the rule, and the clients that are always allowed

SITE is a host such as shop.example, shop.example:8080 for one port,
*.example.com for a host with its subdomains, or * for all sites. The most
specific rule applies. Sites without a rule have ask.

A rule with * does not allow sensitive sites without approval: banking, mail,
health, identity, passwords, payment, account settings, this machine and private
networks. Name such a site itself.`,
		Example: "  opentabs browser site\n  opentabs browser site shop.example read\n  opentabs browser site bank.example off",
		Args:    cli.LimitArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.site = args[0]
			}
			if len(args) > 1 {
				opts.permission = args[1]
			}
			return runBrowserSite(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runBrowserSite(ctx context.Context, opts browserSiteOptions) error {
	p := opts.program
	policyAccess, err := p.OpenPolicy(ctx)
	if err != nil {
		return err
	}
	pattern := ""
	if opts.site != "" {
		if pattern, err = policy.ParseSite(opts.site); err != nil {
			return cli.NewUsageError("%v", err)
		}
	}
	if opts.permission != "" {
		rule := opts.permission
		if rule == "default" {
			rule = ""
		} else if _, err := policy.ParseSiteRule(rule); err != nil {
			return cli.NewUsageError("%v", err)
		}
		if err := policyAccess.SetSiteRule(pattern, rule, httpapi.CommandLine); err != nil {
			return err
		}
		return p.Report(opts.json, httpapi.Site{Site: pattern, Permission: rule}, "the permission of browser tools on %s is %s", pattern, cmp.Or(rule, "the default"))
	}
	sites, err := policyAccess.Sites()
	if err != nil {
		return err
	}
	if pattern != "" {
		sites = slices.DeleteFunc(sites, func(s httpapi.Site) bool { return s.Site != pattern })
	}
	if opts.json {
		return p.Out.PrintValue(append([]httpapi.Site{}, sites...))
	}
	if len(sites) == 0 {
		effectiveRule, siteEntry := policy.NewSites(policyAccess.LocalPermissions.Policy).RuleFor("https://" + pattern)
		if policy.IsSiteExact(pattern) && effectiveRule != "" {
			p.Out.Notef("%s has no separate rule; the rule of %s applies: %s (sensitive sites need your approval even with auto)", pattern, effectiveRule, siteEntry.Rule)
			return nil
		}
		p.Out.Notef("no rule: browser tools need your approval")
		return nil
	}
	p.Out.PrintTable("", newSiteTable(sites), "SET BY")
	return nil
}

func newSiteTable(sites []httpapi.Site) [][]string {
	tableRows := [][]string{{"SITE", "PERMISSION", "ALWAYS ALLOWED", "SET BY"}}
	for _, s := range sites {
		var clients []string
		for _, c := range s.AlwaysAllowed {
			clients = append(clients, c.Client+" ("+c.Class+")")
		}
		tableRows = append(tableRows, []string{s.Site, cmp.Or(s.Permission, "ask"), strings.Join(clients, ", "), s.By})
	}
	return tableRows
}

type browserTabOptions struct {
	program *cli.Program
	tab     int
	browser string
	json    bool
}

// changedTab is the JSON output of commands that change one tab.
type changedTab struct {
	TabID int `json:"tab_id"`
	// StoppedClient is the name of the MCP client whose control of the tab has ended.
	StoppedClient string `json:"stopped_client,omitempty"`
}

func newBrowserTabCmd(p *cli.Program, cmd *cobra.Command, run func(context.Context, browserTabOptions) error) *cobra.Command {
	opts := browserTabOptions{program: p}
	cmd.Args = cli.RequireArgs(1, "the number of the tab")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		tab, err := strconv.Atoi(args[0])
		if err != nil || tab <= 0 {
			return cli.NewUsageError("%q is not the number of a tab: `opentabs status` shows the numbers", args[0])
		}
		opts.tab = tab
		return run(cmd.Context(), opts)
	}
	cmd.Flags().StringVar(&opts.browser, "browser", "", "the browser, by `NAME` or start of its id, if several browsers have a tab with this number")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func newBrowserReleaseCmd(p *cli.Program) *cobra.Command {
	return newBrowserTabCmd(p, &cobra.Command{
		Use:   "release TAB",
		Short: "Stop the agent that uses a tab",
		Long: `Stop the agent that uses the tab with this number with browser tools. "opentabs
status" shows the tabs that agents use. The running calls of the agent in the
tab end. The agent can read the tab, but needs your approval to act there again.`,
		Example: "  opentabs browser release 1271\n  opentabs browser release 1271 --browser Work",
	}, runBrowserRelease)
}

func runBrowserRelease(ctx context.Context, opts browserTabOptions) error {
	client, err := opts.program.NewClient(ctx)
	if err != nil {
		return err
	}
	stopState, err := client.ReleaseTab(ctx, opts.browser, opts.tab)
	if err != nil {
		return err
	}
	return opts.program.Report(opts.json, changedTab{opts.tab, stopState}, "stopped %s in tab %d; it needs your approval to act there again", terminal.SafeLine(stopState), opts.tab)
}

func newBrowserReloadTabCmd(p *cli.Program) *cobra.Command {
	return newBrowserTabCmd(p, &cobra.Command{
		Use:   "reload-tab TAB",
		Short: "Reload a tab, even if its page does not respond",
		Long: `Reload the tab with this number, which opentabs status shows. The process of a
page that does not respond is ended first. Unsaved input in the page is lost,
and calls that run in it fail.`,
		Example: "  opentabs browser reload-tab 1271\n  opentabs browser reload-tab 1271 --browser Work",
	}, runBrowserReloadTab)
}

func runBrowserReloadTab(ctx context.Context, opts browserTabOptions) error {
	client, err := opts.program.NewClient(ctx)
	if err != nil {
		return err
	}
	if err := client.ReloadTab(ctx, opts.browser, opts.tab); err != nil {
		return err
	}
	return opts.program.Report(opts.json, changedTab{TabID: opts.tab}, "reloading tab %d", opts.tab)
}
