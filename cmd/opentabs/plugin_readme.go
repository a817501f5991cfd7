package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"opentabs/internal/author"
	"opentabs/internal/jsbuild"
)

type pluginReadmeOptions struct {
	program *program
	dir     string
	check   bool
}

func newPluginReadmeCmd(p *program) *cobra.Command {
	opts := pluginReadmeOptions{program: p}
	cmd := &cobra.Command{
		Use:   "readme [DIR]",
		Short: "Bring the tables in a plugin's README up to date",
		Long: `Write the tables of tools, prompts and settings into the README.md of the plugin in
DIR (default: this directory), between two marked lines. The rest stays as it is.`,
		Example: "  opentabs plugin readme\n  opentabs plugin readme --check",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.dir = dirOf(args)
			return runPluginReadme(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.check, "check", false, "write nothing; fail if it is not up to date")
	return cmd
}

// dirOf is the directory that a command about a plugin's source is given.
func dirOf(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return "."
}

func runPluginReadme(ctx context.Context, opts pluginReadmeOptions) error {
	changed, err := author.Readme(ctx, opts.dir, opts.check, jsbuild.Options{})
	file := filepath.Join(opts.dir, "README.md")
	switch {
	case err != nil:
		return err
	case changed && opts.check:
		return &failure{code: exitFailed, err: errors.New(file + " is not up to date: run `opentabs plugin readme`")}
	case changed:
		opts.program.out.PrintLine("wrote %s", file)
	default:
		opts.program.out.Notef("%s is up to date", file)
	}
	return nil
}
