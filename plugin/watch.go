package plugin

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"opentabs/internal/filemark"
)

// WatchInterval is the recommended time between two calls of [Watch.HasChanged].
const WatchInterval = time.Second

// fileStamps maps each file's path to a stamp: attributes, such as the size, that change with the
// file. fileStamps contains no stamp for a missing file.
type fileStamps map[string]filemark.Fingerprint

func (s fileStamps) add(path string) {
	if fileInfo, err := os.Stat(path); err == nil {
		s[path] = filemark.Of(fileInfo)
	}
}

func (s fileStamps) isSame(otherStamps fileStamps) bool {
	return maps.Equal(s, otherStamps)
}

// Watch detects when a registry must reload its plugins. The registry must reload after a
// build, when a plugin's folder disappears or reappears, or when another process adds a
// package. Only one goroutine may use a Watch.
type Watch struct {
	registry   *Registry
	lastStamps fileStamps
}

// Watch returns a watch that compares the plugins' files with their attributes at the
// last reload.
func (r *Registry) Watch() *Watch { return &Watch{registry: r} }

// HasChanged reports whether the list of plugins or a file of a plugin has changed since the last reload. HasChanged returns
// true only if the files are unchanged since its previous call, because a build writes several files one after another.
func (w *Watch) HasChanged() bool {
	latestStamps, loadedStamps := w.registry.currentStamps()
	isUnchanged := w.lastStamps != nil && latestStamps.isSame(w.lastStamps)
	w.lastStamps = latestStamps
	return isUnchanged && !latestStamps.isSame(loadedStamps)
}

func (r *Registry) currentStamps() (latestStamps, loadedStamps fileStamps) {
	r.mu.Lock()
	entries, folders, loadedStamps := r.loadedEntries, r.folders, r.fileStamps
	r.mu.Unlock()
	latestStamps = fileStamps{}
	latestStamps.addPluginLists(r.store.Path(), folders)
	latestStamps.addPackageFiles(entries)
	return latestStamps, loadedStamps
}

func (s fileStamps) addPluginLists(listName string, folders []string) {
	s.add(listName)
	for _, folder := range folders {
		s.add(folder)
		packageEntries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range packageEntries {
			if strings.HasPrefix(e.Name(), "@") {
				s.add(filepath.Join(folder, e.Name()))
			}
		}
	}
}

func (s fileStamps) addPackageFiles(entries []Entry) {
	for _, e := range entries {
		for _, file := range []string{packageFile, toolsFile, adapterFile, preScriptFile} {
			s.add(filepath.Join(e.Path, filepath.FromSlash(file)))
		}
	}
}
