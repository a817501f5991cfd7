package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"opentabs/internal/author"
	"opentabs/internal/jsbuild"
	"opentabs/internal/plugindev"
	"opentabs/internal/terminal"
)

type pluginBuildOptions struct {
	program *program
	dir     string
	watch   bool
}

func newPluginBuildCmd(p *program) *cobra.Command {
	opts := pluginBuildOptions{program: p}
	cmd := &cobra.Command{
		Use:   "build [DIR]",
		Short: "Build a plugin from its TypeScript source",
		Long: `Build the plugin in DIR (default: this directory) into its dist folder: the
adapter that runs in the page and the list of its tools. Node is not needed, and
types are not checked; opentabs plugin check does that.

With --watch it builds again after each change, until Ctrl-C. Errors are printed and
do not end the command.`,
		Example: "  opentabs plugin build\n  opentabs plugin build plugins/messages --watch",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.dir = dirOf(args)
			if opts.watch {
				return runPluginWatch(cmd.Context(), opts)
			}
			return runPluginBuild(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.watch, "watch", false, "build again at each change")
	return cmd
}

func runPluginBuild(ctx context.Context, opts pluginBuildOptions) error {
	built, err := jsbuild.BuildPlugin(ctx, opts.dir, jsbuild.Options{})
	if err != nil {
		return err
	}
	if err := author.RefreshEditorTypes(opts.dir); err != nil {
		return err
	}
	out := opts.program.out
	for _, w := range built.Warnings {
		out.Notef("warning: %s", w)
	}
	holds := terminal.Plural(len(built.Tools), "tool")
	rows := [][]string{}
	for _, t := range built.Tools {
		rows = append(rows, []string{t.Name, t.Description})
	}
	for _, p := range built.Prompts {
		rows = append(rows, []string{p.Name + " (prompt)", p.Description})
	}
	if len(built.Prompts) > 0 {
		holds += ", " + terminal.Plural(len(built.Prompts), "prompt")
	}
	out.PrintLine("%s %s (%s), %s", built.Name, terminal.SafeLine(built.Version), terminal.SafeLine(built.DisplayName), holds)
	out.PrintTable("  ", rows)
	for _, f := range built.Files {
		out.PrintLine("wrote %s, %s", f.Path, terminal.ByteSize(f.Bytes))
	}
	out.Notef("built in %s; add it with `opentabs plugin add %s`", terminal.Elapsed(built.Took), opts.dir)
	return nil
}

func runPluginWatch(ctx context.Context, opts pluginBuildOptions) error {
	err := plugindev.Watch(ctx, opts.dir, opts.program.out)
	if errors.Is(err, plugindev.ErrNoPlugin) {
		return &failure{code: exitFailed, err: errors.New("there is nothing to wait for: name the directory of a plugin")}
	}
	return err
}
