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

// indexed has a store with an index, and the folder of its only plugin.
type indexed struct {
	t     *testing.T
	state string
	dir   string
	key   string
}

func newIndexed(t *testing.T) *indexed {
	x := &indexed{t: t, state: t.TempDir(), key: "key"}
	x.dir = plugintest.Package{Name: "a"}.Write(t)
	if _, err := x.store().Add(x.dir); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *indexed) store() *plugin.Store {
	return plugin.LaterIndex(plugin.NewStore(x.state, plugin.StoreOptions{IndexKey: []byte(x.key)}))
}

// start loads the plugins as a starting server does, and returns how many adapters
// were read.
func (x *indexed) start() (set *plugin.Set, read int) {
	x.t.Helper()
	registry := plugin.NewRegistry(x.store(), zerolog.Nop())
	set = reloadRegistry(x.t, registry)
	return set, plugin.AdaptersRead(registry)
}

// onlyHash returns the hash of the only plugin. The test fails if there is no plugin.
func (x *indexed) onlyHash(set *plugin.Set) string {
	x.t.Helper()
	one, ok := set.Plugin("a")
	if !ok {
		x.t.Fatalf("not loaded: %v", set.Failed())
	}
	return one.Hash
}

func (x *indexed) indexFile() string { return filepath.Join(x.state, "plugin-index") }

func TestStartReadsNoAdapterThatIsIndexed(t *testing.T) {
	x := newIndexed(t)
	set, read := x.start()
	if read != 0 {
		t.Errorf("%d adapters read after they were added, want 0", read)
	}
	if want, err := plugin.Load(x.dir); err != nil || x.onlyHash(set) != want.Hash {
		t.Errorf("hash %s, want %s (%v)", x.onlyHash(set), want.Hash, err)
	}
	if info, err := os.Stat(x.indexFile()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the index: %v, %v", info, err)
	}
}

