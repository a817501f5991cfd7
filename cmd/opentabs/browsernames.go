package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/internal/usererr"
)

func openBrowserNames(ctx context.Context, p *cli.Program) (httpapi.BrowserNames, error) {
	h, err := p.OpenHome(nil)
	if err != nil {
		return nil, err
	}
	return home.OpenBrowserNames(ctx, h)
}

func newBrowserListCmd(p *cli.Program) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the browsers with their names",
		Long: `List the browsers that are connected or were connected before, with their names.
A browser without a name from you is forgotten after 30 days.`,
		Example: "  opentabs browser list",
		Args:    cli.LimitArgs(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runBrowserList(cmd.Context(), p, asJSON) },
	}
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

func runBrowserList(ctx context.Context, p *cli.Program, asJSON bool) error {
	names, err := openBrowserNames(ctx, p)
	if err != nil {
		return err
	}
	browsers, err := names.List()
	if err != nil {
		return err
	}
	if asJSON {
		return p.Out.PrintValue(append([]httpapi.KnownBrowser{}, browsers...))
	}
	if len(browsers) == 0 {
		p.Out.Notef("no browser has connected yet; `opentabs extension install` prints how to connect one")
		return nil
	}
	tableRows := [][]string{{"NAME", "STATE", "DEFAULT FOR", "ID"}}
	for _, b := range browsers {
		stateText := "last seen " + b.LastSeen.Local().Format(time.DateOnly)
		if b.Connected {
			stateText = "connected"
		}
		tableRows = append(tableRows, []string{b.Name, stateText, formatDefaultClients(b.DefaultFor), b.ID})
	}
	p.Out.PrintTable("", tableRows, "ID")
	return nil
}

func formatDefaultClients(clients []string) string {
	var names []string
	for _, client := range clients {
		if client == "" {
			client = "all clients"
			if len(clients) > 1 {
				client = "all other clients"
			}
		}
		names = append(names, client)
	}
	return strings.Join(names, ", ")
}

func newBrowserNameCmd(p *cli.Program) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "name [BROWSER] NAME",
		Short: "Give a browser a name",
		Long: `Give a browser a name. BROWSER is its name or its id, and can be left out if
only one browser is known. The empty name "" restores the default name.

Status, calls and errors show the name, and agents and the flag --browser accept
it. The browser keeps its name across restarts and updates. If you have removed
the extension and loaded it again, Chrome has a new identity: give it the old
name, and it takes the place of the browser that had the name.`,
		Example: "  opentabs browser name Work\n  opentabs browser name \"Chrome on Linux 2\" Private",
		Args:    cli.LimitArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.NewUsageError("the new name is missing: opentabs browser name [BROWSER] NAME")
			}
			browser := ""
			if len(args) == 2 {
				browser = args[0]
			}
			return runBrowserName(cmd.Context(), p, browser, args[len(args)-1], asJSON)
		},
	}
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

func runBrowserName(ctx context.Context, p *cli.Program, browser, name string, asJSON bool) error {
	names, err := openBrowserNames(ctx, p)
	if err != nil {
		return err
	}
	if browser == "" {
		if browser, err = findOnlyBrowser(names); err != nil {
			return err
		}
	}
	renamedBrowser, err := names.Rename(browser, name)
	if err != nil {
		return usererr.Errorf("%v", err)
	}
	return p.Report(asJSON, renamedBrowser, "the name of the browser is %s now", terminal.SafeLine(renamedBrowser.Name))
}

func findOnlyBrowser(names httpapi.BrowserNames) (string, error) {
	browsers, err := names.List()
	if err != nil {
		return "", err
	}
	var connectedBrowsers, allBrowsers []string
	for _, b := range browsers {
		allBrowsers = append(allBrowsers, b.ID)
		if b.Connected {
			connectedBrowsers = append(connectedBrowsers, b.ID)
		}
	}
	switch {
	case len(connectedBrowsers) == 1:
		return connectedBrowsers[0], nil
	case len(allBrowsers) == 1:
		return allBrowsers[0], nil
	case len(allBrowsers) == 0:
		return "", usererr.Errorf("no browser has connected yet: `opentabs extension install` prints how to connect one")
	}
	return "", cli.NewUsageError("several browsers are known: name one, see `opentabs browser list`")
}

