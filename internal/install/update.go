package install

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"opentabs/internal/npm"
	"opentabs/internal/terminal"
	"opentabs/internal/usererr"
	"opentabs/plugin"
)

// updatesAtOnce is how many packages are requested at the same time.
const updatesAtOnce = 8

// Offer is the newest version of one installed plugin.
type Offer struct {
	entry   plugin.Entry
	from    *npm.Package
	to      *npm.Version
	current *plugin.Plugin // nil if the installed plugin can't be loaded

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

// IsNewer reports whether there is something to install.
func (o Offer) IsNewer() bool {
	return o.to != nil && (o.Current == "" || npm.Compare(o.Wanted, o.Current) > 0)
}

// String returns what an update would do, as one line.
func (o Offer) String() string {
	current, latest := terminal.SafeLine(o.Current), terminal.SafeLine(o.Latest)
	switch {
	case o.Error != "":
		return o.Name + ": " + terminal.SafeLine(o.Error)
	case o.IsNewer():
		return o.Name + " " + current + " -> " + terminal.SafeLine(o.Wanted)
	case npm.Compare(o.Latest, o.Current) > 0:
		return fmt.Sprintf("%s %s is up to date with %s; there is %s (opentabs plugin install %s@latest)", o.Name, current, terminal.SafeLine(o.Want), latest, o.Package)
	}
	return o.Name + " " + current + " is up to date"
}

// Offers finds the newest versions of the installed plugins with these names, or of
// all, a few packages at a time.
func (i *Installer) Offers(ctx context.Context, names []string) ([]Offer, error) {
	entries, err := i.toUpdate(names)
	if err != nil {
		return nil, err
	}
	current := map[string]*plugin.Plugin{}
	for _, one := range i.Plugins.Set().Plugins() {
		current[one.Dir] = one
	}
	offers := make([]Offer, len(entries))
	free := make(chan struct{}, updatesAtOnce)
	var wg sync.WaitGroup
	for at, e := range entries {
		offers[at] = Offer{entry: e, current: current[e.Path], Name: e.Name, Package: e.Package, Want: e.Want}
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			offers[at].requestVersions(ctx, i.client)
		})
	}
	wg.Wait()
	return offers, nil
}

// requestVersions requests the versions of the package.
func (o *Offer) requestVersions(ctx context.Context, client *npm.Client) {
	if o.current != nil {
		o.Current = o.current.Version
	}
	var err error
	if o.from, err = client.Package(ctx, o.Package); err == nil {
		if newest, tagErr := o.from.Pick(""); tagErr == nil {
			o.Latest = newest.Version
		}
		o.to, err = o.from.Pick(o.Want)
	}
	if err != nil {
		o.Error = err.Error()
		return
	}
	o.Wanted = o.to.Version
}

// Update installs the version of an offer. before is the plugin that it replaces, nil
// if that can't be loaded.
func (i *Installer) Update(ctx context.Context, o Offer) (added, before *plugin.Plugin, err error) {
	added, err = i.fetchAndInstall(ctx, o.from, o.to, o.entry.Want)
	return added, o.current, err
}

// toUpdate returns the installed plugins of these names, or all of them.
func (i *Installer) toUpdate(names []string) ([]plugin.Entry, error) {
	entries, err := i.Home.Store().Entries()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		e := findEntry(entries, name)
		one, loaded := i.Plugins.Set().Plugin(name)
		switch {
		case e.Source == plugin.SourceNPM:
		case e.Path != "":
			return nil, usererr.Errorf("%s was added from the folder %s, so update cannot install it: build it in that folder", name, e.Path)
		case loaded && one.Source == plugin.SourceGlobal:
			return nil, usererr.Errorf("%s was installed with npm; run `npm install --global %s`", name, one.Package)
		default:
			return nil, usererr.Errorf("no plugin %q was installed; see `opentabs plugin list`", name)
		}
	}
	return slices.DeleteFunc(entries, func(e plugin.Entry) bool {
		return e.Source != plugin.SourceNPM || len(names) > 0 && !slices.Contains(names, e.Name) && !slices.Contains(names, e.Package)
	}), nil
}

// findEntry returns the entry of the plugin or package with this name, or an empty
// entry.
func findEntry(entries []plugin.Entry, name string) plugin.Entry {
	at := slices.IndexFunc(entries, func(e plugin.Entry) bool { return e.Name == name || e.Package == name })
	if at < 0 {
		return plugin.Entry{}
	}
	return entries[at]
}
