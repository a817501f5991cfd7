package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"opentabs/internal/author"
	"opentabs/internal/jsbuild"
	"opentabs/internal/terminal"
)

type pluginPackOptions struct {
	program *program
	dir     string
	out     string
	json    bool
	noTypes bool
}

func newPluginPackCmd(p *program) *cobra.Command {
	opts := pluginPackOptions{program: p}
	cmd := &cobra.Command{
		Use:   "pack [DIR]",
		Short: "Make an npm package of a plugin",
		Long: `Build the plugin in DIR (default: this directory), check it, and make the package
NAME-VERSION.tgz of package.json, the README, the license and dist. It can be
installed (opentabs plugin install ./NAME-VERSION.tgz) or published (npm publish
NAME-VERSION.tgz). The same content gives the same bytes.`,
		Example: "  opentabs plugin pack\n  opentabs plugin pack plugins/tickets --out /tmp",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.dir = dirOf(args)
			return runPluginPack(cmd.Context(), opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.out, "out", "", "write it to this `PATH`, a directory or a file (default: this directory)")
	f.BoolVar(&opts.json, "json", false, "print JSON")
	f.BoolVar(&opts.noTypes, "no-types", false, "do not run the plugin's compiler")
	return cmd
}

func runPluginPack(ctx context.Context, opts pluginPackOptions) error {
	out := opts.program.out
	if _, err := jsbuild.BuildPlugin(ctx, opts.dir, jsbuild.Options{}); err != nil {
		return err
	}
	checked, err := author.Check(ctx, opts.dir, author.CheckOptions{NoTypes: opts.noTypes})
	if err != nil {
		return err
	}
	if checked.Errors > 0 {
		printFindings(out, checked)
		return &failure{code: exitFailed, err: fmt.Errorf("no package was made, because the plugin has %s: fix the errors", tally(checked))}
	}
	if checked.Warnings > 0 {
		out.Notef("%s; `opentabs plugin check` lists them", tally(checked))
	}
	packed, err := author.Pack(opts.dir, opts.out)
	if err != nil {
		return err
	}
	if opts.json {
		return out.PrintValue(packed)
	}
	for _, file := range packed.Files {
		out.PrintLine("  %s, %s", file.Path, terminal.ByteSize(file.Bytes))
	}
	out.PrintLine("%s %s", terminal.SafeLine(packed.Package), packed.Version)
	out.PrintLine("%s, %s (%s unpacked)", packed.Path, terminal.ByteSize(packed.Bytes), terminal.ByteSize(packed.UnpackedBytes))
	out.PrintLine("integrity %s", packed.Integrity)
	out.PrintLine("shasum %s", packed.Shasum)
	return nil
}
