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
			t.Errorf("ParseSource(%q) = %+v, error %v; want %+v", spec, got, err, want)
		}
	}
	var userErr *usererr.Error
	if _, err := ParseSource("https://example.com/x.tgz"); !errors.As(err, &userErr) {
		t.Errorf("ParseSource of a URL returned the error %v; want an error for the user", err)
	}
}

func TestInstallAndUpdate(t *testing.T) {
	registry := &npmtest.Registry{}
	publishWiki(t, registry, "1.0.0")
	i := newInstaller(t, registry)
	newPlugin, oldPlugin, err := i.installFrom(t, "wiki@^1")
	if err != nil || newPlugin.Version != "1.0.0" || oldPlugin != nil {
		t.Fatalf("installation of wiki@^1: new plugin %+v, old plugin %+v, error %v; want version 1.0.0 and no old plugin", newPlugin, oldPlugin, err)
	}
	if updateOffers, err := i.FindUpdates(t.Context(), nil); err != nil || len(updateOffers) != 1 || updateOffers[0].IsNewer() || updateOffers[0].String() != "wiki 1.0.0 is up to date" {
		t.Errorf("offers for the newest version = %v, error %v; want that wiki is up to date", updateOffers, err)
	}
	publishWiki(t, registry, "1.1.0")
	publishWiki(t, registry, "2.0.0")
	updateOffers, err := i.FindUpdates(t.Context(), []string{"opentabs-plugin-wiki"})
	if err != nil || len(updateOffers) != 1 || !updateOffers[0].IsNewer() || updateOffers[0].String() != "wiki 1.0.0 -> 1.1.0" || updateOffers[0].LatestVersion != "2.0.0" {
		t.Fatalf("offers after new releases = %v, error %v; want wiki 1.0.0 -> 1.1.0", updateOffers, err)
	}
	newPlugin, oldPlugin, err = i.Update(t.Context(), updateOffers[0])
	if err != nil || newPlugin.Version != "1.1.0" || oldPlugin == nil || oldPlugin.Version != "1.0.0" {
		t.Fatalf("Update: new plugin %+v, old plugin %+v, error %v; want 1.1.0 instead of 1.0.0", newPlugin, oldPlugin, err)
	}
	if err := i.Plugins.Reload(); err != nil {
		t.Fatal(err)
	}
	const pinnedVersionLine = "wiki 1.1.0 is up to date with ^1; there is 2.0.0 (opentabs plugin install opentabs-plugin-wiki@latest)"
	if updateOffers, err := i.FindUpdates(t.Context(), nil); err != nil || updateOffers[0].String() != pinnedVersionLine {
		t.Errorf("offers after the update = %v, error %v; want %q", updateOffers, err, pinnedVersionLine)
	}
	if _, oldPlugin, err := i.installFrom(t, "wiki@^1"); err != nil || oldPlugin == nil || oldPlugin.Version != "1.1.0" {
		t.Errorf("second installation of wiki@^1: old plugin %+v, error %v; want version 1.1.0", oldPlugin, err)
	}
	storeEntry, err := Remove(i.Home, "opentabs-plugin-wiki")
	if err != nil || storeEntry.Name != "wiki" || storeEntry.Source != plugin.SourceNPM {
		t.Errorf("Remove returned %+v, error %v; want the npm plugin wiki", storeEntry, err)
	}
	var userErr *usererr.Error
	if _, err := Remove(i.Home, "wiki"); !errors.As(err, &userErr) {
		t.Errorf("second Remove returned the error %v; want an error for the user", err)
	}
}

func TestInvalidUpdateOffersAreRejected(t *testing.T) {
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
			t.Errorf("FindUpdates of %s returned the error %v; want an error for the user that contains %q", name, err, want)
		}
	}
	if updateOffers, err := i.FindUpdates(t.Context(), nil); err != nil || len(updateOffers) != 0 {
		t.Errorf("offers for a plugin from a folder = %v, error %v; want none", updateOffers, err)
	}
	if _, _, err := i.installFrom(t, "wiki"); err != nil {
		t.Fatal(err)
	}
	i = withRegistry(t, i, &npmtest.Registry{})
	if updateOffers, err := i.FindUpdates(t.Context(), nil); err != nil || len(updateOffers) != 1 || updateOffers[0].Error == "" || updateOffers[0].IsNewer() || !strings.HasPrefix(updateOffers[0].String(), "wiki: ") {
		t.Errorf("offers for a package that the registry lacks = %v, error %v; want one offer with an error", updateOffers, err)
	}
}

