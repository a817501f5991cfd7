package daemon

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/internal/config"
	"opentabs/internal/extensiondir"
	"opentabs/internal/scriptcheck"
	"opentabs/plugin"
	"opentabs/plugin/catalog"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/policy"
	"opentabs/plugin/settings"
	"opentabs/wire"
)

// TestAdaptersAreRecheckedWhenServed checks that an adapter which an older version installed without
// a check is neither sent to a browser nor written to a file.
func TestAdaptersAreRecheckedWhenServed(t *testing.T) {
	const scopeEscapingCode = "var a = 1}, EVIL(), function () {"
	registry, _ := testCatalog(t, plugintest.Package{Name: "good"}, plugintest.Package{Name: "evil", Code: scopeEscapingCode})
	dirs := config.Dirs{State: t.TempDir()}
	a := newTestAdapters(registry, newReviewedPolicy(t, dirs, registry), dirs)
	scripts := map[string]string{}
	for _, info := range a.List() {
		scripts[info.Name] = info.ScriptID
	}
	fetch := func(name, scriptID string) (wire.PluginFetchResult, error) {
		return a.Fetch(wire.PluginFetchParams{Name: name, ScriptID: scriptID})
	}
	if code, err := fetch("good", scripts["good"]); err != nil || code.Code == "" {
		t.Errorf("Fetch for the valid adapter returned the error %v; want code and no error", err)
	}
	code, err := fetch("evil", scripts["evil"])
	if err == nil || !strings.Contains(err.Error(), "the adapter of evil may not run: adapter.iife.js:") {
		t.Errorf("Fetch for the adapter that leaves its function: error %v, %d bytes of code; want an error that contains %q", err, len(code.Code), "the adapter of evil may not run: adapter.iife.js:")
	}
	folder := filepath.Join(t.TempDir(), "adapters")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, testPlugin := range a.currentScripts() {
		path := filepath.Join(folder, testPlugin.info.Name)
		if err := a.writeFile(path, testPlugin); (err == nil) != (testPlugin.info.Name == "good") {
			t.Errorf("writeFile for the plugin %s returned the error %v; want an error only for evil", testPlugin.info.Name, err)
		}
		if _, err := os.Stat(path); (err == nil) != (testPlugin.info.Name == "good") {
			t.Errorf("status of the file for the plugin %s = %v; want a file only for good", testPlugin.info.Name, err)
		}
	}
}

