package main

import (
	"context"

	"github.com/spf13/cobra"

	"opentabs/internal/install"
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
		RunE:    withArg(&opts.query, func(ctx context.Context) error { return runPluginSearch(ctx, opts) }),
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runPluginSearch(ctx context.Context, opts pluginSearchOptions) error {
	p := opts.program
	i, err := p.openInstaller()
	if err != nil {
		return err
	}
	list, err := i.Search(ctx, opts.query)
	if err != nil {
		return err
	}
	if opts.json {
		return p.out.PrintValue(struct {
			Plugins []install.Found `json:"plugins"`
		}{list})
	}
	if len(list) == 0 {
		p.out.Notef("no plugin was found; try other words")
		return nil
	}
	rows := [][]string{}
	for _, one := range list {
		mark := ""
		if one.Installed {
			mark = "installed"
		}
		rows = append(rows, []string{one.Package, one.Version, mark, one.Description})
	}
	p.out.PrintTable("", rows)
	p.out.Notef("install one with `opentabs plugin install NAME`; anyone can publish in this registry, so check a plugin with `opentabs plugin review` before you enable it")
	return nil
}

type pluginInfoOptions struct {
	program *program
	what    string
	json    bool
}

func newPluginInfoCmd(p *program) *cobra.Command {
	opts := pluginInfoOptions{program: p}
	cmd := &cobra.Command{
		Use:     "info NAME[@RANGE]",
		Short:   "Show a plugin in the npm registry",
		Example: "  opentabs plugin info slack\n  opentabs plugin info @acme/opentabs-plugin-wiki@^2",
		Args:    requireArgs(1, "the name of a plugin"),
		RunE:    withArg(&opts.what, func(ctx context.Context) error { return runPluginInfo(ctx, opts) }),
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runPluginInfo(ctx context.Context, opts pluginInfoOptions) error {
	p := opts.program
	i, err := p.openInstaller()
	if err != nil {
		return err
	}
	info, err := i.Info(ctx, opts.what)
	if err != nil {
		return err
	}
	if opts.json {
		return p.out.PrintValue(info)
	}
	p.out.PrintSafeLines(info.Lines()...)
	return nil
}
