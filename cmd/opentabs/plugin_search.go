package main

import (
	"context"

	"github.com/spf13/cobra"

	"opentabs/plugin"
)

const (
	// pluginKeyword is what plugins have among their keywords for npm.
	pluginKeyword = "opentabs-plugin"
	// foundPlugins is how many plugins a search shows.
	foundPlugins = 50
)

type pluginSearchOptions struct {
	program *program
	query   string
	json    bool
}

func newPluginSearchCmd(p *program) *cobra.Command {
	opts := pluginSearchOptions{program: p}
	cmd := &cobra.Command{
		Use:     "search [WORDS]",
		Short:   "Find plugins on the npm registry",
		Example: "  opentabs plugin search slack\n  opentabs plugin search \"shared documents\"",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.query = args[0]
			}
			return runPluginSearch(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// foundPlugin is one plugin as --json prints it.
type foundPlugin struct {
	// Name is what to install; Plugin what it is called then.
	Name        string `json:"package"`
	Plugin      string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Publisher   string `json:"publisher,omitempty"`
	// Installed says that a plugin of this name is there.
	Installed bool `json:"installed"`
}

func runPluginSearch(ctx context.Context, opts pluginSearchOptions) error {
	p := opts.program
	i, err := p.openInstaller()
	if err != nil {
		return err
	}
	packages, err := i.Client.Search(ctx, pluginKeyword, opts.query, foundPlugins)
	if err != nil {
		return err
	}
	list := []foundPlugin{}
	for _, one := range packages {
		name, err := plugin.NameOf(one.Name)
		if err != nil {
			continue // not a plugin
		}
		_, installed := i.plugins.Set().Plugin(name)
		list = append(list, foundPlugin{one.Name, name, one.Version, one.Description, one.Publisher, installed})
	}
	if opts.json {
		return p.out.PrintValue(struct {
			Plugins []foundPlugin `json:"plugins"`
		}{list})
	}
	if len(list) == 0 {
		p.out.Notef("no plugin was found; try another word")
		return nil
	}
	rows := [][]string{}
	for _, one := range list {
		mark := ""
		if one.Installed {
			mark = "installed"
		}
		rows = append(rows, []string{one.Name, one.Version, mark, one.Description})
	}
	p.out.PrintTable("", rows)
	p.out.Notef("install one with `opentabs plugin install NAME`; anybody can publish there, so look at it with `opentabs plugin review` before it runs")
	return nil
}
