package plugin

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/internal/jsonread"
)

// Registry loads the plugins of a [Store] and provides the loaded plugins as a [Set].
type Registry struct {
	store      *Store
	log        zerolog.Logger
	sites      func(*Plugin) []dispatch.Instance
	currentSet atomic.Pointer[Set]
	// builtins are the plugins of opentabs itself, set before the first reload.
	builtins []*Plugin

	reloadLock sync.Mutex // reloadLock is locked while plugins are loaded and listeners run

	mu            sync.Mutex // the mutex guards all fields below
	listeners     []*listener
	folders       []string
	loadedEntries []Entry
	fileStamps    fileStamps
}

// The type listener is a function that the registry runs after each reload that changes
// the set of plugins.
type listener struct{ onChange func(*Set) }

// NewRegistry returns a registry whose set of plugins is empty until [Registry.Reload].
func NewRegistry(store *Store, log zerolog.Logger) *Registry {
	r := &Registry{store: store, log: log, sites: func(*Plugin) []dispatch.Instance { return nil }}
	r.currentSet.Store(NewSet(nil, nil))
	return r
}

// SetSiteSource sets the function that returns the sites in a plugin's settings. After each Reload, a plugin runs on the
// sites that the user has set, besides its own sites. Call SetSiteSource before the first [Registry.Reload].
func (r *Registry) SetSiteSource(sites func(*Plugin) []dispatch.Instance) { r.sites = sites }

// SetDiscoveryFolders sets the folders of npm packages in which each reload searches for plugins.
// Plugins in the store take precedence over plugins in folders of npm packages.
func (r *Registry) SetDiscoveryFolders(folders []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.folders = slices.Clone(folders)
}

func (r *Registry) entriesInOrder() ([]Entry, []Failure, error) {
	r.mu.Lock()
	folders := r.folders
	r.mu.Unlock()
	stampsBeforeReload := fileStamps{} // file stamps are recorded before the reload, so that a change during the reload is detected
	stampsBeforeReload.addPluginLists(r.store.Path(), folders)
	entries, failures, err := r.store.readEntries()
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.loadedEntries, r.fileStamps = nil, stampsBeforeReload
		return nil, nil, err
	}
	addedDirs := map[string]bool{}
	for _, e := range entries {
		addedDirs[resolveLinks(e.Path)] = true
	}
	for _, e := range findGlobal(folders) {
		if !addedDirs[resolveLinks(e.Path)] {
			entries = append(entries, e)
		}
	}
	stampsBeforeReload.addPackageFiles(entries)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loadedEntries, r.fileStamps = entries, stampsBeforeReload
	return entries, failures, nil
}

// Set returns the current set of loaded plugins; never nil.
func (r *Registry) Set() *Set { return r.currentSet.Load() }

// OnChange registers a listener that runs after each reload that changes the set of plugins. Reload runs the listeners
// one after another, in the order of their registration. A listener must not call Reload. If stop is called during a
// Reload, the Reload may still run the listener.
func (r *Registry) OnChange(onChange func(*Set)) (stop func()) {
	l := &listener{onChange: onChange}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listeners = append(r.listeners, l)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.listeners = slices.DeleteFunc(r.listeners, func(otherListener *listener) bool { return otherListener == l })
	}
}

// Reload reads the store and loads every stored plugin. The new set of plugins lists each
// plugin that cannot be loaded as a failed plugin. Reload returns an error only if the store
// cannot be read; after an error, loaded plugins stay in the set. If no plugins are loaded
// and the store cannot be read, the new set of plugins lists the store itself as failed.
func (r *Registry) Reload() error {
	r.reloadLock.Lock()
	defer r.reloadLock.Unlock()
	previousSet := r.Set()
	entries, failures, err := r.entriesInOrder()
	if err != nil {
		if len(previousSet.plugins) == 0 {
			r.currentSet.Store(NewSet(nil, []Failure{{Path: r.store.Path(), Err: err}}, r.builtins...))
		}
		return err
	}
	loadedNames := r.loadAll(entries)
	for _, result := range loadedNames {
		if result.plugin != nil {
			result.plugin.addInstancePatterns(r.sites(result.plugin))
		}
	}
	var plugins []*Plugin
	for i, p := range choosePlugins(entries, loadedNames, previousSet) {
		if err := loadedNames[i].err; err != nil {
			failures = append(failures, Failure{Path: entries[i].Path, Name: entries[i].Name, Err: err})
			continue
		}
		if p != nil {
			plugins = append(plugins, p)
		}
	}
	pluginSet := NewSet(plugins, failures, r.builtins...)
	if isSameSet(previousSet, pluginSet) {
		return nil
	}
	for _, p := range plugins {
		for _, w := range p.Warnings {
			r.log.Warn().Str("plugin", p.Name).Msg(w)
		}
	}
	for _, f := range failures {
		r.log.Error().Str("plugin", f.Name).Str("path", f.Path).Err(f.Err).Msg("plugin not loaded")
	}
	r.currentSet.Store(pluginSet)
	r.notify(pluginSet)
	return nil
}

