package plugin_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/statefile"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

// Tests set addPackagesVariable to start several processes that add packages.
const addPackagesVariable = "OPENTABS_TEST_ADD"

// The last process waits until all others have written their entries.
const longLockWait = 5 * time.Minute

func TestMain(m *testing.M) {
	paths := filepath.SplitList(os.Getenv(addPackagesVariable))
	if len(paths) == 0 {
		os.Exit(m.Run())
	}
	store := plugin.NewStore(paths[0], plugin.StoreOptions{LockWait: longLockWait})
	for _, path := range paths[1:] {
		if _, err := store.Add(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func addPlugin(t testing.TB, store *plugin.Store, dir string) *plugin.Plugin {
	t.Helper()
	p, err := store.Add(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func storeEntries(t testing.TB, store *plugin.Store) []plugin.Entry {
	t.Helper()
	storeEntries, err := store.Entries()
	if err != nil {
		t.Fatal(err)
	}
	return storeEntries
}

func entryNames(storeEntries []plugin.Entry) string {
	var names []string
	for _, e := range storeEntries {
		names = append(names, e.Name)
	}
	return strings.Join(names, " ")
}

func TestStoreAdds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	store := plugin.NewStore(dir, plugin.StoreOptions{})
	if entries := storeEntries(t, store); len(entries) != 0 {
		t.Fatalf("entries of a new store = %v; want none", entries)
	}
	startTime := time.Now().Add(-time.Second)
	p := addPlugin(t, store, plugintest.Package{Name: "b"}.Write(t))
	addPlugin(t, store, plugintest.Package{Name: "a"}.Write(t))
	entries := storeEntries(t, store)
	if entryNames(entries) != "b a" {
		t.Fatalf("entries %s, want them in the order they were added", entryNames(entries))
	}
	e := entries[0]
	if e.Path != p.Dir || e.Hash != p.Hash || e.Manifest != p.ManifestHash || e.AddedAt.Before(startTime) || e.AddedAt.After(time.Now()) {
		t.Errorf("entry = %+v; want the path, the hashes and the current time", e)
	}
	var doc struct {
		Version int
		Plugins []map[string]string
	}
	storeContent, err := os.ReadFile(store.Path())
	if err := errors.Join(err, json.Unmarshal(storeContent, &doc)); err != nil {
		t.Fatal(err)
	}
	if doc.Version != 1 || doc.Plugins[0]["path"] != p.Dir || doc.Plugins[0]["hash"] != p.Hash {
		t.Errorf("plugins.json =\n%s\nwant version 1, the path and the hash", storeContent)
	}
	for path, mode := range map[string]os.FileMode{dir: 0o700, store.Path(): 0o600} {
		fileInfo, err := os.Stat(path)
		if err != nil || fileInfo.Mode().Perm() != mode {
			t.Errorf("mode of %s = %v, error %v; want %v", path, fileInfo.Mode(), err, mode)
		}
	}
	leftoverFiles, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
	if err != nil || len(leftoverFiles) > 0 {
		t.Errorf("temporary files after the change = %v, error %v; want none", leftoverFiles, err)
	}
}

func TestStoreAddRejectsInvalidPlugins(t *testing.T) {
	store := plugin.NewStore(t.TempDir(), plugin.StoreOptions{CheckCode: func(code []byte) error {
		if bytes.Contains(code, []byte("evil")) {
			return errors.New("line 1: unexpected }")
		}
		return nil
	}})
	firstDir := plugintest.Package{Name: "a"}.Write(t)
	addPlugin(t, store, firstDir)
	contentBefore, err := os.ReadFile(store.Path())
	if err != nil {
		t.Fatal(err)
	}
	for dir, problemText := range map[string]string{
		t.TempDir(): "package.json: is missing",
		plugintest.Package{Name: "b", Code: "}evil({"}.Write(t): "adapter.iife.js: is not one complete script: line 1: unexpected }; build the plugin again",
		plugintest.Package{Name: "a"}.Write(t):                  `the plugin name "a" is taken by ` + firstDir + "; run opentabs plugin remove a first",
	} {
		_, err := store.Add(dir)
		if err == nil || !strings.Contains(err.Error(), problemText) {
			t.Errorf("error of Add = %v, want %q", err, problemText)
		}
	}
	if contentAfter, err := os.ReadFile(store.Path()); err != nil || !bytes.Equal(contentBefore, contentAfter) {
		t.Errorf("plugins.json after a failed change = %s, error %v; want the same content", contentAfter, err)
	}
}

func TestStoreAddsAFolderOnce(t *testing.T) {
	store := plugin.NewStore(t.TempDir(), plugin.StoreOptions{})
	dir := plugintest.Package{Name: "a"}.Write(t)
	oldEntry := addPlugin(t, store, dir)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	addPlugin(t, store, link)
	plugintest.Package{Name: "a", Code: "new()"}.WriteTo(t, dir)
	replacedEntry := addPlugin(t, store, dir+"/./")
	if entries := storeEntries(t, store); len(entries) != 1 || entries[0].Hash != replacedEntry.Hash || replacedEntry.Hash == oldEntry.Hash {
		t.Errorf("entries = %+v; want 1 with the new hash", entries)
	}
	plugintest.Package{Name: "b"}.WriteTo(t, dir)
	addPlugin(t, store, dir)
	if entries := storeEntries(t, store); entryNames(entries) != "b" {
		t.Errorf("entries = %+v; want only %q", entries, "b")
	}
}

func TestStoreRemoves(t *testing.T) {
	store := plugin.NewStore(t.TempDir(), plugin.StoreOptions{})
	if err := store.Remove("a"); err == nil || !strings.Contains(err.Error(), "there are no plugins; run opentabs plugin install NAME") {
		t.Errorf("Remove from an empty store: error %v; want the command that installs a plugin", err)
	}
	dir := plugintest.Package{Name: "a"}.Write(t)
	addPlugin(t, store, dir)
	addPlugin(t, store, plugintest.Package{Name: "b"}.Write(t))
	for _, name := range []string{"c", ""} {
		if err := store.Remove(name); err == nil || !strings.Contains(err.Error(), "name one of a, b") {
			t.Errorf("error of Remove(%q) = %v; want an error that contains %q", name, err, "name one of a, b")
		}
	}
	if err := store.Remove("a"); err != nil || entryNames(storeEntries(t, store)) != "b" {
		t.Errorf("Remove: error %v, remaining entries %v; want only b", err, storeEntries(t, store))
	}
	if _, err := plugin.Load(dir); err != nil {
		t.Errorf("Load of the removed plugin's folder: error %v; want the folder unchanged", err)
	}
}

func TestStoreKeepsUnknownMembers(t *testing.T) {
	dir := t.TempDir()
	store := plugin.NewStore(dir, plugin.StoreOptions{})
	addPlugin(t, store, plugintest.Package{Name: "a"}.Write(t))
	editFile(t, dir, "plugins.json", newReplaceEdit(`"version": 1`, `"future": {"deep":[1.50,9007199254740993]}, "version": 1`))
	editFile(t, dir, "plugins.json", newReplaceEdit(`"name": "a"`, `"note": "<mine>", "name": "a"`))
	secondPath := storeEntries(t, store)[0].Path
	addPlugin(t, store, secondPath)
	addPlugin(t, store, plugintest.Package{Name: "b"}.Write(t))
	if err := store.Remove("b"); err != nil {
		t.Fatal(err)
	}
	storeContent, err := os.ReadFile(store.Path())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1.50", "9007199254740993", `"note": "<mine>"`} {
		if !bytes.Contains(storeContent, []byte(want)) {
			t.Errorf("plugins.json lacks the text %s, want it kept:\n%s", want, storeContent)
		}
	}
}

func TestStoreRenamesDamagedLists(t *testing.T) {
	for i, damagedText := range []string{``, `{"version":1,"plugins":[`, `[]`, `null`, `{"plugins":[]}`, `{"version":1,"plugins":{}}`, `{"version":"1"}`} {
		dir := t.TempDir()
		var reportedProblemTexts strings.Builder
		store := plugin.NewStore(dir, plugin.StoreOptions{WarnUser: func(warning string) { reportedProblemTexts.WriteString(warning) }})
		for n := 1; n <= 2; n++ {
			if err := os.WriteFile(store.Path(), []byte(damagedText), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Entries(); err == nil || !strings.Contains(err.Error(), store.Path()) || !strings.Contains(err.Error(), "repair it, or add a plugin") {
				t.Errorf("Entries of the damaged plugins.json %q: error %v; want the path and the advice to repair it", damagedText, err)
			}
			addPlugin(t, store, plugintest.Package{Name: "a"}.Write(t))
			keptFiles, err := filepath.Glob(store.Path() + ".corrupt-*")
			if err != nil || len(keptFiles) != n {
				t.Fatalf("damage %d: kept files %q, error %v; want one more than before", i, keptFiles, err)
			}
			if storeContent, err := os.ReadFile(keptFiles[n-1]); err != nil || string(storeContent) != damagedText {
				t.Errorf("damage %d: kept content %q, error %v; want the damaged text", i, storeContent, err)
			}
			if !strings.Contains(reportedProblemTexts.String(), keptFiles[n-1]) || entryNames(storeEntries(t, store)) != "a" {
				t.Errorf("damage %d: reported %s, entries %v; want the kept file in the report, and the entry a", i, reportedProblemTexts.String(), storeEntries(t, store))
			}
		}
	}
}

func TestStoreLeavesListsOfNewerVersionsAlone(t *testing.T) {
	store := plugin.NewStore(t.TempDir(), plugin.StoreOptions{})
	const newerStoreJSON = `{"version":2,"plugins":"elsewhere"}`
	if err := os.WriteFile(store.Path(), []byte(newerStoreJSON), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Add(plugintest.Package{}.Write(t)); err == nil || !strings.Contains(err.Error(), "version 2") || !strings.Contains(err.Error(), "update opentabs") {
		t.Errorf("Add with a plugins.json of version 2: error %v; want the advice to update opentabs", err)
	}
	if storeContent, err := os.ReadFile(store.Path()); err != nil || string(storeContent) != newerStoreJSON {
		t.Errorf("plugins.json = %s, error %v; want the newer text unchanged", storeContent, err)
	}
}

func TestStoreKeepsEntriesItCannotRead(t *testing.T) {
	store := plugin.NewStore(t.TempDir(), plugin.StoreOptions{})
	const storeContent = `{"version":1,"plugins":[7,{"name":"x","path":5},{"name":"y","path":"/y","hash":"z","added":"noon"}]}`
	if err := os.WriteFile(store.Path(), []byte(storeContent), 0o600); err != nil {
		t.Fatal(err)
	}
	addPlugin(t, store, plugintest.Package{Name: "a"}.Write(t))
	if entryNames(storeEntries(t, store)) != "a" {
		t.Errorf("entries = %v; want only a", storeEntries(t, store))
	}
	registry := plugin.NewRegistry(store, zerolog.Nop())
	if err := registry.Reload(); err != nil {
		t.Fatal(err)
	}
	var reportedProblemTexts []string
	for _, f := range registry.Set().Failed() {
		reportedProblemTexts = append(reportedProblemTexts, f.Name+": "+f.Err.Error())
	}
	want := []string{
		": plugins[0] is a number; make it an object",
		"x: plugins[1] path is a number; make it a string",
		"y: plugins[2] added is not a time; write it as in 2026-01-31T12:00:00Z",
	}
	if !slices.Equal(reportedProblemTexts, want) {
		t.Errorf("failed plugins = %q, want %q", reportedProblemTexts, want)
	}
	if err := store.Remove("x"); err != nil {
		t.Errorf("Remove of a broken entry: error %v; want none", err)
	}
}

func TestStoreSharedByProcesses(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 4 {
		paths := []string{dir}
		for n := range 5 {
			paths = append(paths, plugintest.Package{Name: fmt.Sprintf("p%d-%d", i, n)}.Write(t))
		}
		wg.Go(func() {
			childCmd := exec.Command(os.Args[0])
			childCmd.Env = append(os.Environ(), addPackagesVariable+"="+strings.Join(paths, string(filepath.ListSeparator)))
			if cmdOutput, err := childCmd.CombinedOutput(); err != nil {
				t.Errorf("process that adds packages: error %v; want none: %s", err, cmdOutput)
			}
		})
		wg.Go(func() {
			store := plugin.NewStore(dir, plugin.StoreOptions{LockWait: longLockWait})
			if _, err := store.Add(plugintest.Package{Name: fmt.Sprintf("g%d", i)}.Write(t)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if entries := storeEntries(t, plugin.NewStore(dir, plugin.StoreOptions{})); len(entries) != 24 {
		t.Errorf("%d entries, want 24: %s", len(entries), entryNames(entries))
	}
}

func TestStoreLockedByOtherProcess(t *testing.T) {
	dir := t.TempDir()
	unlock, err := statefile.Lock(filepath.Join(dir, "plugins.json.lock"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	store := plugin.NewStore(dir, plugin.StoreOptions{LockWait: time.Millisecond})
	if _, err := store.Add(plugintest.Package{}.Write(t)); err == nil || !strings.Contains(err.Error(), "is being changed by another opentabs") {
		t.Errorf("error of Add = %v; want an error that contains %q", err, "is being changed by another opentabs")
	}
}

// The parser must not panic, and an accepted document must keep every entry when it is written again.
func FuzzDocument(f *testing.F) {
	for _, storeContent := range []string{
		`{"version":1,"plugins":[{"name":"a","path":"/a","hash":"h","manifest":"m","added":"2026-01-31T12:00:00Z"},7],"note":1.50}`,
		`{"version":1}`, `{"version":2}`, `[]`, `null`, `{"version":1,"plugins":{}}`, "\ufeff{}", `{"version":1,"plugins":[{"name":"a","name":"b"}]}`,
	} {
		f.Add([]byte(storeContent))
	}
	store := plugin.NewStore(f.TempDir(), plugin.StoreOptions{})
	f.Fuzz(func(t *testing.T, storeContent []byte) {
		if err := os.WriteFile(store.Path(), storeContent, 0o600); err != nil {
			t.Fatal(err)
		}
		entriesBefore, err := store.Entries()
		if err != nil {
			if !strings.HasPrefix(err.Error(), store.Path()) || entriesBefore != nil {
				t.Fatalf("plugins.json %q: entries %v, error %v; want no entries and an error with the path", storeContent, entriesBefore, err)
			}
			return
		}
		removeErr := store.Remove("no plugin has this name")
		if removeErr == nil || !strings.Contains(removeErr.Error(), "there is no plugin") {
			t.Fatalf("plugins.json %q: error of Remove %v; want an error that contains %q", storeContent, removeErr, "there is no plugin")
		}
		for i, e := range entriesBefore {
			if e.Name == "" || e.Path == "" || e.Hash == "" {
				t.Fatalf("plugins.json %q: entry %+v; want a name, a path and a hash", storeContent, e)
			}
			if i == 0 {
				if err := store.Remove(e.Name); err != nil {
					t.Fatalf("plugins.json %q: error of Remove %v; want none", storeContent, err)
				}
			}
		}
		entriesAfter, err := store.Entries()
		leftoverFiles := 0
		for _, e := range entriesBefore {
			if e.Name != entriesBefore[0].Name {
				leftoverFiles++
			}
		}
		if err != nil || len(entriesAfter) != leftoverFiles {
			t.Fatalf("plugins.json %q: entries %+v, after Remove %+v, error %v; want only the entries that cannot be read", storeContent, entriesBefore, entriesAfter, err)
		}
	})
}
