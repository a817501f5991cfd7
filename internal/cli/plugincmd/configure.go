package plugincmd

import (
	"context"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/httpapi"
	"opentabs/internal/settingsform"
)

type configureOptions struct {
	program *cli.Program
	name    string
	changes settingsform.Arguments
	json    bool
}

func newPluginConfigureCmd(p *cli.Program) *cobra.Command {
	opts := configureOptions{program: p}
	cmd := &cobra.Command{
		Use:   "configure NAME [KEY=VALUE...]",
		Short: "Show or change the settings of a plugin",
		Long: `Show or change the settings of a plugin, which its tools read in the page. On a
terminal and without other arguments, the command asks for each setting.

KEY=- reads the value from stdin, which keeps a secret out of the shell's
history. A setting of type url can have several URLs by name: KEY.INSTANCE=URL,
or --instance NAME=URL for a plugin with one such setting. The plugin then also
runs on these sites.

Changes apply at once, also in open pages.`,
		Example: `  opentabs plugin configure wiki
  opentabs plugin configure wiki --instance work=https://w.example.com size=20
  pass show wiki | opentabs plugin configure wiki apiToken=-
  opentabs plugin configure wiki --unset size`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.NewUsageError("the name of a plugin is missing: run `opentabs plugin configure NAME`, or `opentabs help plugin configure`")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.name, opts.changes.Assignments = args[0], args[1:]
			return runConfigure(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringArrayVar(&opts.changes.Unset, "unset", nil, "remove the setting `KEY`; KEY.INSTANCE removes one URL")
	cmd.Flags().StringArrayVar(&opts.changes.Instances, "instance", nil, "set the URL of an instance: `NAME=URL`")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runConfigure(ctx context.Context, opts configureOptions) error {
	p := opts.program
	policyAccess, err := p.OpenPolicy(ctx)
	if err != nil {
		return err
	}
	views, err := policyAccess.Settings(opts.name)
	if err != nil {
		return cli.AsUsageError(err)
	}
	form := settingsform.New(opts.name, views)
	hasChanges := !opts.changes.IsEmpty()
	if hasChanges {
		if err := form.Apply(opts.changes, p.In); err != nil {
			return err
		}
	} else if q := p.Out.NewQuestionReader(p.In); q != nil && !opts.json && len(views) > 0 {
		if err := form.PromptValues(func(question string, secret bool) (string, error) { return q.Ask(ctx, question, secret) }, p.Out.Notef); err != nil {
			return err
		}
		hasChanges = true
	}
	if len(form.Changes) > 0 {
		if err := policyAccess.ChangeSettings(opts.name, form.Changes, httpapi.CommandLine); err != nil {
			return cli.NewUsageError("%v; nothing has changed", err)
		}
		if views, err = policyAccess.Settings(opts.name); err != nil {
			return cli.AsUsageError(err)
		}
	}
	switch {
	case opts.json:
		return p.Out.PrintValue(views)
	case len(views) == 0:
		p.Out.Notef("the plugin %s has no settings", opts.name)
	case hasChanges:
		for _, line := range form.Summary(views) {
			p.Out.Notef("%s", line)
		}
	default:
		p.Out.PrintTable("", settingsform.Rows(views))
	}
	return nil
}