func (r *Registry) notify(pluginSet *Set) {
	r.mu.Lock()
	listeners := slices.Clone(r.listeners)
	r.mu.Unlock()
	for _, l := range listeners {
		l.onChange(pluginSet)
	}
}

// loadResult is the outcome of loading one package: a plugin or an error.
type loadResult struct {
	plugin *Plugin
	err    error
}

func (r *Registry) loadAll(entries []Entry) []loadResult {
	loadResults := make([]loadResult, len(entries))
	var nextEntryIndex atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(entries)) {
		wg.Go(func() {
			for i := int(nextEntryIndex.Add(1)) - 1; i < len(entries); i = int(nextEntryIndex.Add(1)) - 1 {
				loadResults[i].plugin, loadResults[i].err = r.loadEntry(entries[i])
			}
		})
	}
	wg.Wait()
	loadedNames := map[string]bool{}
	for _, e := range entries {
		loadedNames[e.Path] = true
	}
	if err := r.store.index.save(func(dir string) bool { return loadedNames[dir] }); err != nil {
		r.log.Debug().Err(err).Msg("the plugin index is not written, so the next start reads all adapters")
	}
	return loadResults
}

// A package that opentabs installed is rejected if its files have changed. A folder that the user added may change, but
// its new content counts as not reviewed.
func (r *Registry) loadEntry(e Entry) (*Plugin, error) {
	p, err := loadWithIndex(e.Path, r.store.index)
	if err != nil {
		return nil, err
	}
	p.Source, p.onFileChange = e.Source, func() { r.forceReload(e.Path) }
	newError := func(file, format string, args ...any) (*Plugin, error) {
		return nil, &PackageError{Dir: e.Path, Problems: []jsonread.Problem{{File: file, Text: fmt.Sprintf(format, args...)}}}
	}
	switch {
	case e.Source == SourceNPM && p.Hash != e.Hash:
		return newError(adapterFile, "changed since it was installed; reinstall it with opentabs plugin install %s@%s", e.Package, p.Version)
	case e.Source == SourceNPM && p.ManifestHash != e.Manifest:
		return newError(packageFile+" or "+toolsFile, "changed since it was installed; reinstall it with opentabs plugin install %s@%s", e.Package, p.Version)
	case e.Source == SourceGlobal && p.Package != e.Package:
		return newError(packageFile, "has the package name %q, but the folder belongs to %q; reinstall it", p.Package, e.Package)
	case p.Name != e.Name:
		return newError(packageFile, "now names the plugin %q, but it was added as %q; run opentabs plugin remove %s, then opentabs plugin install %s", p.Name, e.Name, e.Name, e.Path)
	}
	if p.ManifestHash != e.Manifest && !r.store.index.hasCompiled(e.Path, p.ManifestHash) { // the descriptions have changed since their schemas were last compiled
		if err := p.CheckSchemas(); err != nil {
			return nil, err
		}
		r.store.index.recordCompiledManifest(e.Path, p.ManifestHash)
	}
	if e.Source != SourceGlobal { // a global package is checked when a page needs its scripts
		if err := r.store.checkScripts(p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (r *Registry) forceReload(dir string) {
	r.store.index.removeEntry(dir)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fileStamps = nil
}

// If several packages have the same plugin name, choosePlugins uses only the first, even if it cannot be loaded.
func choosePlugins(entries []Entry, loadedNames []loadResult, previousSet *Set) []*Plugin {
	firstIndex := map[string]int{}
	plugins := make([]*Plugin, len(loadedNames))
	for i, e := range entries {
		if j, isDuplicateName := firstIndex[e.Name]; isDuplicateName {
			if sameNamePlugin := loadedNames[j].plugin; e.Source != SourceGlobal || sameNamePlugin == nil || sameNamePlugin.Package != e.Package {
				loadedNames[i].err = newNameClashError(entries[j], e)
			} // a global package that the user also added or installed is no conflict
			continue
		}
		firstIndex[e.Name] = i
		p := loadedNames[i].plugin
		if p == nil {
			continue
		}
		if oldPlugin, ok := previousSet.Plugin(p.Name); ok && isSamePlugin(oldPlugin, p) {
			p = oldPlugin
		}
		plugins[i] = p
	}
	return plugins
}

func isSamePlugin(a, b *Plugin) bool {
	return a.Dir == b.Dir && a.Source == b.Source && a.Hash == b.Hash && a.ManifestHash == b.ManifestHash && slices.Equal(a.Instances, b.Instances)
}

func isSameSet(a, b *Set) bool {
	return slices.Equal(a.plugins, b.plugins) && slices.EqualFunc(a.failures, b.failures, func(x, y Failure) bool {
		return x.Path == y.Path && x.Name == y.Name && x.Err.Error() == y.Err.Error()
	})
}
