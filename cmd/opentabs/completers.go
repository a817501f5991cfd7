package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"opentabs/browser"
	"opentabs/dispatch"
	"opentabs/internal/audit"
	"opentabs/internal/cli"
	"opentabs/internal/clienttoken"
	"opentabs/internal/config"
	"opentabs/internal/filestore"
	"opentabs/internal/httpapi"
	"opentabs/internal/humanize"
	"opentabs/internal/pairing"
	"opentabs/internal/setup"
	"opentabs/internal/timeouts"
	"opentabs/plugin"
	"opentabs/wire"
)

func completeWords(commandWords ...string) completer {
	return func(context.Context, *cli.Program) []string { return slices.Clone(commandWords) }
}

// If items could not be read, toCompletions returns nothing, because a shell cannot show the error.
func toCompletions[T any](items []T, err error, completion func(T) string) []string {
	if err != nil {
		return nil
	}
	var completions []string
	for _, item := range items {
		completions = append(completions, completion(item))
	}
	return completions
}

func newDirsCompleter(complete func(*cli.Program, config.Dirs) []string) completer {
	return func(_ context.Context, p *cli.Program) []string {
		dirs, err := config.FindDirs(p.Getenv)
		if err != nil {
			return nil
		}
		return complete(p, dirs)
	}
}

func loadPluginSet(p *cli.Program) *plugin.Set {
	_, registry, err := p.OpenPlugins()
	if err != nil {
		return &plugin.Set{}
	}
	return registry.Set()
}

func completeTools(_ context.Context, p *cli.Program) []string {
	var names []string
	for _, one := range loadPluginSet(p).All() {
		for _, t := range one.Tools {
			names = append(names, t.FullName()+"\t"+t.Description)
		}
	}
	return names
}

func completePlugins(_ context.Context, p *cli.Program) []string {
	return toCompletions(loadPluginSet(p).All(), nil, pluginCompletion)
}

func completeInstalledPlugins(_ context.Context, p *cli.Program) []string {
	return toCompletions(loadPluginSet(p).Plugins(), nil, pluginCompletion)
}

func pluginCompletion(one *plugin.Plugin) string { return one.Name + "\t" + one.DisplayName }

func completePluginsAndTools(ctx context.Context, p *cli.Program) []string {
	return append(completePlugins(ctx, p), completeTools(ctx, p)...)
}

func completeCalls(ctx context.Context, p *cli.Program) []string {
	return listCalls(ctx, p, func(wire.CallStatus) bool { return true })
}

func completeOpenCalls(ctx context.Context, p *cli.Program) []string {
	return listCalls(ctx, p, func(s wire.CallStatus) bool { return !s.HasEnded() })
}

func listCalls(ctx context.Context, p *cli.Program, isWanted func(wire.CallStatus) bool) []string {
	client, err := p.NewClient(ctx)
	if err != nil {
		return nil
	}
	calls, err := client.Calls.List(ctx)
	if err != nil {
		return nil
	}
	var ids []string
	for _, c := range calls {
		if isWanted(c.Status) {
			ids = append(ids, c.CallID+"\t"+browser.FullName(c.Plugin, c.Tool))
		}
	}
	return ids
}

func completeBrowsers(ctx context.Context, p *cli.Program) []string {
	return toCompletions(listConnectedBrowsers(ctx, p), nil, func(b httpapi.Browser) string { return b.Name })
}

var completeClients = newDirsCompleter(func(_ *cli.Program, dirs config.Dirs) []string {
	clients, err := clienttoken.Open(dirs.ClientsFile()).List()
	return toCompletions(clients, err, func(c clienttoken.Client) string { return c.Name })
})

var completeSettings = newDirsCompleter(func(p *cli.Program, dirs config.Dirs) []string {
	settings, err := config.ListEffective(dirs, p.Getenv)
	return toCompletions(settings, err, func(s config.EffectiveSetting) string { return s.Key + "\t" + s.Value })
})

func completeBrowserTools(context.Context, *cli.Program) []string {
	var names []string
	for _, g := range browser.Groups() {
		names = append(append(names, g.Name+"\tgroup"), g.Tools...)
	}
	return names
}

func completeSites(ctx context.Context, p *cli.Program) []string {
	policyAccess, err := p.OpenPolicy(ctx)
	if err != nil {
		return nil
	}
	sites, err := policyAccess.Sites()
	return toCompletions(sites, err, func(s httpapi.Site) string { return s.Site })
}