func TestAdaptersOfReviewedPlugins(t *testing.T) {
	registry, _ := testCatalog(t, plugintest.Package{Name: "one"}, plugintest.Package{Name: "other"})
	dirs := config.Dirs{State: t.TempDir()}
	reviews := policy.New(dirs.State, registry.Set, policy.Options{})
	a := newTestAdapters(registry, reviews, dirs)
	checkFiles := func(want ...string) {
		t.Helper()
		got := []string{}
		for _, info := range a.List() {
			got = append(got, info.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("browsers receive the plugins %v, want %v", got, want)
		}
	}
	checkFiles()
	testPlugin, _ := registry.Set().Plugin("one")
	failOnError := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	failOnError(reviews.Review("one", testPlugin.ContentHash(), wire.PermissionAsk, "test"))
	checkFiles("one")
	failOnError(reviews.SetPermission("one", "", wire.PermissionOff, "test"))
	checkFiles()
	failOnError(reviews.SetPermission("one", "echo", wire.PermissionAsk, "test"))
	checkFiles("one") // the plugin may run, because its tool echo may run
	failOnError(reviews.SetPermission("one", "", wire.PermissionAuto, "test"))
	failOnError(reviews.SetPermission("one", "echo", wire.PermissionOff, "test"))
	checkFiles("one") // the plugin may run, because only its tool echo is off
}

// If any part of a plugin's script changes, the ID of the script must change too.
func TestScriptIDChangesWithEachPart(t *testing.T) {
	registry, _ := testCatalog(t,
		plugintest.Package{Name: "ours"},
		plugintest.Package{Name: "hooked", Code: "var p = { onActivate() {} };"},
		plugintest.Package{Name: "legacy", SDKVersion: "0.0.115"},
		plugintest.Package{Name: "pre", PreScript: "token()", Settings: json.RawMessage(`{"key":{"type":"string","label":"Key"}}`)},
	)
	dirs := config.Dirs{State: t.TempDir()}
	a := newTestAdapters(registry, newReviewedPolicy(t, dirs, registry), dirs)
	fetch := func(name string) (wire.PluginInfo, wire.PluginFetchResult) {
		t.Helper()
		for _, info := range a.List() {
			if info.Name == name {
				code, err := a.Fetch(wire.PluginFetchParams{Name: name, ScriptID: info.ScriptID})
				if err != nil {
					t.Fatal(err)
				}
				return info, code
			}
		}
		t.Fatalf("List returned no plugin %s; want its script", name)
		return wire.PluginInfo{}, wire.PluginFetchResult{}
	}
	for name, want := range map[string]string{"ours": "now", "hooked": "dom", "legacy": "dom", "pre": "now"} {
		if _, got := fetch(name); !strings.Contains(got.Options, `"start":"`+want+`"`) {
			t.Errorf("options of %s = %s; want the start time %q", name, got.Options, want)
		}
	}
	pluginInfo, got := fetch("pre")
	if !strings.HasSuffix(got.PreScript, "token()\n}; }") || !strings.HasPrefix(got.Code, "function (") || strings.Contains(got.Code, "token()") || !pluginInfo.AllFrames {
		t.Errorf("script of the plugin pre: info %+v, code %q, pre-script %q; want all frames, and the pre-script only in its own function", pluginInfo, got.Code, got.PreScript)
	}
	testPlugin, _ := registry.Set().Plugin("pre")
	if err := registry.Values().Change(testPlugin, map[string]json.RawMessage{"key": json.RawMessage(`"S3CRET"`)}, "test"); err != nil {
		t.Fatal(err)
	}
	pluginAfter, got := fetch("pre")
	if pluginAfter.ScriptID == pluginInfo.ScriptID || !strings.Contains(got.Options, `S3CRET`) {
		t.Errorf("script ID after a change of settings = %s, options %s; want a new ID, and the new setting in the options", pluginAfter.ScriptID, got.Options)
	}
	if _, err := a.Fetch(wire.PluginFetchParams{Name: "pre", ScriptID: pluginInfo.ScriptID}); err == nil {
		t.Error("Fetch accepted an outdated script ID; want an error")
	}
	a.folders.add(testPlugin.Dir, wire.PermissionAuto)
	developedInfo, _ := fetch("pre")
	if !developedInfo.InDevelopment || developedInfo.ScriptID != pluginAfter.ScriptID {
		t.Errorf("plugin in development mode: info %+v; want the script ID %s and InDevelopment", developedInfo, pluginAfter.ScriptID)
	}
	if otherInfo, _ := fetch("ours"); otherInfo.FixedScriptPartsID == "" || otherInfo.FixedScriptPartsID == developedInfo.FixedScriptPartsID || developedInfo.FixedScriptPartsID != pluginInfo.FixedScriptPartsID {
		t.Errorf("fixed parts ID %q with a pre-script, %q without, %q before development; want only the first and the last equal", developedInfo.FixedScriptPartsID, otherInfo.FixedScriptPartsID, pluginInfo.FixedScriptPartsID)
	}
}

func newTestAdapters(registry *catalog.Catalog, reviews *policy.Policy, dirs config.Dirs) *adapters {
	loadDone := make(chan struct{})
	close(loadDone)
	p := &plugins{registry: registry, settingValues: registry.Values(), policy: reviews, scriptChecks: scriptcheck.New(dirs, zerolog.Nop())}
	return newAdapters(p, newDevFolders(), dirs, loadDone, zerolog.Nop())
}

func newReviewedPolicy(t testing.TB, dirs config.Dirs, registry *catalog.Catalog) *policy.Policy {
	t.Helper()
	reviews := policy.New(dirs.State, registry.Set, policy.Options{})
	for _, testPlugin := range registry.Set().Plugins() {
		if err := reviews.Review(testPlugin.Name, testPlugin.ContentHash(), wire.PermissionAuto, "test"); err != nil {
			t.Fatal(err)
		}
	}
	return reviews
}

// BenchmarkAdaptersFetch measures 120 adapters of 0.7 MB each, as at the first start after an update.
func BenchmarkAdaptersFetch(b *testing.B) {
	packages := make([]plugintest.Package, 120)
	for i := range packages {
		packages[i] = plugintest.Package{
			Name: "p" + strings.Repeat("x", i), Code: strings.Repeat("var code = function (a, b) { return a + b } // filler\n", 700<<10/54),
		}
	}
	registry, _ := testCatalog(b, packages...)
	dirs := config.Dirs{State: b.TempDir()}
	firstAdapters := newTestAdapters(registry, newReviewedPolicy(b, dirs, registry), dirs)
	fetchAllScripts(b, firstAdapters) // fills the cache of checked scripts, because checking all adapters takes half a minute
	for b.Loop() {
		fetchAllScripts(b, newTestAdapters(registry, newReviewedPolicy(b, dirs, registry), dirs))
	}
}

func fetchAllScripts(b *testing.B, a *adapters) {
	for _, info := range a.List() {
		if _, err := a.Fetch(wire.PluginFetchParams{Name: info.Name, ScriptID: info.ScriptID}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestAdapterFilesOfSimilarNames checks that removing the plugin "x" keeps the file of
// the plugin "x-prescript".
func TestAdapterFilesOfSimilarNames(t *testing.T) {
	registry, store := testCatalog(t, plugintest.Package{Name: "x", PreScript: "token()"}, plugintest.Package{Name: "x-prescript"})
	dirs := config.Dirs{State: t.TempDir()}
	folder := filepath.Join(dirs.ExtensionDir(), extensiondir.AdapterDir)
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(dirs.ExtensionDir(), extensiondir.ConnectionFile), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	a := newTestAdapters(registry, newReviewedPolicy(t, dirs, registry), dirs)
	checkFiles := func(want ...string) {
		t.Helper()
		if err := a.writeFiles(); err != nil {
			t.Fatal(err)
		}
		files := map[string]bool{}
		for _, info := range a.List() {
			files[filepath.Base(info.File)] = true
		}
		dirEntries, err := os.ReadDir(folder)
		if err != nil || len(dirEntries) != len(want) || len(files) != len(want) {
			t.Fatalf("adapter files = %v, error %v; want one file for each of the plugins %v", dirEntries, err, want)
		}
		for _, e := range dirEntries {
			if !files[e.Name()] {
				t.Errorf("adapter file %s belongs to no plugin; want only the files %v", e.Name(), files)
			}
		}
	}
	checkFiles("x", "x-prescript")
	if err := errors.Join(store.Remove("x"), registry.Reload()); err != nil {
		t.Fatal(err)
	}
	checkFiles("x-prescript")
}

func testCatalog(t testing.TB, packages ...plugintest.Package) (*catalog.Catalog, *plugin.Store) {
	t.Helper()
	_, store := plugintest.Registry(t, packages...)
	c := newTestCatalog(store)
	if err := c.Reload(); err != nil {
		t.Fatal(err)
	}
	return c, store
}

func newTestCatalog(store *plugin.Store) *catalog.Catalog {
	return catalog.New(store, settings.New(filepath.Dir(store.Path()), settings.Options{}), zerolog.Nop())
}
