package plugincmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/install"
	"opentabs/internal/terminal"
)

type pluginUpdateOptions struct {
	program     *cli.Program
	names       []string
	isCheckOnly bool
	json        bool
}

func newPluginUpdateCmd(p *cli.Program) *cobra.Command {
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
	cmd.Flags().BoolVar(&opts.isCheckOnly, "check", false, "only list new versions")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runPluginUpdate(ctx context.Context, opts pluginUpdateOptions) error {
	p := opts.program
	i, err := openInstaller(p)
	if err != nil {
		return err
	}
	updateOffers, err := i.FindUpdates(ctx, opts.names)
	if err != nil {
		return err
	}
	if len(updateOffers) == 0 {
		p.Out.Notef("no plugin was installed from a registry; install one with `opentabs plugin install NAME`")
	}
	if opts.isCheckOnly {
		return printUpdateOffers(p, updateOffers, opts.json)
	}
	failedCount := 0
	results := []updatedPlugin{}
	for _, o := range updateOffers {
		result, err := updatePlugin(ctx, i, o, opts)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			p.Out.Notef("%s: %v", o.Name, err)
			failedCount++
			result = updatedPlugin{Name: o.Name, Version: o.CurrentVersion, Change: changeNone, Error: err.Error()}
		}
		results = append(results, result)
	}
	if opts.json {
		if err := p.Out.PrintValue(struct {
			Plugins []updatedPlugin `json:"plugins"`
		}{results}); err != nil {
			return err
		}
	}
	if failedCount > 0 {
		return fmt.Errorf("%d of %s could not be updated; the installed version does not change", failedCount, terminal.CountNoun(len(updateOffers), "plugin"))
	}
	return nil
}

// updatedPlugin is one plugin in the output of `opentabs plugin update --json`.
type updatedPlugin struct {
	Name            string       `json:"name"`
	Version         string       `json:"version"`
	Change          pluginChange `json:"change"`
	PreviousVersion string       `json:"previous_version,omitempty"`
	Error           string       `json:"error,omitempty"`
}

func updatePlugin(ctx context.Context, i *install.Installer, o install.UpdateOffer, opts pluginUpdateOptions) (updatedPlugin, error) {
	if o.Error != "" {
		return updatedPlugin{}, errors.New(o.Error)
	}
	if !o.IsNewer() {
		if !opts.json {
			opts.program.Out.PrintLine("%s", o)
		}
		return updatedPlugin{Name: o.Name, Version: o.CurrentVersion, Change: changeNone}, nil
	}
	newPlugin, oldPlugin, err := i.Update(ctx, o)
	if err != nil {
		return updatedPlugin{}, err
	}
	result, err := finishInstall(ctx, opts.program, i, newPlugin, oldPlugin, "", opts.json)
	return updatedPlugin{Name: result.Name, Version: result.Version, Change: result.Change, PreviousVersion: result.PreviousVersion}, err
}

func printUpdateOffers(p *cli.Program, updateOffers []install.UpdateOffer, asJSON bool) error {
	if asJSON {
		return p.Out.PrintValue(struct {
			Plugins []install.UpdateOffer `json:"plugins"`
		}{updateOffers})
	}
	var problems []string
	for _, o := range updateOffers {
		if o.Error != "" {
			problems = append(problems, o.String())
			continue
		}
		p.Out.PrintLine("%s", o)
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}