var completePins = newDirsCompleter(func(p *cli.Program, dirs config.Dirs) []string { return openPins(p, dirs).Names() })

func completeKnownBrowsers(ctx context.Context, p *cli.Program) []string {
	storedBrowserNames, err := openBrowserNames(ctx, p)
	if err != nil {
		return nil
	}
	browsers, err := storedBrowserNames.List()
	return toCompletions(browsers, err, func(b httpapi.KnownBrowser) string { return b.Name })
}

func completeBrowsersAndNone(ctx context.Context, p *cli.Program) []string {
	return append(completeKnownBrowsers(ctx, p), "none\tremove the default")
}

func listConnectedBrowsers(ctx context.Context, p *cli.Program) []httpapi.Browser {
	client, err := p.NewClient(ctx)
	if err != nil {
		return nil
	}
	serverStatus, err := client.Status(ctx)
	if err != nil {
		return nil
	}
	return serverStatus.Browsers
}

func completeTabs(ctx context.Context, p *cli.Program) []string {
	var tabs []string
	for _, b := range listConnectedBrowsers(ctx, p) {
		for _, t := range b.Tabs {
			tabs = append(tabs, fmt.Sprintf("%d\t%s", t.TabID, t.URL))
		}
	}
	return tabs
}

func completeUsedTabs(ctx context.Context, p *cli.Program) []string {
	var tabs []string
	for _, b := range listConnectedBrowsers(ctx, p) {
		for _, t := range b.HeldTabs {
			tabs = append(tabs, fmt.Sprintf("%d\t%s, used by %s", t.TabID, t.Site, t.Client))
		}
	}
	return tabs
}

const maxCallerRecords = 500

// For each MCP client, completeMCPClients suggests the name of its token and the name that the client sends.
func completeMCPClients(ctx context.Context, p *cli.Program) []string {
	names := completeClients(ctx, p)
	for _, r := range listCallers(p) {
		if r.ClientCredential != dispatch.CredentialCommandLine {
			names = append(names, r.Client, r.ClaimedName)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

func completeCallers(ctx context.Context, p *cli.Program) []string {
	names := completeMCPClients(ctx, p)
	for _, r := range listCallers(p) {
		if r.ClientCredential == dispatch.CredentialCommandLine {
			return append(names, r.ToClient().String())
		}
	}
	return names
}

func listCallers(p *cli.Program) []audit.Entry {
	dirs, err := config.FindDirs(p.Getenv)
	if err != nil {
		return nil
	}
	auditEntries, _, _ := audit.Read(dirs.State, maxCallerRecords, func(r audit.Record) bool { return r.Client != "" })
	return auditEntries
}

func completeSetupClients(_ context.Context, p *cli.Program) []string {
	findNoProgram := func(string) (string, error) { return "", os.ErrNotExist }
	clients, _ := setup.Clients(setup.Machine{Getenv: p.Getenv, LookPath: findNoProgram})
	return toCompletions(clients, nil, func(c setup.Client) string { return c.ID + "\t" + c.Title })
}

func completeTimeoutClients(_ context.Context, p *cli.Program) []string {
	store, err := openTimeouts(p)
	if err != nil {
		return nil
	}
	return toCompletions(store.List(), nil, func(e timeouts.Entry) string { return e.Name + "\t" + e.FormatLimit() })
}

var completePairedBrowsers = newDirsCompleter(func(_ *cli.Program, dirs config.Dirs) []string {
	browsers, err := pairing.Open(dirs.PairingFile()).List()
	return toCompletions(browsers, err, func(b pairing.Browser) string { return b.ID + "\t" + b.Name })
})

var completeFileIDs = newDirsCompleter(func(_ *cli.Program, dirs config.Dirs) []string {
	files, err := filestore.Open(dirs.FilesDir()).List()
	return toCompletions(files, err, func(f filestore.File) string { return f.ID + "\t" + humanize.Bytes(f.SizeBytes) })
})

func completeCommands(root *cobra.Command, args []string) []string {
	parent, extraArgs, err := root.Find(args)
	if err != nil || len(extraArgs) > 0 {
		return nil
	}
	var names []string
	for _, subcommand := range parent.Commands() {
		if subcommand.IsAvailableCommand() || subcommand.IsAdditionalHelpTopicCommand() {
			names = append(names, subcommand.Name()+"\t"+subcommand.Short)
		}
	}
	return names
}
