package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"opentabs/internal/author"
	"opentabs/internal/jsbuild"
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

With --watch it builds again at each change, until Ctrl-C. What is wrong is told,
and does not end it.`,
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
		out.say("warning: %s", w)
	}
	holds := plural(len(built.Tools), "tool")
	rows := [][]string{}
	for _, t := range built.Tools {
		rows = append(rows, []string{t.Name, t.Description})
	}
	for _, p := range built.Prompts {
		rows = append(rows, []string{p.Name + " (prompt)", p.Description})
	}
	if len(built.Prompts) > 0 {
		holds += ", " + plural(len(built.Prompts), "prompt")
	}
	out.line("%s %s (%s), %s", built.Name, oneLine(built.Version), oneLine(built.DisplayName), holds)
	out.table("  ", rows)
	for _, f := range built.Files {
		out.line("wrote %s, %s", f.Path, size(f.Bytes))
	}
	out.say("built in %s; add it with `opentabs plugin add %s`", spell(built.Took), opts.dir)
	return nil
}

// size prints a number of bytes as people read it.
func size(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.0f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
