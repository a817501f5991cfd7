package plugin_test

import (
	"testing"

	"opentabs/plugin/plugintest"
)

func TestRegistryServesWhatWasAdded(t *testing.T) {
	registry, _ := plugintest.Registry(t, plugintest.Package{Name: "b"}, plugintest.Package{Name: "a"})
	set := registry.Set()
	if names := set.Plugins(); len(names) != 2 || names[0].Name != "a" {
		t.Fatalf("plugins: %v", names)
	}
	tool, ok := set.Tool("a__echo")
	if !ok {
		t.Fatal("no tool a__echo")
	}
	if err := tool.Validate(nil); err != nil {
		t.Fatal(err)
	}
}