func newBrowserDefaultCmd(p *cli.Program) *cobra.Command {
	client, asJSON := "", false
	cmd := &cobra.Command{
		Use:   "default [BROWSER|none]",
		Short: "Show or set the browser that calls use by default",
		Long: `Show or set the default browser: the browser that a call uses if the call names
no browser and several browsers have a matching tab. Without a default, such a
call fails and names the browsers. "none" removes the default.

With --client, the default is for one MCP client, by its name in "opentabs
client list" or the name that it sends, such as claude-code.`,
		Example: "  opentabs browser default Work\n  opentabs browser default Private --client cursor\n  opentabs browser default none",
		Args:    cli.LimitArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return runBrowserDefaults(cmd.Context(), p, asJSON)
			}
			return runBrowserDefault(cmd.Context(), p, args[0], client, asJSON)
		},
	}
	cmd.Flags().StringVar(&client, "client", "", "the `NAME` of an MCP client")
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

func runBrowserDefaults(ctx context.Context, p *cli.Program, asJSON bool) error {
	names, err := openBrowserNames(ctx, p)
	if err != nil {
		return err
	}
	browsers, err := names.List()
	if err != nil {
		return err
	}
	browsers = slices.DeleteFunc(browsers, func(b httpapi.KnownBrowser) bool { return len(b.DefaultFor) == 0 })
	if asJSON {
		return p.Out.PrintValue(append([]httpapi.KnownBrowser{}, browsers...))
	}
	tableRows := [][]string{{"NAME", "DEFAULT FOR"}}
	for _, b := range browsers {
		tableRows = append(tableRows, []string{b.Name, formatDefaultClients(b.DefaultFor)})
	}
	if len(tableRows) == 1 {
		p.Out.Notef("no browser is the default: a call that several browsers could run must name one")
		return nil
	}
	p.Out.PrintTable("", tableRows)
	return nil
}

// defaultBrowser is the JSON object that `opentabs browser default BROWSER --json`
// prints. Browser is empty if the default was removed. Client is empty if BROWSER is now
// the default of all clients.
type defaultBrowser struct {
	Browser string `json:"browser,omitempty"`
	Client  string `json:"client,omitempty"`
}

func runBrowserDefault(ctx context.Context, p *cli.Program, browser, client string, asJSON bool) error {
	names, err := openBrowserNames(ctx, p)
	if err != nil {
		return err
	}
	if browser == "none" {
		browser = ""
	}
	changedBrowser, err := names.SetDefault(client, browser)
	if err != nil {
		return usererr.Errorf("%v", err)
	}
	who := "calls"
	if client != "" {
		who = "calls of " + client
	}
	if browser == "" {
		return p.Report(asJSON, defaultBrowser{Client: client}, "%s have no default browser now", terminal.SafeLine(who))
	}
	return p.Report(asJSON, defaultBrowser{changedBrowser.Name, client}, "%s use the browser %s by default", terminal.SafeLine(who), terminal.SafeLine(changedBrowser.Name))
}

// forgottenBrowser is the output of `opentabs browser forget --json`.
type forgottenBrowser struct {
	Name string `json:"name"`
}

func newBrowserForgetCmd(p *cli.Program) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "forget BROWSER",
		Short:   "Forget a browser that is not connected",
		Example: "  opentabs browser forget \"Chrome on Linux 2\"",
		Args:    cli.RequireArgs(1, "the name of the browser"),
		RunE: func(cmd *cobra.Command, args []string) error {
			names, err := openBrowserNames(cmd.Context(), p)
			if err != nil {
				return err
			}
			if err := names.Forget(args[0]); err != nil {
				return usererr.Errorf("%v", err)
			}
			return p.Report(asJSON, forgottenBrowser{args[0]}, "the browser %s is forgotten", terminal.SafeLine(args[0]))
		},
	}
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}
