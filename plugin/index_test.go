package plugin_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

type indexedPlugin struct {
	t     *testing.T
	state string
	dir   string
	key   string
}

func newIndexedPlugin(t *testing.T) *indexedPlugin {
	x := &indexedPlugin{t: t, state: t.TempDir(), key: "key"}
	x.dir = plugintest.Package{Name: "a"}.Write(t)
	if _, err := x.store().Add(x.dir); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *indexedPlugin) store() *plugin.Store {
	return plugin.AdvanceIndexClock(plugin.NewStore(x.state, plugin.StoreOptions{IndexKey: []byte(x.key)}))
}

func (x *indexedPlugin) loadPlugins() (pluginSet *plugin.Set, adaptersRead int) {
	x.t.Helper()
	registry := plugin.NewRegistry(x.store(), zerolog.Nop())
	pluginSet = reloadRegistry(x.t, registry)
	return pluginSet, plugin.CountAdapterReads(registry)
}

func (x *indexedPlugin) hashOfOnlyPlugin(pluginSet *plugin.Set) string {
	x.t.Helper()
	firstPlugin, ok := pluginSet.Plugin("a")
	if !ok {
		x.t.Fatalf("not loaded: %v", pluginSet.Failed())
	}
	return firstPlugin.Hash
}

func (x *indexedPlugin) indexFile() string { return filepath.Join(x.state, "plugin-index") }

func TestStartReadsNoAdapterThatIsIndexed(t *testing.T) {
	x := newIndexedPlugin(t)
	pluginSet, adaptersRead := x.loadPlugins()
	if adaptersRead != 0 {
		t.Errorf("%d adapters read after they were added, want 0", adaptersRead)
	}
	if want, err := plugin.Load(x.dir); err != nil || x.hashOfOnlyPlugin(pluginSet) != want.Hash {
		t.Errorf("hash %s, want %s (%v)", x.hashOfOnlyPlugin(pluginSet), want.Hash, err)
	}
	if fileInfo, err := os.Stat(x.indexFile()); err != nil || fileInfo.Mode().Perm() != 0o600 {
		t.Errorf("the index: %v, %v", fileInfo, err)
	}
}

