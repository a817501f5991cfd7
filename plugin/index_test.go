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
	return plugin.AdvanceIndexClockByMinute(plugin.NewStore(x.state, plugin.StoreOptions{IndexKey: []byte(x.key)}))
}

func (x *indexedPlugin) loadPlugins() (pluginSet *plugin.Set, adapterReadCount int) {
	x.t.Helper()
	registry := plugin.NewRegistry(x.store(), zerolog.Nop())
	pluginSet = reloadRegistry(x.t, registry)
	return pluginSet, plugin.CountAdapterReads(registry)
}

func (x *indexedPlugin) hashOfOnlyPlugin(pluginSet *plugin.Set) string {
	x.t.Helper()
	firstPlugin, ok := pluginSet.Plugin("a")
	if !ok {
		x.t.Fatalf("the plugin is not loaded: failed plugins %v; want none", pluginSet.Failed())
	}
	return firstPlugin.Hash
}

func (x *indexedPlugin) indexFile() string { return filepath.Join(x.state, "plugin-index") }

func TestStartSkipsIndexedAdapters(t *testing.T) {
	x := newIndexedPlugin(t)
	pluginSet, adapterReadCount := x.loadPlugins()
	if adapterReadCount != 0 {
		t.Errorf("%d adapters read after they were added, want 0", adapterReadCount)
	}
	if want, err := plugin.Load(x.dir); err != nil || x.hashOfOnlyPlugin(pluginSet) != want.Hash {
		t.Errorf("hash of the plugin = %s, want %s (error %v)", x.hashOfOnlyPlugin(pluginSet), want.Hash, err)
	}
	if fileInfo, err := os.Stat(x.indexFile()); err != nil || fileInfo.Mode().Perm() != 0o600 {
		t.Errorf("index file = %v, error %v; want the mode 0600", fileInfo, err)
	}
}

func TestIndexIsRebuilt(t *testing.T) {
	for name, damageFile := range map[string]func(x *indexedPlugin, indexContent []byte) []byte{
		"missing":   func(*indexedPlugin, []byte) []byte { return nil },
		"empty":     func(*indexedPlugin, []byte) []byte { return []byte{} },
		"truncated": func(_ *indexedPlugin, indexContent []byte) []byte { return indexContent[:len(indexContent)-20] },
		"only the first line": func(_ *indexedPlugin, indexContent []byte) []byte {
			return indexContent[:bytes.IndexByte(indexContent, '\n')+1]
		},
		"no line end": func(*indexedPlugin, []byte) []byte { return []byte("opentabs plugin index 1") },
		"other version": func(_ *indexedPlugin, indexContent []byte) []byte {
			return bytes.Replace(indexContent, []byte("index 2 "), []byte("index 3 "), 1)
		},
		"other hash": func(x *indexedPlugin, indexContent []byte) []byte {
			hash := []byte(`"hash":"`)
			hashStart := bytes.Index(indexContent, hash) + len(hash)
			indexContent[hashStart] = map[bool]byte{true: '1', false: '0'}[indexContent[hashStart] == '0']
			return indexContent
		},
		"index of another installation": func(x *indexedPlugin, indexContent []byte) []byte { x.key = "another"; return indexContent },
		"noise":                         func(*indexedPlugin, []byte) []byte { return []byte("\x00\xff\n{}") },
	} {
		t.Run(name, func(t *testing.T) {
			x := newIndexedPlugin(t)
			fileContent, err := os.ReadFile(x.indexFile())
			if err != nil {
				t.Fatal(err)
			}
			if fileContent = damageFile(x, fileContent); fileContent == nil {
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
			pluginSet, adapterReadCount := x.loadPlugins()
			if adapterReadCount != 1 || x.hashOfOnlyPlugin(pluginSet) != want.Hash {
				t.Errorf("%d adapters read, want 1; hash %s, want %s", adapterReadCount, x.hashOfOnlyPlugin(pluginSet), want.Hash)
			}
			if _, adapterReadCount := x.loadPlugins(); adapterReadCount != 0 {
				t.Errorf("%d adapters read at the next start, want 0", adapterReadCount)
			}
		})
	}
}

func TestIndexNoticesChangedAdapters(t *testing.T) {
	otherAdapter := plugintest.Adapter("a", "(()=>{globalThis.__openTabs.adapters[\"a\"]={fools:[]}})();\n")
	for name, pluginChange := range map[string]func(t *testing.T, file string, infoBefore os.FileInfo){
		"adapter file overwritten": func(t *testing.T, file string, _ os.FileInfo) { writeFile(t, file, otherAdapter) },
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
				t.Fatalf("the test's adapters have %d and %d bytes; want equal sizes", infoBefore.Size(), len(otherAdapter))
			}
			pluginSet, _ := x.loadPlugins()
			oldHash := x.hashOfOnlyPlugin(pluginSet)
			pluginChange(t, file, infoBefore)
			if pluginSet, _ = x.loadPlugins(); x.hashOfOnlyPlugin(pluginSet) == oldHash {
				t.Error("the registry did not detect the changed adapter; want another hash")
			}
		})
	}
}

func TestCodeMustMatchIndexedHash(t *testing.T) {
	x := newIndexedPlugin(t)
	registry := plugin.NewRegistry(x.store(), zerolog.Nop())
	firstPlugin, _ := reloadRegistry(t, registry).Plugin("a")
	watch := registry.Watch()
	watch.HasChanged()
	file := filepath.Join(x.dir, adapterFile)
	writeFile(t, file, plugintest.Adapter("a", "(()=>{globalThis.__openTabs.adapters[\"a\"]={fools:[]}})();\n"))
	plugin.SetIndexedHash(t, registry, x.dir, firstPlugin.Hash)
	if pluginSet := reloadRegistry(t, registry); x.hashOfOnlyPlugin(pluginSet) != firstPlugin.Hash {
		t.Fatal("the registry did not read the forged index; want the forged hash, without which this test checks nothing")
	}
	firstPlugin, _ = registry.Set().Plugin("a")
	watch.HasChanged()
	if watch.HasChanged() {
		t.Fatal("the watch reports a change although no file has changed since its previous call; want none")
	}
	if _, err := firstPlugin.Adapter(); err == nil {
		t.Fatal("Adapter returned the code of an adapter with another hash; want an error")
	}
	if watch.HasChanged(); !watch.HasChanged() {
		t.Fatal("the watch does not report the folder of the rejected adapter; want a reload")
	}
	if pluginSet := reloadRegistry(t, registry); x.hashOfOnlyPlugin(pluginSet) == firstPlugin.Hash {
		t.Error("the hash in the index still applies after the reload; want the hash of the file")
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
	if _, adapterReadCount := x.loadPlugins(); adapterReadCount != 1 {
		t.Errorf("%d adapters read, want 1, because its file was written a moment ago", adapterReadCount)
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
	pluginSet, adapterReadCount := x.loadPlugins()
	if firstPlugin, _ := pluginSet.Plugin("a"); adapterReadCount != 0 || firstPlugin == nil || !firstPlugin.StartsAfterPageScripts() {
		t.Errorf("%d adapters read, plugin %+v; want 0 adapters read and a late plugin", adapterReadCount, firstPlugin)
	}
}
