package mcpserver

import (
	"maps"
	"slices"
	"testing"

	"opentabs/plugin"
)

// TestBuiltinToolsOfTheLoader checks that plugin.BuiltinToolNames lists all built-in tools.
// Package plugin has its own list of the built-in tools, because it cannot import package
// mcpserver. Package plugin warns of plugin descriptions that name a built-in tool.
func TestBuiltinToolsOfTheLoader(t *testing.T) {
	known := slices.Sorted(slices.Values(plugin.BuiltinToolNames))
	if own := slices.Sorted(maps.Keys(indexByName(slices.Collect(maps.Values(builtinTools)), gatewayToolTable))); !slices.Equal(own, known) {
		t.Errorf("the tools are %q, but plugin.OwnTools are %q; make them the same", own, known)
	}
}