func TestIndexIsRebuilt(t *testing.T) {
	for name, damage := range map[string]func(x *indexedPlugin, indexContent []byte) []byte{
		"missing":   func(*indexedPlugin, []byte) []byte { return nil },
		"empty":     func(*indexedPlugin, []byte) []byte { return []byte{} },
		"truncated": func(_ *indexedPlugin, indexContent []byte) []byte { return indexContent[:len(indexContent)-20] },
		"cut to its head": func(_ *indexedPlugin, indexContent []byte) []byte {
			return indexContent[:bytes.IndexByte(indexContent, '\n')+1]
		},
		"no end of line": func(*indexedPlugin, []byte) []byte { return []byte("opentabs plugin index 1") },
		"other version": func(_ *indexedPlugin, indexContent []byte) []byte {
			return bytes.Replace(indexContent, []byte("index 2 "), []byte("index 3 "), 1)
		},
		"other hash": func(x *indexedPlugin, indexContent []byte) []byte {
			hash := []byte(`"hash":"`)
			hashStart := bytes.Index(indexContent, hash) + len(hash)
			indexContent[hashStart] = map[bool]byte{true: '1', false: '0'}[indexContent[hashStart] == '0']
			return indexContent
		},
		"of another installation": func(x *indexedPlugin, indexContent []byte) []byte { x.key = "another"; return indexContent },
		"noise":                   func(*indexedPlugin, []byte) []byte { return []byte("\x00\xff\n{}") },
	} {
		t.Run(name, func(t *testing.T) {
			x := newIndexedPlugin(t)
			fileContent, err := os.ReadFile(x.indexFile())
			if err != nil {
				t.Fatal(err)
			}
			if fileContent = damage(x, fileContent); fileContent == nil {
				err = os.Remove(x.indexFile())
			} else {
				err = os.WriteFile(x.indexFile(), fileContent, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			want, err := plugin.Load(x.dir)
			if err != nil {
				t.Fatal(err)
			}
			pluginSet, adaptersRead := x.loadPlugins()
			if adaptersRead != 1 || x.hashOfOnlyPlugin(pluginSet) != want.Hash {
				t.Errorf("%d adapters read, want 1; hash %s, want %s", adaptersRead, x.hashOfOnlyPlugin(pluginSet), want.Hash)
			}
			if _, adaptersRead := x.loadPlugins(); adaptersRead != 0 {
				t.Errorf("%d adapters read at the next start, want 0", adaptersRead)
			}
		})
	}
}

func TestIndexNoticesChangedAdapters(t *testing.T) {
	otherAdapter := plugintest.Adapter("a", "(()=>{globalThis.__openTabs.adapters[\"a\"]={fools:[]}})();\n")
	for name, pluginChange := range map[string]func(t *testing.T, file string, infoBefore os.FileInfo){
		"written over": func(t *testing.T, file string, _ os.FileInfo) { writeFile(t, file, otherAdapter) },
		"same size and time": func(t *testing.T, file string, infoBefore os.FileInfo) {
			writeFile(t, file, otherAdapter)
			if err := os.Chtimes(file, infoBefore.ModTime(), infoBefore.ModTime()); err != nil {
				t.Fatal(err)
			}
		},
		"another file with the same size and time": func(t *testing.T, file string, infoBefore os.FileInfo) {
			writeFile(t, file+".new", otherAdapter)
			if err := os.Chtimes(file+".new", infoBefore.ModTime(), infoBefore.ModTime()); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(file+".new", file); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newIndexedPlugin(t)
			file := filepath.Join(x.dir, adapterFile)
			infoBefore, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if infoBefore.Size() != int64(len(otherAdapter)) {
				t.Fatalf("the test's adapters have %d and %d bytes", infoBefore.Size(), len(otherAdapter))
			}
			pluginSet, _ := x.loadPlugins()
			oldHash := x.hashOfOnlyPlugin(pluginSet)
			pluginChange(t, file, infoBefore)
			if pluginSet, _ = x.loadPlugins(); x.hashOfOnlyPlugin(pluginSet) == oldHash {
				t.Error("the change was not noticed")
			}
		})
	}
}

func TestCodeMustMatchIndexedHash(t *testing.T) {
	x := newIndexedPlugin(t)
	registry := plugin.NewRegistry(x.store(), zerolog.Nop())
	firstPlugin, _ := reloadRegistry(t, registry).Plugin("a")
	watch := registry.Watch()
	watch.Changed()
	file := filepath.Join(x.dir, adapterFile)
	writeFile(t, file, plugintest.Adapter("a", "(()=>{globalThis.__openTabs.adapters[\"a\"]={fools:[]}})();\n"))
	plugin.ForgeIndexedHash(t, registry, x.dir, firstPlugin.Hash)
	if pluginSet := reloadRegistry(t, registry); x.hashOfOnlyPlugin(pluginSet) != firstPlugin.Hash {
		t.Fatal("the forged index was not read: the test tests nothing")
	}
	firstPlugin, _ = registry.Set().Plugin("a")
	watch.Changed()
	if watch.Changed() {
		t.Fatal("something changes by itself")
	}
	if _, err := firstPlugin.Adapter(); err == nil {
		t.Fatal("the adapter has another hash, but its code was given out")
	}
	if watch.Changed(); !watch.Changed() {
		t.Fatal("the folder is not read again")
	}
	if pluginSet := reloadRegistry(t, registry); x.hashOfOnlyPlugin(pluginSet) == firstPlugin.Hash {
		t.Error("the hash in the index still counts")
	}
}

func TestIndexOmitsJustWrittenFiles(t *testing.T) {
	x := newIndexedPlugin(t)
	x.dir = plugintest.Package{Name: "b"}.Write(t)
	futureTime := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(x.dir, adapterFile), futureTime, futureTime); err != nil {
		t.Fatal(err)
	}
	if _, err := x.store().Add(x.dir); err != nil {
		t.Fatal(err)
	}
	if _, adaptersRead := x.loadPlugins(); adaptersRead != 1 {
		t.Errorf("%d adapters read, want that of the young file", adaptersRead)
	}
}

func writeFile(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestIndexStoresStartTime(t *testing.T) {
	x := newIndexedPlugin(t)
	plugintest.Package{Name: "a", Code: "class A { onActivate() { } }"}.WriteTo(t, x.dir)
	x.loadPlugins()
	pluginSet, adaptersRead := x.loadPlugins()
	if firstPlugin, _ := pluginSet.Plugin("a"); adaptersRead != 0 || firstPlugin == nil || !firstPlugin.StartsLate() {
		t.Errorf("%d adapters read, plugin %+v", adaptersRead, firstPlugin)
	}
}
