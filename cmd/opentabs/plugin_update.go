package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"opentabs/internal/npm"
	"opentabs/internal/terminal"
	"opentabs/plugin"
)

// updatesAtOnce is how many packages are requested at the same time.
const updatesAtOnce = 8

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

// offer is the newest version of one installed plugin.
type offer struct {
	entry plugin.Entry
	from  *npm.Package
	to    *npm.Version

	Name    string `json:"name"`
	Package string `json:"package"`
	Current string `json:"current"`
	// Wanted is the version that update would install, Latest the newest version,
	// even outside of the allowed range.
	Wanted string `json:"wanted,omitempty"`
	Latest string `json:"latest,omitempty"`
	Want   string `json:"range,omitempty"`
	Error  string `json:"error,omitempty"`
}

// isNewer reports whether there is something to install.
func (o offer) isNewer() bool {
	return o.to != nil && (o.Current == "" || npm.Compare(o.Wanted, o.Current) > 0)
}

func runPluginUpdate(ctx context.Context, opts pluginUpdateOptions) error {
	p := opts.program
	if opts.json && !opts.check {
		return usage("--json works only with --check: add --check, or remove --json")
	}
	i, err := p.openInstaller()
	if err != nil {
		return err
	}
	entries, err := p.toUpdate(i.plugins.Set(), opts.names, func() ([]plugin.Entry, error) { return i.home.Store().Entries() })
	if err != nil {
		return err
	}
	current := map[string]*plugin.Plugin{}
	for _, one := range i.plugins.Set().Plugins() {
		current[one.Dir] = one
	}
	offers := findOffers(ctx, i.Client, entries, current)
	if opts.check {
		return p.showOffers(offers, opts.json)
	}
	failed := 0
	for _, o := range offers {
		switch {
		case o.Error != "":
			p.out.Notef("%s: %s", o.Name, o.Error)
			failed++
		case !o.isNewer():
			p.out.PrintLine("%s", upToDateText(o))
		default:
			added, err := p.fetchPackage(ctx, i.Installer, o.from, o.to, o.entry.Want)
			if err == nil {
				err = p.finishInstall(ctx, i, added, current[o.entry.Path], "")
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
		return &failure{code: exitFailed, err: fmt.Errorf("%d of %s could not be updated; the installed version does not change", failed, terminal.Plural(len(offers), "plugin"))}
	}
	return nil
}

// toUpdate returns the installed plugins of these names, or all of them.
func (p *program) toUpdate(set *plugin.Set, names []string, list func() ([]plugin.Entry, error)) ([]plugin.Entry, error) {
	entries, err := list()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		at := slices.IndexFunc(entries, func(e plugin.Entry) bool { return e.Name == name || e.Package == name })
		one, global := set.Plugin(name)
		switch {
		case at >= 0 && entries[at].Source == plugin.SourceNPM:
		case at >= 0:
			return nil, usage("%s was added from the folder %s, so update cannot install it: build it in that folder", name, entries[at].Path)
		case global && one.Source == plugin.SourceGlobal:
			return nil, usage("%s was installed with npm; run `npm install --global %s`", name, one.Package)
		default:
			return nil, usage("no plugin %q was installed; see `opentabs plugin list`", name)
		}
	}
	entries = slices.DeleteFunc(entries, func(e plugin.Entry) bool {
		return e.Source != plugin.SourceNPM || len(names) > 0 && !slices.Contains(names, e.Name) && !slices.Contains(names, e.Package)
	})
	if len(entries) == 0 {
		p.out.Notef("no plugin was installed from a registry; install one with `opentabs plugin install NAME`")
	}
	return entries, nil
}

// findOffers finds the newest versions in the registries, a few packages at a time.
func findOffers(ctx context.Context, client *npm.Client, entries []plugin.Entry, current map[string]*plugin.Plugin) []offer {
	offers := make([]offer, len(entries))
	free := make(chan struct{}, updatesAtOnce)
	var wg sync.WaitGroup
	for at, e := range entries {
		o := &offers[at]
		*o = offer{entry: e, Name: e.Name, Package: e.Package, Want: e.Want}
		if one := current[e.Path]; one != nil { // absent if it can't be loaded
			o.Current = one.Version
		}
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			var err error
			if o.from, err = client.Package(ctx, e.Package); err == nil {
				if newest, tagErr := o.from.Pick(""); tagErr == nil {
					o.Latest = newest.Version
				}
				o.to, err = o.from.Pick(e.Want)
			}
			if err != nil {
				o.Error = err.Error()
				return
			}
			o.Wanted = o.to.Version
		})
	}
	wg.Wait()
	return offers
}

// upToDateText returns why there is nothing to install.
func upToDateText(o offer) string {
	text := fmt.Sprintf("%s %s is up to date", o.Name, terminal.SafeLine(o.Current))
	if npm.Compare(o.Latest, o.Current) > 0 {
		text += fmt.Sprintf(" with %s; there is %s (opentabs plugin install %s@%s)", terminal.SafeLine(o.Want), terminal.SafeLine(o.Latest), o.Package, latestTag)
	}
	return text
}

// latestTag is the tag of the version that a registry returns by default.
const latestTag = "latest"

func (p *program) showOffers(offers []offer, asJSON bool) error {
	if asJSON {
		if offers == nil {
			offers = []offer{}
		}
		return p.out.PrintValue(struct {
			Plugins []offer `json:"plugins"`
		}{offers})
	}
	var problems []string
	for _, o := range offers {
		switch {
		case o.Error != "":
			problems = append(problems, o.Name+": "+terminal.SafeLine(o.Error))
		case o.isNewer():
			p.out.PrintLine("%s %s -> %s", o.Name, terminal.SafeLine(o.Current), terminal.SafeLine(o.Wanted))
		default:
			p.out.PrintLine("%s", upToDateText(o))
		}
	}
	if len(problems) > 0 {
		return &failure{code: exitFailed, err: fmt.Errorf("%s", strings.Join(problems, "\n"))}
	}
	return nil
}
