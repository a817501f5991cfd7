package main

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/browser"
	"opentabs/internal/httpapi"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

func newBrowserCmd(p *program) *cobra.Command {
	return groupCommands(&cobra.Command{
		Use:     "browser",
		Short:   "Manage browser tools and tabs",
		Example: "  opentabs browser tools on\n  opentabs browser site shop.example read\n  opentabs browser reload-tab 1271",
	}, newBrowserToolsCmd(p), newBrowserSiteCmd(p), newBrowserReloadTabCmd(p))
}

func newBrowserToolsCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "tools [on|off]",
		Short: "Switch browser tools on or off, or show whether they are on",
		Long: `Switch the browser tools on or off. With browser tools, agents read and use any
page without a plugin: on sites where you approve it, or that you have allowed
with "opentabs browser site". They are off until you switch them on.`,
		Example: "  opentabs browser tools\n  opentabs browser tools on",
		Args:    limitArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runBrowserTools(cmd.Context(), p, args)
		},
	}
}

func runBrowserTools(ctx context.Context, p *program, args []string) error {
	book, err := p.openPolicy(ctx)
	if err != nil {
		return err
	}
	if len(args) > 0 {
		permission, ok := map[string]wire.Permission{"on": wire.PermissionAuto, "off": wire.PermissionOff}[args[0]]
		if !ok {
			return newUsageError("%q is not on or off", args[0])
		}
		if err := book.SetPermission(browser.Name, "", permission, httpapi.CommandLine); err != nil {
			return err
		}
	}
	now, err := book.Permissions(browser.Name)
	if err != nil {
		return err
	}
	if now.Permission == wire.PermissionOff {
		p.out.Notef("browser tools are off")
		return nil
	}
	p.out.Notef("browser tools are on; each site needs your approval unless `opentabs browser site` allows it")
	return nil
}

type browserSiteOptions struct {
	program          *program
	site, permission string
	json             bool
}

func newBrowserSiteCmd(p *program) *cobra.Command {
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
		Args:    limitArgs(2),
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
	book, err := p.openPolicy(ctx)
	if err != nil {
		return err
	}
	pattern := ""
	if opts.site != "" {
		if pattern, err = policy.ParseSite(opts.site); err != nil {
			return newUsageError("%v", err)
		}
	}
	if opts.permission != "" {
		rule := opts.permission
		if rule == "default" {
			rule = ""
		} else if _, err := policy.ParseSiteRule(rule); err != nil {
			return newUsageError("%v", err)
		}
		if err := book.SetSite(pattern, rule, httpapi.CommandLine); err != nil {
			return err
		}
		p.out.Notef("the permission of browser tools on %s is %s", pattern, cmp.Or(rule, "the default"))
		return nil
	}
	sites, err := book.Sites()
	if err != nil {
		return err
	}
	if pattern != "" {
		sites = slices.DeleteFunc(sites, func(s httpapi.Site) bool { return s.Site != pattern })
	}
	if opts.json {
		return p.out.PrintValue(append([]httpapi.Site{}, sites...))
	}
	if len(sites) == 0 {
		effective, entry := policy.SitesOf(book.Local.Policy).RuleFor("https://" + pattern)
		if policy.IsSiteExact(pattern) && effective != "" {
			p.out.Notef("%s has no separate rule; the rule of %s applies: %s (sensitive sites need your approval even with auto)", pattern, effective, entry.Rule)
			return nil
		}
		p.out.Notef("no rule: browser tools need your approval")
		return nil
	}
	p.out.PrintTable("", siteRows(sites))
	return nil
}

// siteRows returns the table of the rules for sites.
func siteRows(sites []httpapi.Site) [][]string {
	rows := [][]string{{"SITE", "PERMISSION", "ALWAYS ALLOWED", "SET BY"}}
	for _, s := range sites {
		var clients []string
		for _, c := range s.AlwaysAllowed {
			clients = append(clients, c.Client+" ("+c.Class+")")
		}
		rows = append(rows, []string{s.Site, cmp.Or(s.Permission, "ask"), strings.Join(clients, ", "), s.By})
	}
	return rows
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
				return newUsageError("%q is not the number of a tab: `opentabs status` shows the numbers", args[0])
			}
			opts.tab = tab
			return runBrowserReloadTab(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.browser, "browser", "", "the `NAME` or id of the browser, if several browsers have a tab with this number")
	return cmd
}

func runBrowserReloadTab(ctx context.Context, opts browserReloadTabOptions) error {
	client, err := opts.program.newClient(ctx)
	if err != nil {
		return err
	}
	if err := client.ReloadTab(ctx, opts.browser, opts.tab); err != nil {
		return err
	}
	opts.program.out.Notef("reloading tab %d", opts.tab)
	return nil
}
