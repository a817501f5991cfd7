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

// publishWiki publishes a version of the plugin wiki.
func publishWiki(t *testing.T, r *npmtest.Registry, number string) {
	t.Helper()
	dir := plugintest.Package{Name: "wiki"}.Write(t)
	manifest := filepath.Join(dir, "package.json")
	text, err := os.ReadFile(manifest)
	if err == nil {
		err = os.WriteFile(manifest, []byte(strings.Replace(string(text), "1.0.0", number, 1)), 0o600)
	}
	file, packErr := npmtest.PackFolder(dir)
	if err := errors.Join(err, packErr); err != nil {
		t.Fatal(err)
	}
	r.Publish(npmtest.Version{Name: "opentabs-plugin-wiki", Version: number, File: file, Manifest: map[string]any{"keywords": []string{"opentabs-plugin"}}})
}

// get installs a plugin from its source, and reloads the plugins.
func (i *Installer) get(t *testing.T, text string) (added, before *plugin.Plugin, err error) {
	t.Helper()
	source, err := ParseSource(text)
	if err != nil {
		return nil, nil, err
	}
	added, before, err = i.Get(t.Context(), source)
	return added, before, errors.Join(err, i.Plugins.Reload())
}

func TestParseSource(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("acme", "wiki"), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]Source{
		"slack": {}, "@acme/wiki@^2": {}, "acme/none": {}, "acme": {},
		"./wiki.tgz": {isFile: true}, "wiki.tar.gz": {isFile: true},
		".": {isFolder: true}, "..": {isFolder: true}, "./none": {isFolder: true}, `..\none`: {isFolder: true}, "~/wiki": {isFolder: true}, "/none": {isFolder: true}, "acme/wiki": {isFolder: true},
	} {
		want.text = text
		if got, err := ParseSource(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	var wrong *usererr.Error
	if _, err := ParseSource("https://example.com/x.tgz"); !errors.As(err, &wrong) {
		t.Errorf("a URL: %v", err)
	}
}

// TestGetAndUpdate installs a version within a range, updates it, and removes it.
func TestGetAndUpdate(t *testing.T) {
	registry := &npmtest.Registry{}
	publishWiki(t, registry, "1.0.0")
	i := newInstaller(t, registry)
	added, before, err := i.get(t, "wiki@^1")
	if err != nil || added.Version != "1.0.0" || before != nil {
		t.Fatalf("%+v, %+v, %v", added, before, err)
	}
	if offers, err := i.Offers(t.Context(), nil); err != nil || len(offers) != 1 || offers[0].IsNewer() || offers[0].String() != "wiki 1.0.0 is up to date" {
		t.Errorf("%v, %v", offers, err)
	}
	publishWiki(t, registry, "1.1.0")
	publishWiki(t, registry, "2.0.0")
	offers, err := i.Offers(t.Context(), []string{"opentabs-plugin-wiki"})
	if err != nil || len(offers) != 1 || !offers[0].IsNewer() || offers[0].String() != "wiki 1.0.0 -> 1.1.0" || offers[0].Latest != "2.0.0" {
		t.Fatalf("%v, %v", offers, err)
	}
	added, before, err = i.Update(t.Context(), offers[0])
	if err != nil || added.Version != "1.1.0" || before == nil || before.Version != "1.0.0" {
		t.Fatalf("%+v, %+v, %v", added, before, err)
	}
	if err := i.Plugins.Reload(); err != nil {
		t.Fatal(err)
	}
	const pinned = "wiki 1.1.0 is up to date with ^1; there is 2.0.0 (opentabs plugin install opentabs-plugin-wiki@latest)"
	if offers, err := i.Offers(t.Context(), nil); err != nil || offers[0].String() != pinned {
		t.Errorf("%v, %v", offers, err)
	}
	if _, before, err := i.get(t, "wiki@^1"); err != nil || before == nil || before.Version != "1.1.0" {
		t.Errorf("%+v, %v", before, err)
	}
	entry, err := Remove(i.Home, "opentabs-plugin-wiki")
	if err != nil || entry.Name != "wiki" || entry.Source != plugin.SourceNPM {
		t.Errorf("%+v, %v", entry, err)
	}
	var wrong *usererr.Error
	if _, err := Remove(i.Home, "wiki"); !errors.As(err, &wrong) {
		t.Errorf("removed twice: %v", err)
	}
}

// TestOffersRefuse checks the errors of plugins that update cannot install.
func TestOffersRefuse(t *testing.T) {
	registry := &npmtest.Registry{}
	publishWiki(t, registry, "1.0.0")
	i := newInstaller(t, registry)
	folder := plugintest.Package{Name: "local"}.Write(t)
	if _, err := i.Home.Store().Add(folder); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"local": "was added from the folder " + folder, "none": `no plugin "none" was installed`} {
		var wrong *usererr.Error
		if _, err := i.Offers(t.Context(), []string{name}); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if offers, err := i.Offers(t.Context(), nil); err != nil || len(offers) != 0 {
		t.Errorf("%v, %v", offers, err)
	}
	// A package that the registry no longer has.
	if _, _, err := i.get(t, "wiki"); err != nil {
		t.Fatal(err)
	}
	i = withRegistry(t, i, &npmtest.Registry{})
	if offers, err := i.Offers(t.Context(), nil); err != nil || len(offers) != 1 || offers[0].Error == "" || offers[0].IsNewer() || !strings.HasPrefix(offers[0].String(), "wiki: ") {
		t.Errorf("%v, %v", offers, err)
	}
}

func withRegistry(t *testing.T, i *Installer, r *npmtest.Registry) *Installer {
	t.Helper()
	other := newInstaller(t, r)
	other.Home, other.Plugins = i.Home, i.Plugins
	return other
}

func TestGetAddsAHint(t *testing.T) {
	i := newInstaller(t, &npmtest.Registry{})
	t.Chdir(t.TempDir())
	if err := errors.Join(os.Mkdir("mine", 0o700), os.WriteFile(filepath.Join("mine", "package.json"), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := i.get(t, "mine"); err == nil || !strings.Contains(err.Error(), "there is a folder with that name: add the folder with `opentabs plugin install .") {
		t.Errorf("got %v", err)
	}
}

func TestSearchAndInfo(t *testing.T) {
	registry := &npmtest.Registry{}
	publishWiki(t, registry, "1.0.0")
	i := newInstaller(t, registry)
	if list, err := i.Search(t.Context(), ""); err != nil || len(list) != 1 || list[0].Name != "wiki" || list[0].Package != "opentabs-plugin-wiki" || list[0].Installed {
		t.Errorf("%+v, %v", list, err)
	}
	info, err := i.Info(t.Context(), "wiki")
	if err != nil || info.Version != "1.0.0" || info.Installed != "" || !slices.Contains(info.Lines(), "  installed no; install it with `opentabs plugin install opentabs-plugin-wiki`") {
		t.Errorf("%+v, %v", info, err)
	}
	added, _, err := i.get(t, "wiki")
	if err != nil {
		t.Fatal(err)
	}
	if list, err := i.Search(t.Context(), ""); err != nil || len(list) != 1 || !list[0].Installed {
		t.Errorf("%+v, %v", list, err)
	}
	info, err = i.Info(t.Context(), "wiki")
	if err != nil || info.Installed != "1.0.0" || info.Source != plugin.SourceNPM || len(info.Tools) == 0 {
		t.Errorf("%+v, %v", info, err)
	}
	// The code of the installed plugin was changed.
	if err := os.WriteFile(filepath.Join(added.Dir, "dist", "adapter.iife.js"), []byte("evil()"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := i.Plugins.Reload(); err != nil {
		t.Fatal(err)
	}
	if info, err := i.Info(t.Context(), "wiki"); err != nil || info.Failed == "" || !strings.Contains(strings.Join(info.Lines(), "\n"), "installed yes, but it can't be loaded\n  failed    ") {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := withRegistry(t, i, &npmtest.Registry{}).Info(t.Context(), "wiki"); err == nil || !strings.Contains(err.Error(), "the plugin wiki is not loaded: ") {
		t.Errorf("got %v", err)
	}
}

func TestInfoLinesAreSafe(t *testing.T) {
	info := Info{Package: "p\x1b[2J", Version: "1", DisplayName: "D", Description: "one\ntwo", Deprecated: "old", Tools: []category{{Tools: []string{"a"}}, {Category: "read", Tools: []string{"b", "c"}}}}
	want := `p\x1b[2J 1 (D)
  one two
  versions  0
  warning   old
  installed no; install it with ` + "`opentabs plugin install p\\x1b[2J`" + `
  tools: a
  tools, read: b, c`
	if got := strings.Join(info.Lines(), "\n"); got != want {
		t.Errorf("got\n%s", got)
	}
}