// If the index is damaged, the plugins are loaded from their folders and the index
// is rebuilt.
func TestIndexIsRebuilt(t *testing.T) {
	for name, damage := range map[string]func(x *indexed, text []byte) []byte{
		"missing":         func(*indexed, []byte) []byte { return nil },
		"empty":           func(*indexed, []byte) []byte { return []byte{} },
		"truncated":       func(_ *indexed, text []byte) []byte { return text[:len(text)-20] },
		"cut to its head": func(_ *indexed, text []byte) []byte { return text[:bytes.IndexByte(text, '\n')+1] },
		"no end of line":  func(*indexed, []byte) []byte { return []byte("opentabs plugin index 1") },
		"other version": func(_ *indexed, text []byte) []byte {
			return bytes.Replace(text, []byte("index 2 "), []byte("index 3 "), 1)
		},
		"other hash": func(x *indexed, text []byte) []byte {
			hash := []byte(`"hash":"`)
			at := bytes.Index(text, hash) + len(hash)
			text[at] = map[bool]byte{true: '1', false: '0'}[text[at] == '0']
			return text
		},
		"of another installation": func(x *indexed, text []byte) []byte { x.key = "another"; return text },
		"noise":                   func(*indexed, []byte) []byte { return []byte("\x00\xff\n{}") },
	} {
		t.Run(name, func(t *testing.T) {
			x := newIndexed(t)
			text, err := os.ReadFile(x.indexFile())
			if err != nil {
				t.Fatal(err)
			}
			if text = damage(x, text); text == nil {
				err = os.Remove(x.indexFile())
			} else {
				err = os.WriteFile(x.indexFile(), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			want, err := plugin.Load(x.dir)
			if err != nil {
				t.Fatal(err)
			}
			set, read := x.start()
			if read != 1 || x.onlyHash(set) != want.Hash {
				t.Errorf("%d adapters read, want 1; hash %s, want %s", read, x.onlyHash(set), want.Hash)
			}
			if _, read := x.start(); read != 0 {
				t.Errorf("%d adapters read at the next start, want 0", read)
			}
		})
	}
}

// A changed adapter is detected even if its size and times are those of the old
// adapter.
func TestIndexNoticesChangedAdapters(t *testing.T) {
	other := plugintest.Adapter("a", "(()=>{globalThis.__openTabs.adapters[\"a\"]={fools:[]}})();\n")
	for name, change := range map[string]func(t *testing.T, file string, before os.FileInfo){
		"written over": func(t *testing.T, file string, _ os.FileInfo) { writeFile(t, file, other) },
		"same size and time": func(t *testing.T, file string, before os.FileInfo) {
			writeFile(t, file, other)
			if err := os.Chtimes(file, before.ModTime(), before.ModTime()); err != nil {
				t.Fatal(err)
			}
		},
		"another file with the same size and time": func(t *testing.T, file string, before os.FileInfo) {
			writeFile(t, file+".new", other)
			if err := os.Chtimes(file+".new", before.ModTime(), before.ModTime()); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(file+".new", file); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newIndexed(t)
			file := filepath.Join(x.dir, adapterFile)
			before, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if before.Size() != int64(len(other)) {
				t.Fatalf("the test's adapters have %d and %d bytes", before.Size(), len(other))
			}
			set, _ := x.start()
			old := x.onlyHash(set)
			change(t, file, before)
			if set, _ = x.start(); x.onlyHash(set) == old {
				t.Error("the change was not noticed")
			}
		})
	}
}

// The hash in the index is checked against the code: code with another hash is not
// returned, and the next load reads the folder.
func TestIndexIsNotTrustedOverTheCode(t *testing.T) {
	x := newIndexed(t)
	registry := plugin.NewRegistry(x.store(), zerolog.Nop())
	one, _ := reloadRegistry(t, registry).Plugin("a")
	watch := registry.Watch()
	watch.Changed()
	file := filepath.Join(x.dir, adapterFile)
	writeFile(t, file, plugintest.Adapter("a", "(()=>{globalThis.__openTabs.adapters[\"a\"]={fools:[]}})();\n"))
	plugin.ForgeIndex(t, registry, x.dir, one.Hash)
	if set := reloadRegistry(t, registry); x.onlyHash(set) != one.Hash {
		t.Fatal("the forged index was not read: the test tests nothing")
	}
	one, _ = registry.Set().Plugin("a")
	watch.Changed()
	if watch.Changed() {
		t.Fatal("something changes by itself")
	}
	if _, err := one.Adapter(); err == nil {
		t.Fatal("the adapter has another hash, but its code was given out")
	}
	if watch.Changed(); !watch.Changed() {
		t.Fatal("the folder is not read again")
	}
	if set := reloadRegistry(t, registry); x.onlyHash(set) == one.Hash {
		t.Error("the hash in the index still counts")
	}
}

// A new file is not stored in the index: it may be written again with the same
// times.
func TestIndexLeavesOutYoungFiles(t *testing.T) {
	x := newIndexed(t)
	x.dir = plugintest.Package{Name: "b"}.Write(t)
	soon := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(x.dir, adapterFile), soon, soon); err != nil {
		t.Fatal(err)
	}
	if _, err := x.store().Add(x.dir); err != nil {
		t.Fatal(err)
	}
	if _, read := x.start(); read != 1 {
		t.Errorf("%d adapters read, want that of the young file", read)
	}
}

func writeFile(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The index stores whether an adapter starts late.
func TestIndexHasTheStart(t *testing.T) {
	x := newIndexed(t)
	plugintest.Package{Name: "a", Code: "class A { onActivate() { } }"}.WriteTo(t, x.dir)
	x.start()
	set, read := x.start()
	if one, _ := set.Plugin("a"); read != 0 || one == nil || !one.StartsLate() {
		t.Errorf("%d adapters read, plugin %+v", read, one)
	}
}
