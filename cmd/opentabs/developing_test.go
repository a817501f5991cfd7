package main

import (
	"testing"

	"github.com/rs/zerolog"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

// developed is a registry with two plugins, of which the first can be built anew.
func developed(t *testing.T) (d *developing, changes *int, build func(code string), reload func() (mine, other plugin.State)) {
	t.Helper()
	state := t.TempDir()
	store := plugin.NewStore(state, plugin.StoreOptions{})
	dirs := []string{plugintest.Package{Name: "mine"}.Write(t), plugintest.Package{Name: "other"}.Write(t)}
	for _, dir := range dirs {
		if _, err := store.Add(dir); err != nil {
			t.Fatal(err)
		}
	}
	registry := plugin.NewRegistry(store, zerolog.Nop())
	changes = new(int)
	d = &developing{set: registry.Set, changed: func() { *changes++ }, held: map[string]*heldOpen{}}
	policy := plugin.NewPolicy(state, registry.Set, plugin.PolicyOptions{Trusted: d.permission})
	d.policy = policy
	// Nobody ever sees a build that is being developed without a review.
	registry.OnChange(func(*plugin.Set) {
		one, _ := registry.Set().Plugin("mine")
		if state := policy.State("mine"); d.has(one) && !state.Reviewed {
			t.Errorf("between two builds: %+v", state)
		}
	})
	registry.OnChange(d.review)
	reload = func() (mine, other plugin.State) {
		t.Helper()
		if err := registry.Reload(); err != nil {
			t.Fatal(err)
		}
		return policy.State("mine"), policy.State("other")
	}
	build = func(code string) { plugintest.Package{Name: "mine", Code: code}.WriteTo(t, dirs[0]) }
	reload()
	return d, changes, build, reload
}

// dirOfPlugin is the folder that a plugin of the list is in.
func dirOfPlugin(t *testing.T, d *developing, name string) string {
	t.Helper()
	one, ok := d.set().Plugin(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	return one.Dir
}

func TestBuildsCountAsReviewedWhileTheyAreDeveloped(t *testing.T) {
	d, changes, build, reload := developed(t)
	if mine, _ := reload(); mine.Reviewed {
		t.Fatal("it is reviewed before anybody has seen it")
	}
	end, err := d.begin(dirOfPlugin(t, d, "mine"), wire.PermissionAsk)
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.begin(dirOfPlugin(t, d, "mine"), wire.PermissionAsk)
	if err != nil || *changes != 1 {
		t.Errorf("%d changes, %v", *changes, err)
	}
	for _, code := range []string{"", "(function(){ var second })();", "(function(){ var third })();"} {
		if code != "" {
			build(code)
		}
		if mine, other := reload(); !mine.Reviewed || mine.Effective != wire.PermissionAsk || other.Reviewed {
			t.Errorf("after %q: mine %+v, other %+v", code, mine, other)
		}
	}
	// What the person has decided stays.
	if err := d.policy.SetPermission("mine", "", wire.PermissionAuto, "test"); err != nil {
		t.Fatal(err)
	}
	build("(function(){ var fourth })();")
	again()
	if mine, _ := reload(); mine.Effective != wire.PermissionAuto || *changes != 1 {
		t.Errorf("one command goes on: %+v, %d changes", mine, *changes)
	}
	// What was built last stays, and what is built later does not count.
	end()
	if mine, _ := reload(); !mine.Reviewed || *changes != 2 {
		t.Errorf("ended: %+v, %d changes", mine, *changes)
	}
	build("(function(){ var fifth })();")
	if mine, _ := reload(); mine.Reviewed || mine.Effective != wire.PermissionOff {
		t.Errorf("a build after the end: %+v", mine)
	}
}

func TestDevelopingIsAboutAFolderOfThePerson(t *testing.T) {
	d, _, _, _ := developed(t)
	end, err := d.begin("/mine", wire.PermissionAuto)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	for _, c := range []struct {
		one  plugin.Plugin
		want bool
	}{
		{plugin.Plugin{Name: "a", Dir: "/mine", Source: plugin.SourceFolder}, true},
		{plugin.Plugin{Name: "a", Dir: "/other", Source: plugin.SourceFolder}, false},
		{plugin.Plugin{Name: "a", Dir: "/mine", Source: plugin.SourceNPM}, false},
	} {
		if d.has(&c.one) != c.want {
			t.Errorf("%+v: %t", c.one, !c.want)
		}
	}
	if (*developing)(nil).has(&plugin.Plugin{}) {
		t.Error("without a list there is one")
	}
	if _, err := d.begin("/mine", "always"); err == nil {
		t.Error("a permission that there is not was taken")
	}
}
