package plugin

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// WatchInterval is how often [Watch.Changed] should be called.
const WatchInterval = time.Second

// stamps are what files look like from outside, by path. Those that are not there
// have none.
type stamps map[string]fileMark

func (s stamps) add(path string) {
	if info, err := os.Stat(path); err == nil {
		s[path] = markOf(info)
	}
}

func (s stamps) same(other stamps) bool {
	return maps.Equal(s, other)
}

// Watch tells whether a registry should reload: after a build, when a folder goes
// away or comes back, when npm or another process has added one. It is for one
// goroutine.
type Watch struct {
	registry *Registry
	before   stamps
}

// Watch begins to watch what the last reload was about.
func (r *Registry) Watch() *Watch { return &Watch{registry: r} }

// Changed reports whether the list of plugins, or a file of one of them, is not
// what the last reload saw, and has not changed since the last time it was called:
// a build writes several files.
func (w *Watch) Changed() bool {
	now, loaded := w.registry.looks()
	settled := w.before != nil && now.same(w.before)
	w.before = now
	return settled && !now.same(loaded)
}

// looks returns what everything looks like now, and what the last reload saw.
func (r *Registry) looks() (now, loaded stamps) {
	r.mu.Lock()
	entries, folders, loaded := r.loaded, r.folders, r.stamps
	r.mu.Unlock()
	now = stamps{}
	now.addLists(r.store.Path(), folders)
	now.addPackages(entries)
	return now, loaded
}

// addLists stamps what says which packages there are.
func (s stamps) addLists(list string, folders []string) {
	s.add(list)
	for _, folder := range folders {
		s.add(folder)
		inside, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range inside {
			if strings.HasPrefix(e.Name(), "@") {
				s.add(filepath.Join(folder, e.Name()))
			}
		}
	}
}

func (s stamps) addPackages(entries []Entry) {
	for _, e := range entries {
		for _, file := range []string{packageFile, toolsFile, adapterFile, preScriptFile} {
			s.add(filepath.Join(e.Path, filepath.FromSlash(file)))
		}
	}
}
