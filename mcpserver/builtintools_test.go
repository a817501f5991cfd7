package mcpserver

import (
	"maps"
	"slices"
	"testing"

	"opentabs/plugin"
)

// Package plugin has its own list of built-in tools, because it cannot import package mcpserver.
func TestBuiltinToolsOfTheLoader(t *testing.T) {
	loaderNames := slices.Sorted(slices.Values(plugin.BuiltinToolNames))
	if ownNames := slices.Sorted(maps.Keys(indexByName(slices.Collect(maps.Values(builtinTools)), gatewayToolTable))); !slices.Equal(ownNames, loaderNames) {
		t.Errorf("the tools are %q, but plugin.OwnTools are %q; make them the same", ownNames, loaderNames)
	}
}
