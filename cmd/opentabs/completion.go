package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/browser"
	"opentabs/internal/cli"
	"opentabs/internal/clienttoken"
	"opentabs/internal/config"
	"opentabs/wire"
)

// completer returns the words with which a shell may complete an argument. A completer
// returns no words after an error, because a shell must not print errors while the user
// types.
type completer func(ctx context.Context, p *cli.Program) []string

// argumentCompleters maps the path of each command, without "opentabs", to the completers
// of its arguments. The last completer of a command completes all further arguments, too.
var argumentCompleters = map[string][]completer{
	"call":              {completeTools},
	"tools":             {completePlugins, nil},
	"tools show":        {completeTools},
	"tools pin":         {completePluginsAndTools},
	"tools unpin":       {completePluginsAndTools},
	"calls show":        {completeCalls, nil},
	"calls approve":     {completeOpenCalls, nil},
	"calls deny":        {completeOpenCalls, nil},
	"calls cancel":      {completeOpenCalls, nil},
	"calls undo":        {completeCalls, nil},
	"plugin inspect":    {completePlugins, nil},
	"plugin review":     {completePlugins, nil},
	"plugin configure":  {completePlugins, nil},
	"plugin remove":     {completePlugins, nil},
	"plugin update":     {completePlugins},
	"plugin permission": {completePluginsAndTools, completeWords("off", "ask", "auto"), nil},
	"plugin limit":      {completeTools, nil},
	"client remove":     {completeClients, nil},
	"config get":        {completeSettings, nil},
	"config set":        {completeSettings, nil},
	"config unset":      {completeSettings, nil},
	"browser tools":     {completeWords("on", "off"), completeBrowserTools},
	"browser site":      {completeSites, completeWords("off", "read", "ask", "auto", "default"), nil},
}

// addCompletions sets the shell completions of all commands below root.
func addCompletions(p *cli.Program, root *cobra.Command) {
	for path, completers := range argumentCompleters {
		cmd, _, err := root.Find(strings.Fields(path))
		if err != nil || cmd.CommandPath() != root.Name()+" "+path {
			panic("opentabs: there is no command " + path) // a test builds the root command, so the test finds a wrong path
		}
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			complete := completers[min(len(args), len(completers)-1)]
			if complete == nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return complete(cmd.Context(), p), cobra.ShellCompDirectiveNoFileComp
		}
	}
	addBrowserCompletion(p, root)
}

// addBrowserCompletion sets the shell completion of the flag --browser on every command
// that has this flag.
func addBrowserCompletion(p *cli.Program, cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		addBrowserCompletion(p, sub)
	}
	if cmd.Flags().Lookup("browser") == nil {
		return
	}
	err := cmd.RegisterFlagCompletionFunc("browser", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return completeBrowsers(cmd.Context(), p), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil { // cobra fails only for a flag that is missing or completed twice
		panic(err)
	}
}

func completeWords(words ...string) completer {
	return func(context.Context, *cli.Program) []string { return words }
}

func completeTools(_ context.Context, p *cli.Program) []string {
	_, registry, err := p.OpenPlugins()
	if err != nil {
		return nil
	}
	var names []string
	for _, one := range registry.Set().All() {
		for _, t := range one.Tools {
			names = append(names, t.FullName()+"\t"+t.Description)
		}
	}
	return names
}

func completePlugins(_ context.Context, p *cli.Program) []string {
	_, registry, err := p.OpenPlugins()
	if err != nil {
		return nil
	}
	var names []string
	for _, one := range registry.Set().All() {
		names = append(names, one.Name+"\t"+one.DisplayName)
	}
	return names
}

func completePluginsAndTools(ctx context.Context, p *cli.Program) []string {
	return append(completePlugins(ctx, p), completeTools(ctx, p)...)
}

func completeCalls(ctx context.Context, p *cli.Program) []string {
	return listCalls(ctx, p, func(wire.CallStatus) bool { return true })
}

// completeOpenCalls completes the IDs of calls that have not ended.
func completeOpenCalls(ctx context.Context, p *cli.Program) []string {
	return listCalls(ctx, p, func(s wire.CallStatus) bool { return s == wire.StatusPending || s == wire.StatusRunning })
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
	client, err := p.NewClient(ctx)
	if err != nil {
		return nil
	}
	status, err := client.Status(ctx)
	if err != nil {
		return nil
	}
	var names []string
	for _, b := range status.Browsers {
		names = append(names, b.Name)
	}
	return names
}

func completeClients(_ context.Context, p *cli.Program) []string {
	dirs, err := config.FindDirs(p.Getenv)
	if err != nil {
		return nil
	}
	clients, err := clienttoken.Open(dirs.ClientsFile()).List()
	if err != nil {
		return nil
	}
	var names []string
	for _, c := range clients {
		names = append(names, c.Name)
	}
	return names
}

func completeSettings(_ context.Context, p *cli.Program) []string {
	dirs, err := config.FindDirs(p.Getenv)
	if err != nil {
		return nil
	}
	settings, err := config.ListEffective(dirs, p.Getenv)
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range settings {
		names = append(names, s.Key+"\t"+s.Value)
	}
	return names
}

func completeBrowserTools(context.Context, *cli.Program) []string {
	var names []string
	for _, g := range browser.Groups() {
		names = append(append(names, g.Name+"\tgroup"), g.Tools...)
	}
	return names
}

func completeSites(ctx context.Context, p *cli.Program) []string {
	book, err := p.OpenPolicy(ctx)
	if err != nil {
		return nil
	}
	sites, err := book.Sites()
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range sites {
		names = append(names, s.Site)
	}
	return names
}