func withRegistry(t *testing.T, i *Installer, r *npmtest.Registry) *Installer {
	t.Helper()
	otherInstaller := newInstaller(t, r)
	otherInstaller.Home, otherInstaller.Plugins = i.Home, i.Plugins
	return otherInstaller
}

func TestInstallErrorHasHint(t *testing.T) {
	i := newInstaller(t, &npmtest.Registry{})
	t.Chdir(t.TempDir())
	if err := errors.Join(os.Mkdir("mine", 0o700), os.WriteFile(filepath.Join("mine", "package.json"), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := i.installFrom(t, "mine"); err == nil || !strings.Contains(err.Error(), "there is a folder with that name: install the folder with `opentabs plugin install .") {
		t.Errorf("installation of a folder's bare name: error %v; want an error that contains %q", err, "there is a folder with that name: install the folder with `opentabs plugin install .")
	}
}

func TestSearchAndInfo(t *testing.T) {
	registry := &npmtest.Registry{}
	publishWiki(t, registry, "1.0.0")
	i := newInstaller(t, registry)
	if results, err := i.Search(t.Context(), ""); err != nil || len(results) != 1 || results[0].Name != "wiki" || results[0].Package != "opentabs-plugin-wiki" || results[0].Installed {
		t.Errorf("Search returned %+v, error %v; want only wiki, which is not installed", results, err)
	}
	info, err := i.Info(t.Context(), "wiki")
	if err != nil || info.Version != "1.0.0" || info.Installed != "" || !slices.Contains(info.Lines(), "  installed no; install it with `opentabs plugin install opentabs-plugin-wiki`") {
		t.Errorf("Info before the installation = %+v, error %v; want version 1.0.0 and the install command", info, err)
	}
	newPlugin, _, err := i.installFrom(t, "wiki")
	if err != nil {
		t.Fatal(err)
	}
	if results, err := i.Search(t.Context(), ""); err != nil || len(results) != 1 || !results[0].Installed {
		t.Errorf("Search after the installation returned %+v, error %v; want one installed plugin", results, err)
	}
	info, err = i.Info(t.Context(), "wiki")
	if err != nil || info.Installed != "1.0.0" || info.Source != plugin.SourceNPM || len(info.Tools) == 0 {
		t.Errorf("Info after the installation = %+v, error %v; want version 1.0.0 from npm, with tools", info, err)
	}
	if err := os.WriteFile(filepath.Join(newPlugin.Dir, "dist", "adapter.iife.js"), []byte("evil()"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := i.Plugins.Reload(); err != nil {
		t.Fatal(err)
	}
	if info, err := i.Info(t.Context(), "wiki"); err != nil || info.ErrorText == "" || !strings.Contains(strings.Join(info.Lines(), "\n"), "installed yes, but it can't be loaded\n  failed    ") {
		t.Errorf("Info of a plugin with a changed adapter = %+v, error %v; want that it cannot be loaded", info, err)
	}
	if _, err := withRegistry(t, i, &npmtest.Registry{}).Info(t.Context(), "wiki"); err == nil || !strings.Contains(err.Error(), "the plugin wiki is not loaded: ") {
		t.Errorf("Info of a broken plugin without a package: error %v; want an error that contains %q", err, "the plugin wiki is not loaded: ")
	}
}

func TestInfoEscapesControlCharacters(t *testing.T) {
	info := Info{Package: "p\x1b[2J", Version: "1", DisplayName: "D", Description: "one\ntwo", Deprecated: "old", Tools: []toolCategory{{Tools: []string{"a"}}, {Category: "read", Tools: []string{"b", "c"}}}}
	want := `p\x1b[2J 1 (D)
  one two
  versions  0
  warning   old
  installed no; install it with ` + "`opentabs plugin install p\\x1b[2J`" + `
  tools: a
  tools, read: b, c`
	if got := strings.Join(info.Lines(), "\n"); got != want {
		t.Errorf("lines of Info =\n%s\nwant\n%s", got, want)
	}
}
