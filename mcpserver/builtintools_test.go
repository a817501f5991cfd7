package mcpserver

import (
	"maps"
	"slices"
	"testing"

	"opentabs/plugin"
)

// TestBuiltinToolsOfTheLoader checks that package plugin warns of descriptions that
// name built-in tools. Package plugin needs a complete copy of the list of built-in
// tools, because it cannot import mcpserver.
func TestBuiltinToolsOfTheLoader(t *testing.T) {
	known := slices.Sorted(slices.Values(plugin.BuiltinToolNames))
	if own := slices.Sorted(maps.Keys(indexByName(slices.Collect(maps.Values(builtinTools)), metaTools))); !slices.Equal(own, known) {
		t.Errorf("the tools are %q, but plugin.OwnTools are %q; make them the same", own, known)
	}
}
