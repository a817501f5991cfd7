package plugincmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/author"
	"opentabs/internal/cli"
	"opentabs/internal/humanize"
	"opentabs/internal/jsbuild"
	"opentabs/internal/terminal"
)

type pluginCheckOptions struct {
	program        *cli.Program
	dir            string
	json           bool
	rules          bool
	failOnWarnings bool
	skipTypeCheck  bool
}

func newPluginCheckCmd(p *cli.Program) *cobra.Command {
	opts := pluginCheckOptions{program: p, dir: "."}
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Lint a plugin",
		Long: `Lint the plugin in DIR (default: this directory). An error keeps the plugin from
working and makes the command fail; a warning is a smaller defect. A suggestion
is optional, such as the isolated world for code that uses nothing of the page's
own JavaScript. dist is not written.

Types are checked by the compiler that is installed for the plugin
(node_modules/typescript), if the compiler and Node are installed. The plugin's
author supplies that program: use --no-types for a plugin that you do not trust.`,
		Example: "  opentabs plugin check\n  opentabs plugin check --strict --json\n  opentabs plugin check --rules",
		Args:    cli.LimitArgs(1),
		RunE:    cli.ActionWithArg(&opts.dir, func(ctx context.Context) error { return runPluginCheck(ctx, opts) }),
	}
	f := cmd.Flags()
	f.BoolVar(&opts.json, "json", false, "print JSON")
	f.BoolVar(&opts.rules, "rules", false, "list the rules, with the reason for each")
	f.BoolVar(&opts.failOnWarnings, "strict", false, "also fail for warnings")
	f.BoolVar(&opts.skipTypeCheck, "no-types", false, "do not run the compiler")
	return cmd
}

func runPluginCheck(ctx context.Context, opts pluginCheckOptions) error {
	terminalOut := opts.program.Out
	if opts.rules {
		return printRules(terminalOut, opts.json)
	}
	result, err := author.Check(ctx, opts.dir, author.CheckOptions{SkipTypeCheck: opts.skipTypeCheck})
	if err != nil {
		return err
	}
	if opts.json {
		err = terminalOut.PrintValue(result)
	} else {
		printFindings(terminalOut, result)
	}
	if err != nil || result.Errors == 0 && (result.Warnings == 0 || !opts.failOnWarnings) {
		return err
	}
	return fmt.Errorf("the plugin has %s: fix what is listed (`opentabs plugin check --rules` has the reasons)", problemCountText(result))
}

func problemCountText(c *author.CheckResult) string {
	return terminal.CountNoun(c.Errors, "error") + ", " + terminal.CountNoun(c.Warnings, "warning")
}

func printFindings(o *terminal.Output, c *author.CheckResult) {
	for _, f := range c.Findings {
		location := ""
		if f.Location != "" {
			location = "  " + terminal.SafeLine(f.Location)
		}
		o.PrintLine("%s %s%s", f.Level, f.Rule, location)
		for line := range strings.Lines(f.Text) {
			o.PrintLine("    %s", terminal.SafeLine(line))
		}
	}
	for _, undoReport := range c.Undos {
		o.Notef("%s", terminal.SafeLine(undoReport))
	}
	for _, skippedCheck := range c.SkippedChecks {
		o.Notef("not checked: %s", skippedCheck)
	}
	if c.Plugin != "" {
		o.Notef("%s %s: %s", c.Plugin, c.Version, problemCountText(c))
	}
}

func printRules(o *terminal.Output, asJSON bool) error {
	if asJSON {
		return o.PrintValue(author.Rules())
	}
	for _, rule := range author.Rules() {
		o.PrintLine("%s\n    %s", rule.ID, rule.Why)
	}
	return nil
}

type pluginReadmeOptions struct {
	program     *cli.Program
	dir         string
	isCheckOnly bool
	json        bool
}

// updatedReadme is the output of `opentabs plugin readme --json`. HasChanged is false if
// the README was already up to date.
type updatedReadme struct {
	Path       string `json:"path"`
	HasChanged bool   `json:"changed"`
}

