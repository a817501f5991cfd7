package plugin

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"opentabs/internal/filemark"
)

// WatchInterval is how often [Watch.Changed] should be called.
const WatchInterval = time.Second

// fileStamps are the marks of files, by path. Missing files have none.
type fileStamps map[string]filemark.Mark

func (s fileStamps) add(path string) {
	if info, err := os.Stat(path); err == nil {
		s[path] = filemark.Of(info)
	}
}

func (s fileStamps) isSame(other fileStamps) bool {
	return maps.Equal(s, other)
}

// Watch detects when a registry should reload: after a build, when a folder disappears
// or reappears, when npm or another process adds a package. Watch is for one goroutine.
type Watch struct {
	registry   *Registry
	lastStamps fileStamps
}

// Watch returns a watch on the files of the last reload.
func (r *Registry) Watch() *Watch { return &Watch{registry: r} }

// Changed reports whether the list of plugins or a file of a plugin has changed since
// the last reload. Changed waits until nothing has changed between two calls, because a
// build writes several files.
func (w *Watch) Changed() bool {
	now, loaded := w.registry.currentStamps()
	isSettled := w.lastStamps != nil && now.isSame(w.lastStamps)
	w.lastStamps = now
	return isSettled && !now.isSame(loaded)
}

// currentStamps returns the current stamps and the stamps of the last reload.
func (r *Registry) currentStamps() (now, loaded fileStamps) {
	r.mu.Lock()
	entries, folders, loaded := r.loadedEntries, r.folders, r.stamps
	r.mu.Unlock()
	now = fileStamps{}
	now.addLists(r.store.Path(), folders)
	now.addPackages(entries)
	return now, loaded
}

// addLists adds the list of plugins and the folders of npm packages.
func (s fileStamps) addLists(list string, folders []string) {
	s.add(list)
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

// addPackages adds the files of packages.
func (s fileStamps) addPackages(entries []Entry) {
	for _, e := range entries {
		for _, file := range []string{packageFile, toolsFile, adapterFile, preScriptFile} {
			s.add(filepath.Join(e.Path, filepath.FromSlash(file)))
		}
	}
}
