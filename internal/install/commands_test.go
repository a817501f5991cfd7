package install

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"opentabs/internal/npm/npmtest"
	"opentabs/internal/usererr"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

func publishWiki(t *testing.T, r *npmtest.Registry, version string) {
	t.Helper()
	dir := plugintest.Package{Name: "wiki"}.Write(t)
	manifest := filepath.Join(dir, "package.json")
	spec, err := os.ReadFile(manifest)
	if err == nil {
		err = os.WriteFile(manifest, []byte(strings.Replace(string(spec), "1.0.0", version, 1)), 0o600)
	}
	file, packErr := npmtest.PackFolder(dir)
	if err := errors.Join(err, packErr); err != nil {
		t.Fatal(err)
	}
	r.Publish(npmtest.Version{Name: "opentabs-plugin-wiki", Version: version, File: file, Manifest: map[string]any{"keywords": []string{"opentabs-plugin"}}})
}

func (i *Installer) installFrom(t *testing.T, spec string) (newPlugin, oldPlugin *plugin.Plugin, err error) {
	t.Helper()
	packageSource, err := ParseSource(spec)
	if err != nil {
		return nil, nil, err
	}
	newPlugin, oldPlugin, err = i.Get(t.Context(), packageSource)
	return newPlugin, oldPlugin, errors.Join(err, i.Plugins.Reload())
}

func TestParseSource(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("acme", "wiki"), 0o700); err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[string]Source{
		"slack": {}, "@acme/wiki@^2": {}, "acme/none": {}, "acme": {},
		"./wiki.tgz": {isFile: true}, "wiki.tar.gz": {isFile: true},
		".": {isFolder: true}, "..": {isFolder: true}, "./none": {isFolder: true}, `..\none`: {isFolder: true}, "~/wiki": {isFolder: true}, "/none": {isFolder: true}, "acme/wiki": {isFolder: true},
	} {
		want.spec = spec
		if got, err := ParseSource(spec); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %v", spec, got, err, want)
		}
	}
	var userErr *usererr.Error
	if _, err := ParseSource("https://example.com/x.tgz"); !errors.As(err, &userErr) {
		t.Errorf("a URL: %v", err)
	}
}

func TestGetAndUpdate(t *testing.T) {
	registry := &npmtest.Registry{}
	publishWiki(t, registry, "1.0.0")
	i := newInstaller(t, registry)
	newPlugin, oldPlugin, err := i.installFrom(t, "wiki@^1")
	if err != nil || newPlugin.Version != "1.0.0" || oldPlugin != nil {
		t.Fatalf("%+v, %+v, %v", newPlugin, oldPlugin, err)
	}
	if formOffers, err := i.FindUpdates(t.Context(), nil); err != nil || len(formOffers) != 1 || formOffers[0].IsNewer() || formOffers[0].String() != "wiki 1.0.0 is up to date" {
		t.Errorf("%v, %v", formOffers, err)
	}
	publishWiki(t, registry, "1.1.0")
	publishWiki(t, registry, "2.0.0")
	formOffers, err := i.FindUpdates(t.Context(), []string{"opentabs-plugin-wiki"})
	if err != nil || len(formOffers) != 1 || !formOffers[0].IsNewer() || formOffers[0].String() != "wiki 1.0.0 -> 1.1.0" || formOffers[0].LatestVersion != "2.0.0" {
		t.Fatalf("%v, %v", formOffers, err)
	}
	newPlugin, oldPlugin, err = i.Update(t.Context(), formOffers[0])
	if err != nil || newPlugin.Version != "1.1.0" || oldPlugin == nil || oldPlugin.Version != "1.0.0" {
		t.Fatalf("%+v, %+v, %v", newPlugin, oldPlugin, err)
	}
	if err := i.Plugins.Reload(); err != nil {
		t.Fatal(err)
	}
	const pinnedLine = "wiki 1.1.0 is up to date with ^1; there is 2.0.0 (opentabs plugin install opentabs-plugin-wiki@latest)"
	if formOffers, err := i.FindUpdates(t.Context(), nil); err != nil || formOffers[0].String() != pinnedLine {
		t.Errorf("%v, %v", formOffers, err)
	}
	if _, oldPlugin, err := i.installFrom(t, "wiki@^1"); err != nil || oldPlugin == nil || oldPlugin.Version != "1.1.0" {
		t.Errorf("%+v, %v", oldPlugin, err)
	}
	storeEntry, err := Remove(i.Home, "opentabs-plugin-wiki")
	if err != nil || storeEntry.Name != "wiki" || storeEntry.Source != plugin.SourceNPM {
		t.Errorf("%+v, %v", storeEntry, err)
	}
	var userErr *usererr.Error
	if _, err := Remove(i.Home, "wiki"); !errors.As(err, &userErr) {
		t.Errorf("removed twice: %v", err)
	}
}