func newPluginReadmeCmd(p *cli.Program) *cobra.Command {
	opts := pluginReadmeOptions{program: p, dir: "."}
	cmd := &cobra.Command{
		Use:   "readme [DIR]",
		Short: "Update the tables in a plugin's README",
		Long: `Write the tables of tools, prompts and settings into the README.md of the plugin
in DIR (default: this directory), between two marker lines. The rest does not
change.`,
		Example: "  opentabs plugin readme\n  opentabs plugin readme --check",
		Args:    cli.LimitArgs(1),
		RunE:    cli.ActionWithArg(&opts.dir, func(ctx context.Context) error { return runPluginReadme(ctx, opts) }),
	}
	cmd.Flags().BoolVar(&opts.isCheckOnly, "check", false, "write nothing; fail if the README is not up to date")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runPluginReadme(ctx context.Context, opts pluginReadmeOptions) error {
	hasChanged, err := author.UpdateReadme(ctx, opts.dir, opts.isCheckOnly, jsbuild.Options{})
	file := filepath.Join(opts.dir, "README.md")
	switch {
	case err != nil:
		return err
	case hasChanged && opts.isCheckOnly:
		return errors.New(file + " is not up to date: run `opentabs plugin readme`")
	case opts.json:
		return opts.program.Out.PrintValue(updatedReadme{file, hasChanged})
	case hasChanged:
		opts.program.Out.PrintLine("wrote %s", file)
	default:
		opts.program.Out.Notef("%s is up to date", file)
	}
	return nil
}

type pluginPackOptions struct {
	program       *cli.Program
	dir           string
	pluginOutput  string
	json          bool
	skipTypeCheck bool
}

func newPluginPackCmd(p *cli.Program) *cobra.Command {
	opts := pluginPackOptions{program: p, dir: "."}
	cmd := &cobra.Command{
		Use:   "pack [DIR]",
		Short: "Create an npm package of a plugin",
		Long: `Build the plugin in DIR (default: this directory), check it, and create the
package NAME-VERSION.tgz from package.json, the README, the license and dist.
You can install it (opentabs plugin install ./NAME-VERSION.tgz) or publish it
(npm publish NAME-VERSION.tgz). The same content produces the same bytes.`,
		Example: "  opentabs plugin pack\n  opentabs plugin pack plugins/tickets --out /tmp",
		Args:    cli.LimitArgs(1),
		RunE:    cli.ActionWithArg(&opts.dir, func(ctx context.Context) error { return runPluginPack(ctx, opts) }),
	}
	f := cmd.Flags()
	f.StringVar(&opts.pluginOutput, "out", "", "write the package to this `PATH`, a directory or a file (default: this directory)")
	f.BoolVar(&opts.json, "json", false, "print JSON")
	f.BoolVar(&opts.skipTypeCheck, "no-types", false, "do not run the plugin's compiler")
	return cmd
}

func runPluginPack(ctx context.Context, opts pluginPackOptions) error {
	terminalOut := opts.program.Out
	if _, err := jsbuild.BuildPlugin(ctx, opts.dir, jsbuild.Options{}); err != nil {
		return err
	}
	result, err := author.Check(ctx, opts.dir, author.CheckOptions{SkipTypeCheck: opts.skipTypeCheck})
	if err != nil {
		return err
	}
	if result.Errors > 0 {
		if opts.json {
			err = terminalOut.PrintValue(result)
		} else {
			printFindings(terminalOut, result)
		}
		if err != nil {
			return err
		}
		return fmt.Errorf("no package was made, because the plugin has %s: fix the errors", problemCountText(result))
	}
	if result.Warnings > 0 {
		terminalOut.Notef("%s; `opentabs plugin check` lists them", problemCountText(result))
	}
	packResult, err := author.Pack(opts.dir, opts.pluginOutput)
	if err != nil {
		return err
	}
	if opts.json {
		return terminalOut.PrintValue(packResult)
	}
	for _, file := range packResult.Files {
		terminalOut.PrintLine("  %s, %s", file.Path, humanize.Bytes(file.Bytes))
	}
	terminalOut.PrintLine("%s %s", terminal.SafeLine(packResult.Package), packResult.Version)
	terminalOut.PrintLine("%s, %s (%s unpacked)", packResult.Path, humanize.Bytes(packResult.Bytes), humanize.Bytes(packResult.UnpackedBytes))
	terminalOut.PrintLine("integrity %s", packResult.Integrity)
	terminalOut.PrintLine("shasum %s", packResult.Shasum)
	return nil
}
