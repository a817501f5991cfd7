package daemon

import (
	"testing"

	"github.com/rs/zerolog"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

func newDevelopedPlugin(t *testing.T) (d *development, changes *int, build func(code string), reload func() (developedState, otherPluginState policy.State)) {
	t.Helper()
	state := t.TempDir()
	store := plugin.NewStore(state, plugin.StoreOptions{})
	dirs := []string{plugintest.Package{Name: "mine"}.Write(t), plugintest.Package{Name: "other"}.Write(t)}
	for _, dir := range dirs {
		if _, err := store.Add(dir); err != nil {
			t.Fatal(err)
		}
	}
	registry := newTestCatalog(store)
	changes = new(int)
	folders := newDevFolders()
	reviews := policy.New(state, registry.Set, policy.Options{IsInDevelopment: folders.permission})
	d = newDevelopment(folders, &plugins{registry: registry, policy: reviews}, func() { *changes++ }, zerolog.Nop())
	// A build of a plugin in development mode counts as reviewed as soon as it is loaded.
	registry.OnChange(func(*plugin.Set) {
		developedPlugin, _ := registry.Set().Plugin("mine")
		if state := reviews.State("mine"); folders.has(developedPlugin) && !state.Reviewed {
			t.Errorf("state of a new build in development mode = %+v; want a reviewed plugin", state)
		}
	})
	registry.OnChange(func(*plugin.Set) { d.review() })
	reload = func() (developedState, otherPluginState policy.State) {
		t.Helper()
		if err := registry.Reload(); err != nil {
			t.Fatal(err)
		}
		return reviews.State("mine"), reviews.State("other")
	}
	build = func(code string) { plugintest.Package{Name: "mine", Code: code}.WriteTo(t, dirs[0]) }
	reload()
	return d, changes, build, reload
}

func findPluginDir(t *testing.T, d *development, name string) string {
	t.Helper()
	developedPlugin, ok := d.plugins.registry.Set().Plugin(name)
	if !ok {
		t.Fatalf("the catalog has no plugin %s; want the plugin", name)
	}
	return developedPlugin.Dir
}

func TestDevelopedPluginCountsAsReviewed(t *testing.T) {
	d, changes, build, reload := newDevelopedPlugin(t)
	if developedState, _ := reload(); developedState.Reviewed {
		t.Fatal("the plugin is reviewed before development mode begins; want no review")
	}
	endFirstDevelopment, err := d.beginDevelopment(findPluginDir(t, d, "mine"), wire.PermissionAsk)
	if err != nil {
		t.Fatal(err)
	}
	endSecondDevelopment, err := d.beginDevelopment(findPluginDir(t, d, "mine"), wire.PermissionAsk)
	if err != nil || *changes != 1 {
		t.Errorf("second beginDevelopment: %d changes, error %v; want 1 change and no error", *changes, err)
	}
	for _, code := range []string{"", "(function(){ var second })();", "(function(){ var third })();"} {
		if code != "" {
			build(code)
		}
		if developedState, otherPluginState := reload(); !developedState.Reviewed || developedState.EffectivePermission != wire.PermissionAsk || otherPluginState.Reviewed {
			t.Errorf("after the build %q: state of mine %+v, of other %+v; want only mine reviewed, with the permission ask", code, developedState, otherPluginState)
		}
	}
	// A permission that the user has set for a plugin overrides the permission that the
	// plugin has in development mode.
	if err := d.plugins.policy.SetPermission("mine", "", wire.PermissionAuto, "test"); err != nil {
		t.Fatal(err)
	}
	build("(function(){ var fourth })();")
	endSecondDevelopment()
	if developedState, _ := reload(); developedState.EffectivePermission != wire.PermissionAuto || *changes != 1 {
		t.Errorf("while one `plugin dev` still runs: state %+v, %d changes; want the permission auto and 1 change", developedState, *changes)
	}
	// A build that is made after the end of development mode needs a review.
	endFirstDevelopment()
	if developedState, _ := reload(); !developedState.Reviewed || *changes != 2 {
		t.Errorf("after the end of development mode: state %+v, %d changes; want a reviewed plugin and 2 changes", developedState, *changes)
	}
	build("(function(){ var fifth })();")
	if developedState, _ := reload(); developedState.Reviewed || developedState.EffectivePermission != wire.PermissionOff {
		t.Errorf("state of a build after the end of development mode = %+v; want no review and the permission off", developedState)
	}
}

func TestOnlyAddedFoldersAreDeveloped(t *testing.T) {
	d, _, _, _ := newDevelopedPlugin(t)
	endFirstDevelopment, err := d.beginDevelopment("/mine", wire.PermissionAuto)
	if err != nil {
		t.Fatal(err)
	}
	defer endFirstDevelopment()
	for _, c := range []struct {
		plugin plugin.Plugin
		want   bool
	}{
		{plugin.Plugin{Name: "a", Dir: "/mine", Source: plugin.SourceFolder}, true},
		{plugin.Plugin{Name: "a", Dir: "/other", Source: plugin.SourceFolder}, false},
		{plugin.Plugin{Name: "a", Dir: "/mine", Source: plugin.SourceNPM}, false},
	} {
		if d.folders.has(&c.plugin) != c.want {
			t.Errorf("development mode of the plugin %+v = %t; want %t", c.plugin, !c.want, c.want)
		}
	}
	if newDevFolders().has(&plugin.Plugin{}) {
		t.Error("has returned true although no folder was added; want false")
	}
	if _, err := d.beginDevelopment("/mine", "always"); err == nil {
		t.Error("beginDevelopment accepted the unknown permission \"always\"; want an error")
	}
}
