package mcpserver

import (
	"maps"
	"slices"
	"testing"

	"opentabs/plugin"
)

// TestBuiltinToolsOfTheLoader checks that package plugin warns of descriptions that
// name built-in tools. Its list must be complete, because it cannot import this
// package.
func TestBuiltinToolsOfTheLoader(t *testing.T) {
	known := slices.Sorted(slices.Values(plugin.OwnTools))
	if own := slices.Sorted(maps.Keys(builtinTools)); !slices.Equal(own, known) {
		t.Errorf("the tools are %q, but plugin.OwnTools are %q; make them the same", own, known)
	}
}
