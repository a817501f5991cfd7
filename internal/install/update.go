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

const maxParallelUpdates = 8

// UpdateOffer describes which newer versions of an installed plugin exist.
type UpdateOffer struct {
	storeEntry    plugin.Entry
	packageInfo   *npm.Package
	newVersion    *npm.Version
	currentPlugin *plugin.Plugin

	Name           string `json:"name"`
	Package        string `json:"package"`
	CurrentVersion string `json:"current"`
	// AllowedVersion is the version that `opentabs plugin update` would install.
	// LatestVersion is the newest version, even if VersionRange excludes it.
	AllowedVersion string `json:"wanted,omitempty"`
	LatestVersion  string `json:"latest,omitempty"`
	VersionRange   string `json:"range,omitempty"`
	Error          string `json:"error,omitempty"`
}

// IsNewer reports whether AllowedVersion is newer than the installed version.
func (o UpdateOffer) IsNewer() bool {
	return o.newVersion != nil && (o.CurrentVersion == "" || npm.Compare(o.AllowedVersion, o.CurrentVersion) > 0)
}

// HasNewerExcludedVersion reports whether a version exists that is newer than the installed
// version, but excluded by VersionRange.
func (o UpdateOffer) HasNewerExcludedVersion() bool {
	return !o.IsNewer() && o.Error == "" && npm.Compare(o.LatestVersion, o.CurrentVersion) > 0
}

// String describes in one line what an update would do.
func (o UpdateOffer) String() string {
	currentVersion, latest := terminal.SafeLine(o.CurrentVersion), terminal.SafeLine(o.LatestVersion)
	switch {
	case o.Error != "":
		return o.Name + ": " + terminal.SafeLine(o.Error)
	case o.IsNewer():
		return o.Name + " " + currentVersion + " -> " + terminal.SafeLine(o.AllowedVersion)
	case o.HasNewerExcludedVersion():
		return fmt.Sprintf("%s %s is up to date with %s; there is %s (opentabs plugin install %s@latest)", o.Name, currentVersion, terminal.SafeLine(o.VersionRange), latest, o.Package)
	}
	return o.Name + " " + currentVersion + " is up to date"
}

// FindUpdates requests the newest versions of the installed plugins with the given names from the
// registry.
// Without names, FindUpdates requests the versions of all installed plugins.
func (i *Installer) FindUpdates(ctx context.Context, names []string) ([]UpdateOffer, error) {
	storeEntries, err := i.entriesToUpdate(names)
	if err != nil {
		return nil, err
	}
	installedPlugins := map[string]*plugin.Plugin{}
	for _, installedPlugin := range i.Plugins.Set().Plugins() {
		installedPlugins[installedPlugin.Dir] = installedPlugin
	}
	updateOffers := make([]UpdateOffer, len(storeEntries))
	slots := make(chan struct{}, maxParallelUpdates)
	var wg sync.WaitGroup
	for index, e := range storeEntries {
		updateOffers[index] = UpdateOffer{storeEntry: e, currentPlugin: installedPlugins[e.Path], Name: e.Name, Package: e.Package, VersionRange: e.RequestedVersion}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			updateOffers[index].requestVersions(ctx, i.client)
		})
	}
	wg.Wait()
	return updateOffers, nil
}

func (o *UpdateOffer) requestVersions(ctx context.Context, client *npm.Client) {
	if o.currentPlugin != nil {
		o.CurrentVersion = o.currentPlugin.Version
	}
	var err error
	if o.packageInfo, err = client.Package(ctx, o.Package); err == nil {
		if newestVersion, latestTagErr := o.packageInfo.ChooseVersion(""); latestTagErr == nil {
			o.LatestVersion = newestVersion.Version
		}
		o.newVersion, err = o.packageInfo.ChooseVersion(o.VersionRange)
	}
	if err != nil {
		o.Error = err.Error()
		return
	}
	o.AllowedVersion = o.newVersion.Version
}

// Update installs the version that the UpdateOffer o offers.
func (i *Installer) Update(ctx context.Context, o UpdateOffer) (newPlugin, oldPlugin *plugin.Plugin, err error) {
	newPlugin, err = i.fetchAndInstall(ctx, o.packageInfo, o.newVersion, o.storeEntry.RequestedVersion)
	return newPlugin, o.currentPlugin, err
}

func (i *Installer) entriesToUpdate(names []string) ([]plugin.Entry, error) {
	storeEntries, err := i.Home.PluginStore().Entries()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		e := findEntry(storeEntries, name)
		installedPlugin, isLoaded := i.Plugins.Set().Plugin(name)
		switch {
		case e.Source == plugin.SourceNPM:
		case e.Path != "":
			return nil, usererr.Errorf("%s was installed from the folder %s, so update cannot install it: build it in that folder", name, e.Path)
		case isLoaded && installedPlugin.Source == plugin.SourceGlobal:
			return nil, usererr.Errorf("%s was installed with npm; run `npm install --global %s`", name, installedPlugin.Package)
		default:
			return nil, usererr.Errorf("no plugin %q was installed; see `opentabs plugin list`", name)
		}
	}
	return slices.DeleteFunc(storeEntries, func(e plugin.Entry) bool {
		return e.Source != plugin.SourceNPM || len(names) > 0 && !slices.Contains(names, e.Name) && !slices.Contains(names, e.Package)
	}), nil
}

func findEntry(storeEntries []plugin.Entry, name string) plugin.Entry {
	index := slices.IndexFunc(storeEntries, func(e plugin.Entry) bool { return e.Name == name || e.Package == name })
	if index < 0 {
		return plugin.Entry{}
	}
	return storeEntries[index]
}
