package plugin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

// watcher counts the reloads.
type watcher struct {
	t        *testing.T
	registry *plugin.Registry
	watch    *plugin.Watch
	reloads  int
}

func watch(t *testing.T, r *plugin.Registry) *watcher {
	w := &watcher{t: t, registry: r, watch: r.Watch()}
	w.look()
	return w
}

func (w *watcher) look() {
	if w.watch.Changed() {
		w.reloads++
		// A damaged list returns an error each time.
		_ = w.registry.Reload()
	}
}

func (w *watcher) want(what string, reloads int) {
	w.t.Helper()
	for range 3 {
		w.look()
	}
	if w.reloads != reloads {
		w.t.Errorf("%s: loaded %d times, want %d", what, w.reloads, reloads)
	}
}

// Changes are detected without file system events, also changes of a pre-script.
func TestWatchSeesEveryChange(t *testing.T) {
	registry, store := plugintest.Registry(t, plugintest.Package{Name: "a", PreScript: "token()"})
	global := t.TempDir()
	registry.DiscoverIn([]string{global})
	reload(t, registry)
	w := watch(t, registry)
	w.want("nothing happened", 0)
	dir, n := entries(t, store)[0].Path, 0
	for _, file := range []string{packageFile, toolsFile, adapterFile, preScriptFile} {
		edit(t, dir, file, func(s string) string { return s + " " })
		n++
		w.want(file, n)
	}
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	n++
	w.want("the folder went away", n)
	if failed := registry.Set().Failed(); len(failed) != 1 || !strings.Contains(failed[0].Err.Error(), "does not exist") {
		t.Errorf("failed %v", failed)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	n++
	w.want("the folder came back", n)
	add(t, store, plugintest.Package{Name: "b"}.Write(t))
	n++
	w.want("another process added one", n)
	installGlobally(t, global, map[string]plugintest.Package{"@acme/opentabs-plugin-c": {Name: "c"}})
	n++
	w.want("npm installed one", n)
	installGlobally(t, global, map[string]plugintest.Package{"@acme/opentabs-plugin-d": {Name: "d"}})
	// Folders keep their size, and their times may not change on a disk with a
	// coarse clock.
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(filepath.Join(global, "@acme"), later, later); err != nil {
		t.Fatal(err)
	}
	n++
	w.want("npm installed one beside it", n)
	if got := len(registry.Set().Plugins()); got != 3 {
		t.Errorf("%d plugins, failed %v", got, registry.Set().Failed())
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(store.Path()), "other.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.want("what is none of its business", n)
}

// A build writes several files. An unfinished build is not loaded.
func TestWatchWaitsForTheEndOfABuild(t *testing.T) {
	registry, store := plugintest.Registry(t, plugintest.Package{Name: "a"})
	w := watch(t, registry)
	dir := entries(t, store)[0].Path
	for range 5 {
		edit(t, dir, adapterFile, func(s string) string { return s + " " })
		w.look()
	}
	if w.reloads != 0 {
		t.Errorf("loaded %d times while it was written", w.reloads)
	}
	w.want("it ended", 1)
}

// An unreadable list is not read again until it changes.
func TestWatchWithADamagedList(t *testing.T) {
	registry, store := plugintest.Registry(t, plugintest.Package{Name: "a"})
	w := watch(t, registry)
	if err := os.WriteFile(store.Path(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.want("it is damaged", 1)
	w.want("it still is", 1)
}