func TestOffersRefuse(t *testing.T) {
	registry := &npmtest.Registry{}
	publishWiki(t, registry, "1.0.0")
	i := newInstaller(t, registry)
	folder := plugintest.Package{Name: "local"}.Write(t)
	if _, err := i.Home.PluginStore().Add(folder); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"local": "was installed from the folder " + folder, "none": `no plugin "none" was installed`} {
		var userErr *usererr.Error
		if _, err := i.FindUpdates(t.Context(), []string{name}); !errors.As(err, &userErr) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if formOffers, err := i.FindUpdates(t.Context(), nil); err != nil || len(formOffers) != 0 {
		t.Errorf("%v, %v; want length 0", formOffers, err)
	}
	if _, _, err := i.installFrom(t, "wiki"); err != nil {
		t.Fatal(err)
	}
	i = withRegistry(t, i, &npmtest.Registry{})
	if formOffers, err := i.FindUpdates(t.Context(), nil); err != nil || len(formOffers) != 1 || formOffers[0].Error == "" || formOffers[0].IsNewer() || !strings.HasPrefix(formOffers[0].String(), "wiki: ") {
		t.Errorf("%v, %v", formOffers, err)
	}
}

func withRegistry(t *testing.T, i *Installer, r *npmtest.Registry) *Installer {
	t.Helper()
	otherInstaller := newInstaller(t, r)
	otherInstaller.Home, otherInstaller.Plugins = i.Home, i.Plugins
	return otherInstaller
}

func TestGetErrorHasAHint(t *testing.T) {
	i := newInstaller(t, &npmtest.Registry{})
	t.Chdir(t.TempDir())
	if err := errors.Join(os.Mkdir("mine", 0o700), os.WriteFile(filepath.Join("mine", "package.json"), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := i.installFrom(t, "mine"); err == nil || !strings.Contains(err.Error(), "there is a folder with that name: install the folder with `opentabs plugin install .") {
		t.Errorf("got %v; want an error that contains %q", err, "there is a folder with that name: install the folder with `opentabs plugin install .")
	}
}

func TestSearchAndInfo(t *testing.T) {
	registry := &npmtest.Registry{}
	publishWiki(t, registry, "1.0.0")
	i := newInstaller(t, registry)
	if results, err := i.Search(t.Context(), ""); err != nil || len(results) != 1 || results[0].Name != "wiki" || results[0].Package != "opentabs-plugin-wiki" || results[0].Installed {
		t.Errorf("%+v, %v", results, err)
	}
	info, err := i.Info(t.Context(), "wiki")
	if err != nil || info.Version != "1.0.0" || info.Installed != "" || !slices.Contains(info.Lines(), "  installed no; install it with `opentabs plugin install opentabs-plugin-wiki`") {
		t.Errorf("%+v, %v", info, err)
	}
	newPlugin, _, err := i.installFrom(t, "wiki")
	if err != nil {
		t.Fatal(err)
	}
	if results, err := i.Search(t.Context(), ""); err != nil || len(results) != 1 || !results[0].Installed {
		t.Errorf("%+v, %v", results, err)
	}
	info, err = i.Info(t.Context(), "wiki")
	if err != nil || info.Installed != "1.0.0" || info.Source != plugin.SourceNPM || len(info.Tools) == 0 {
		t.Errorf("%+v, %v", info, err)
	}
	if err := os.WriteFile(filepath.Join(newPlugin.Dir, "dist", "adapter.iife.js"), []byte("evil()"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := i.Plugins.Reload(); err != nil {
		t.Fatal(err)
	}
	if info, err := i.Info(t.Context(), "wiki"); err != nil || info.Failed == "" || !strings.Contains(strings.Join(info.Lines(), "\n"), "installed yes, but it can't be loaded\n  failed    ") {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := withRegistry(t, i, &npmtest.Registry{}).Info(t.Context(), "wiki"); err == nil || !strings.Contains(err.Error(), "the plugin wiki is not loaded: ") {
		t.Errorf("got %v; want an error that contains %q", err, "the plugin wiki is not loaded: ")
	}
}

func TestInfoLinesAreSafe(t *testing.T) {
	info := Info{Package: "p\x1b[2J", Version: "1", DisplayName: "D", Description: "one\ntwo", Deprecated: "old", Tools: []toolCategory{{Tools: []string{"a"}}, {Category: "read", Tools: []string{"b", "c"}}}}
	want := `p\x1b[2J 1 (D)
  one two
  versions  0
  warning   old
  installed no; install it with ` + "`opentabs plugin install p\\x1b[2J`" + `
  tools: a
  tools, read: b, c`
	if got := strings.Join(info.Lines(), "\n"); got != want {
		t.Errorf("got\n%s; want %v", got, want)
	}
}
