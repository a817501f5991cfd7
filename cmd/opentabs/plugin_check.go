package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/author"
	"opentabs/internal/terminal"
)

type pluginCheckOptions struct {
	program *program
	dir     string
	json    bool
	rules   bool
	strict  bool
	noTypes bool
}

func newPluginCheckCmd(p *program) *cobra.Command {
	opts := pluginCheckOptions{program: p}
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Say what could be better in a plugin",
		Long: `Look at the plugin in DIR (default: this directory) and say what keeps it from
working, which are errors, and what could be better, which are warnings. Errors
make the command fail. What is worth a thought is a suggestion, such as the isolated
world for code that uses nothing of the page's own JavaScript. dist is not written.

Types are checked by the compiler that is installed for the plugin
(node_modules/typescript), if it and Node are there. That is a program of the
plugin's author: use --no-types for a plugin that you do not trust.`,
		Example: "  opentabs plugin check\n  opentabs plugin check --strict --json\n  opentabs plugin check --rules",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.dir = dirOf(args)
			return runPluginCheck(cmd.Context(), opts)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&opts.json, "json", false, "print JSON")
	f.BoolVar(&opts.rules, "rules", false, "list the rules, with the reason for each")
	f.BoolVar(&opts.strict, "strict", false, "fail for warnings too")
	f.BoolVar(&opts.noTypes, "no-types", false, "do not run the compiler")
	return cmd
}

func runPluginCheck(ctx context.Context, opts pluginCheckOptions) error {
	out := opts.program.out
	if opts.rules {
		return printRules(out, opts.json)
	}
	checked, err := author.Check(ctx, opts.dir, author.CheckOptions{NoTypes: opts.noTypes})
	if err != nil {
		return err
	}
	if opts.json {
		err = out.PrintValue(checked)
	} else {
		printFindings(out, checked)
	}
	if err != nil || checked.Errors == 0 && (checked.Warnings == 0 || !opts.strict) {
		return err
	}
	return &failure{code: exitFailed, err: fmt.Errorf("the plugin has %s: fix what is listed (`opentabs plugin check --rules` says why)", tally(checked))}
}

// tally counts what was found.
func tally(c *author.Checked) string {
	return terminal.Plural(c.Errors, "error") + ", " + terminal.Plural(c.Warnings, "warning")
}

// printFindings prints each finding with its place.
func printFindings(o *terminal.Output, c *author.Checked) {
	for _, f := range c.Findings {
		where := ""
		if f.Where != "" {
			where = "  " + terminal.SafeLine(f.Where)
		}
		o.PrintLine("%s %s%s", f.Level, f.Rule, where)
		for line := range strings.Lines(f.Text) {
			o.PrintLine("    %s", terminal.SafeLine(line))
		}
	}
	for _, what := range c.NotChecked {
		o.Notef("not checked: %s", what)
	}
	if c.Plugin != "" {
		o.Notef("%s %s: %s", c.Plugin, c.Version, tally(c))
	}
}

// printRules prints the rules that `plugin check` knows.
func printRules(o *terminal.Output, asJSON bool) error {
	if asJSON {
		return o.PrintValue(author.Rules())
	}
	for _, rule := range author.Rules() {
		o.PrintLine("%s\n    %s", rule.ID, rule.Why)
	}
	return nil
}
