package plugincmd

import (
	"context"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/install"
)

type pluginSearchOptions struct {
	program *cli.Program
	query   string
	json    bool
}

func newPluginSearchCmd(p *cli.Program) *cobra.Command {
	opts := pluginSearchOptions{program: p}
	cmd := &cobra.Command{
		Use:     "search [WORDS]",
		Short:   "Find plugins on the npm registry",
		Example: "  opentabs plugin search slack\n  opentabs plugin search \"shared documents\"",
		Args:    cli.LimitArgs(1),
		RunE:    cli.ActionWithArg(&opts.query, func(ctx context.Context) error { return runPluginSearch(ctx, opts) }),
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runPluginSearch(ctx context.Context, opts pluginSearchOptions) error {
	p := opts.program
	i, err := openInstaller(p)
	if err != nil {
		return err
	}
	searchResults, err := i.Search(ctx, opts.query)
	if err != nil {
		return err
	}
	if opts.json {
		return p.Out.PrintValue(struct {
			Plugins []install.SearchResult `json:"plugins"`
		}{searchResults})
	}
	if len(searchResults) == 0 {
		p.Out.Notef("no plugin was found; try other words")
		return nil
	}
	tableRows := [][]string{}
	for _, foundPackage := range searchResults {
		installedText := ""
		if foundPackage.Installed {
			installedText = "installed"
		}
		tableRows = append(tableRows, []string{foundPackage.Package, foundPackage.Version, installedText, foundPackage.Description})
	}
	p.Out.PrintTable("", tableRows)
	p.Out.Notef("install one with `opentabs plugin install NAME`; anyone can publish in this registry, so check a plugin with `opentabs plugin review` before you enable it")
	return nil
}

type pluginInfoOptions struct {
	program      *cli.Program
	nameOrSource string
	json         bool
}

func newPluginInfoCmd(p *cli.Program) *cobra.Command {
	opts := pluginInfoOptions{program: p}
	cmd := &cobra.Command{
		Use:     "info NAME[@RANGE]",
		Short:   "Show a plugin in the npm registry",
		Example: "  opentabs plugin info slack\n  opentabs plugin info @acme/opentabs-plugin-wiki@^2",
		Args:    cli.RequireArgs(1, "the name of a plugin"),
		RunE:    cli.ActionWithArg(&opts.nameOrSource, func(ctx context.Context) error { return runPluginInfo(ctx, opts) }),
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runPluginInfo(ctx context.Context, opts pluginInfoOptions) error {
	p := opts.program
	i, err := openInstaller(p)
	if err != nil {
		return err
	}
	info, err := i.Info(ctx, opts.nameOrSource)
	if err != nil {
		return err
	}
	if opts.json {
		return p.Out.PrintValue(info)
	}
	p.Out.PrintEscapedLines(info.Lines()...)
	return nil
}
