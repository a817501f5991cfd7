package install

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/npm"
	"opentabs/internal/npm/npmtest"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

// newInstaller returns an installer whose registry is r.
func newInstaller(t *testing.T, r *npmtest.Registry) *Installer {
	t.Helper()
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	settings, err := npm.LoadConfig(npm.Environment{
		Getenv: os.Getenv, Dir: t.TempDir(), Environ: func() []string { return []string{"npm_config_registry=" + s.URL} },
	})
	if err != nil {
		t.Fatal(err)
	}
	client, err := npm.New(settings, npm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := home.New(config.Dirs{State: t.TempDir()}, config.Settings{}, os.Getenv, nil)
	plugins, err := h.Plugins()
	if err != nil {
		t.Fatal(err)
	}
	return &Installer{Home: h, Plugins: plugins, client: client, registries: settings, notef: t.Logf}
}

// publishPlugin publishes a plugin under a name and a version, which may differ from its
// package.json.
func publishPlugin(t *testing.T, r *npmtest.Registry, name, number string, p plugintest.Package) {
	t.Helper()
	file, err := npmtest.PackFolder(p.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	r.Publish(npmtest.Version{Name: name, Version: number, File: file})
}

// fetchLatest installs the latest version of a package.
func (i *Installer) fetchLatest(t *testing.T, name string) (*plugin.Plugin, error) {
	t.Helper()
	from, err := i.client.Package(t.Context(), name)
	if err != nil {
		return nil, err
	}
	version, err := from.Pick("")
	if err != nil {
		return nil, err
	}
	return i.fetchAndInstall(t.Context(), from, version, "")
}

// TestInstallChecksName checks that a package with another name or version is not
// installed.
func TestInstallChecksName(t *testing.T) {
	registry := &npmtest.Registry{}
	publishPlugin(t, registry, "opentabs-plugin-bank", "1.0.0", plugintest.Package{Name: "evil"})
	publishPlugin(t, registry, "opentabs-plugin-old", "9.0.0", plugintest.Package{Name: "old"})
	i := newInstaller(t, registry)
	for name, want := range map[string]string{
		"opentabs-plugin-bank": "the package is opentabs-plugin-evil 1.0.0, but it should be opentabs-plugin-bank 1.0.0; nothing was installed",
		"opentabs-plugin-old":  "the package is opentabs-plugin-old 1.0.0, but it should be opentabs-plugin-old 9.0.0; nothing was installed",
	} {
		if _, err := i.fetchLatest(t, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if left, err := os.ReadDir(i.folder()); err != nil || len(left) != 1 || left[0].Name() != "lock" {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestInstallConcurrently installs several packages at once.
func TestInstallConcurrently(t *testing.T) {
	registry := &npmtest.Registry{}
	for n := range 4 {
		publishPlugin(t, registry, fmt.Sprintf("opentabs-plugin-p%d", n), "1.0.0", plugintest.Package{Name: fmt.Sprintf("p%d", n)})
	}
	i := newInstaller(t, registry)
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			if _, err := i.fetchLatest(t, fmt.Sprintf("opentabs-plugin-p%d", n%4)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	entries, err := i.Home.Store().Entries()
	if err != nil || len(entries) != 4 {
		t.Fatalf("%+v, %v", entries, err)
	}
	for _, e := range entries {
		if _, err := plugin.Load(e.Path); err != nil {
			t.Error(err)
		}
	}
}

// TestInstallRemovesLeftovers checks that files of a process that was killed are
// removed by a later one.
func TestInstallRemovesLeftovers(t *testing.T) {
	registry := &npmtest.Registry{}
	publishPlugin(t, registry, "opentabs-plugin-a", "1.0.0", plugintest.Package{Name: "a"})
	i := newInstaller(t, registry)
	left, fresh := filepath.Join(i.folder(), unpackedFolder+"1"), filepath.Join(i.folder(), unpackedFolder+"2")
	hours := time.Now().Add(-2 * time.Hour)
	if err := errors.Join(os.MkdirAll(left, 0o700), os.MkdirAll(fresh, 0o700), os.Chtimes(left, hours, hours)); err != nil {
		t.Fatal(err)
	}
	if _, err := i.fetchLatest(t, "opentabs-plugin-a"); err != nil {
		t.Fatal(err)
	}
	if config.Exists(left) || !config.Exists(fresh) {
		t.Error("only old leftovers are removed: another process may be installing")
	}
}
