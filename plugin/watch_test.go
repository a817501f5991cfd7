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

type reloadCounter struct {
	t           *testing.T
	registry    *plugin.Registry
	watch       *plugin.Watch
	reloadCount int
}

func startWatcher(t *testing.T, r *plugin.Registry) *reloadCounter {
	w := &reloadCounter{t: t, registry: r, watch: r.Watch()}
	w.checkFiles()
	return w
}

func (w *reloadCounter) checkFiles() {
	if w.watch.HasChanged() {
		w.reloadCount++
		_ = w.registry.Reload()
	}
}

func (w *reloadCounter) checkReloadCount(stepName string, wantReloads int) {
	w.t.Helper()
	for range 3 {
		w.checkFiles()
	}
	if w.reloadCount != wantReloads {
		w.t.Errorf("%s: %d reloads, want %d", stepName, w.reloadCount, wantReloads)
	}
}

func TestWatchDetectsEveryChange(t *testing.T) {
	registry, store := plugintest.Registry(t, plugintest.Package{Name: "a", PreScript: "token()"})
	globalFolder := t.TempDir()
	registry.SetDiscoveryFolders([]string{globalFolder})
	reloadRegistry(t, registry)
	w := startWatcher(t, registry)
	w.checkReloadCount("nothing happened", 0)
	dir, n := storeEntries(t, store)[0].Path, 0
	for _, file := range []string{packageFile, toolsFile, adapterFile, preScriptFile} {
		editFile(t, dir, file, func(s string) string { return s + " " })
		n++
		w.checkReloadCount(file, n)
	}
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	n++
	w.checkReloadCount("the folder went away", n)
	if failures := registry.Set().Failed(); len(failures) != 1 || !strings.Contains(failures[0].Err.Error(), "does not exist") {
		t.Errorf("failed plugins = %v; want 1 whose folder does not exist", failures)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	n++
	w.checkReloadCount("the folder came back", n)
	addPlugin(t, store, plugintest.Package{Name: "b"}.Write(t))
	n++
	w.checkReloadCount("another process added a plugin", n)
	installGlobally(t, globalFolder, map[string]plugintest.Package{"@acme/opentabs-plugin-c": {Name: "c"}})
	n++
	w.checkReloadCount("npm installed one", n)
	installGlobally(t, globalFolder, map[string]plugintest.Package{"@acme/opentabs-plugin-d": {Name: "d"}})
	// The test sets the modification time of the folder, because a file system with a coarse
	// clock could keep the old time.
	futureTime := time.Now().Add(time.Minute)
	if err := os.Chtimes(filepath.Join(globalFolder, "@acme"), futureTime, futureTime); err != nil {
		t.Fatal(err)
	}
	n++
	w.checkReloadCount("npm installed one beside it", n)
	if got := len(registry.Set().Plugins()); got != 3 {
		t.Errorf("%d plugins, failed %v; want 3 plugins", got, registry.Set().Failed())
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(store.Path()), "other.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.checkReloadCount("what is none of its business", n)
}

func TestWatchWaitsForTheEndOfABuild(t *testing.T) {
	registry, store := plugintest.Registry(t, plugintest.Package{Name: "a"})
	w := startWatcher(t, registry)
	dir := storeEntries(t, store)[0].Path
	for range 5 {
		editFile(t, dir, adapterFile, func(s string) string { return s + " " })
		w.checkFiles()
	}
	if w.reloadCount != 0 {
		t.Errorf("%d reloads while the build wrote its files; want 0", w.reloadCount)
	}
	w.checkReloadCount("it ended", 1)
}

func TestWatchWithDamagedStore(t *testing.T) {
	registry, store := plugintest.Registry(t, plugintest.Package{Name: "a"})
	w := startWatcher(t, registry)
	if err := os.WriteFile(store.Path(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.checkReloadCount("the list is damaged", 1)
	w.checkReloadCount("the list is still damaged", 1)
}
