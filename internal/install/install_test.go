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

func publishPlugin(t *testing.T, r *npmtest.Registry, name, version string, p plugintest.Package) {
	t.Helper()
	file, err := npmtest.PackFolder(p.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	r.Publish(npmtest.Version{Name: name, Version: version, File: file})
}

func (i *Installer) fetchLatest(t *testing.T, name string) (*plugin.Plugin, error) {
	t.Helper()
	packageInfo, err := i.client.Package(t.Context(), name)
	if err != nil {
		return nil, err
	}
	version, err := packageInfo.ChooseVersion("")
	if err != nil {
		return nil, err
	}
	return i.fetchAndInstall(t.Context(), packageInfo, version, "")
}

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
			t.Errorf("installation of %s: error %v, want %q", name, err, want)
		}
	}
	if dirEntries, err := os.ReadDir(i.folder()); err != nil || len(dirEntries) != 1 || dirEntries[0].Name() != "lock" {
		t.Errorf("files after failed installations = %v, error %v; want only the lock file", dirEntries, err)
	}
}

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
	storeEntries, err := i.Home.PluginStore().Entries()
	if err != nil || len(storeEntries) != 4 {
		t.Fatalf("installed plugins = %+v, error %v; want 4 plugins", storeEntries, err)
	}
	for _, e := range storeEntries {
		if _, err := plugin.Load(e.Path); err != nil {
			t.Error(err)
		}
	}
}

func TestInstallRemovesLeftovers(t *testing.T) {
	registry := &npmtest.Registry{}
	publishPlugin(t, registry, "opentabs-plugin-a", "1.0.0", plugintest.Package{Name: "a"})
	i := newInstaller(t, registry)
	leftoverFolder, newFolder := filepath.Join(i.folder(), tempFolderPrefix+"1"), filepath.Join(i.folder(), tempFolderPrefix+"2")
	oldTime := time.Now().Add(-2 * time.Hour)
	if err := errors.Join(os.MkdirAll(leftoverFolder, 0o700), os.MkdirAll(newFolder, 0o700), os.Chtimes(leftoverFolder, oldTime, oldTime)); err != nil {
		t.Fatal(err)
	}
	if _, err := i.fetchLatest(t, "opentabs-plugin-a"); err != nil {
		t.Fatal(err)
	}
	if config.PathExists(leftoverFolder) || !config.PathExists(newFolder) {
		t.Errorf("old leftover exists = %t, recent folder exists = %t; want only the recent folder, which another process may use", config.PathExists(leftoverFolder), config.PathExists(newFolder))
	}
}
