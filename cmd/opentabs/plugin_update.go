package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/install"
	"opentabs/internal/terminal"
)

type pluginUpdateOptions struct {
	program *program
	names   []string
	check   bool
	json    bool
}

func newPluginUpdateCmd(p *program) *cobra.Command {
	opts := pluginUpdateOptions{program: p}
	cmd := &cobra.Command{
		Use:   "update [NAME...]",
		Short: "Update installed plugins",
		Long: `Update the plugins that were installed from a registry to their newest versions,
each within the range that it was installed with: slack@1.2.0 stays at that
version. An updated plugin does not run until you review it again.`,
		Example: "  opentabs plugin update --check\n  opentabs plugin update slack",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.names = args
			return runPluginUpdate(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.check, "check", false, "only list new versions")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON (only with --check)")
	return cmd
}

func runPluginUpdate(ctx context.Context, opts pluginUpdateOptions) error {
	p := opts.program
	if opts.json && !opts.check {
		return newUsageError("--json works only with --check: add --check, or remove --json")
	}
	i, err := p.openInstaller()
	if err != nil {
		return err
	}
	offers, err := i.FindUpdates(ctx, opts.names)
	if err != nil {
		return err
	}
	if len(offers) == 0 {
		p.out.Notef("no plugin was installed from a registry; install one with `opentabs plugin install NAME`")
	}
	if opts.check {
		return p.showOffers(offers, opts.json)
	}
	failed := 0
	for _, o := range offers {
		switch {
		case o.Error != "":
			p.out.Notef("%s: %s", o.Name, o.Error)
			failed++
		case !o.IsNewer():
			p.out.PrintLine("%s", o)
		default:
			newPlugin, oldPlugin, err := i.Update(ctx, o)
			if err == nil {
				err = p.finishInstall(ctx, i, newPlugin, oldPlugin, "")
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				p.out.Notef("%s: %v", o.Name, err)
				failed++
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s could not be updated; the installed version does not change", failed, terminal.Plural(len(offers), "plugin"))
	}
	return nil
}

// showOffers prints the new versions, and returns the errors of registries.
func (p *program) showOffers(offers []install.UpdateOffer, asJSON bool) error {
	if asJSON {
		return p.out.PrintValue(struct {
			Plugins []install.UpdateOffer `json:"plugins"`
		}{offers})
	}
	var problems []string
	for _, o := range offers {
		if o.Error != "" {
			problems = append(problems, o.String())
			continue
		}
		p.out.PrintLine("%s", o)
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}
