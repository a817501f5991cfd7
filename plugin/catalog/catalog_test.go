package catalog

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/settings"
)

const siteSchema = `{"site":{"type":"url","label":"Site"}}`

func TestCatalogUsesUserConfiguredSites(t *testing.T) {
	store := plugin.NewStore(t.TempDir(), plugin.StoreOptions{})
	if _, err := store.Add(plugintest.Package{Name: "wiki", Settings: json.RawMessage(siteSchema)}.Write(t)); err != nil {
		t.Fatal(err)
	}
	settingValues := settings.New(filepath.Dir(store.Path()), settings.Options{})
	c := New(store, settingValues, zerolog.Nop())
	if c.Values() != settingValues {
		t.Error("Values of the catalog differ from the settings that were passed to New; want the same value")
	}
	loadWiki := func() *plugin.Plugin {
		t.Helper()
		if err := c.Reload(); err != nil {
			t.Fatal(err)
		}
		loadedPlugin, ok := c.Set().Plugin("wiki")
		if !ok {
			t.Fatal("the plugin is not loaded; want it loaded")
		}
		return loadedPlugin
	}
	pluginBefore := loadWiki()
	if len(pluginBefore.Instances) != 0 {
		t.Errorf("instances %v before the user has set a site; want length 0", pluginBefore.Instances)
	}
	if err := settingValues.Change(pluginBefore, map[string]json.RawMessage{"site": json.RawMessage(`{"work":"https://wiki.work.test"}`)}, "the test"); err != nil {
		t.Fatal(err)
	}
	pluginAfter := loadWiki()
	if len(pluginAfter.Instances) != 1 || pluginAfter.Instances[0].Name != "work" {
		t.Errorf("instances %+v, want work", pluginAfter.Instances)
	}
	const pattern = "*://wiki.work.test/*"
	if !slices.Contains(pluginAfter.Matches, pattern) {
		t.Errorf("patterns %q, want %s among them", pluginAfter.Matches, pattern)
	}
}

func TestCatalogKeepsFaults(t *testing.T) {
	_, store := plugintest.Registry(t, plugintest.Package{Name: "wiki"})
	openCatalog := func() (*Catalog, *plugin.Plugin) {
		t.Helper()
		c := New(store, settings.New(t.TempDir(), settings.Options{}), zerolog.Nop())
		if err := c.Reload(); err != nil {
			t.Fatal(err)
		}
		loadedPlugin, ok := c.Set().Plugin("wiki")
		if !ok {
			t.Fatal("the plugin is not loaded; want it loaded")
		}
		return c, loadedPlugin
	}
	c, loadedPlugin := openCatalog()
	if _, isFaulty := c.Faults().FindFault(loadedPlugin); isFaulty {
		t.Error("a new plugin has a fault; want none")
	}
	c.Faults().RecordFault(loadedPlugin, "it threw", "https://wiki.test/page", "Chrome")
	c, loadedPlugin = openCatalog()
	if f, isFaulty := c.Faults().FindFault(loadedPlugin); !isFaulty || f.Problem != "it threw" || f.Site != "https://wiki.test" {
		t.Errorf("fault after a restart = %+v, found %t; want the problem \"it threw\" on https://wiki.test", f, isFaulty)
	}
}
