package mcpserver

import (
	"maps"
	"slices"
	"testing"

	"opentabs/plugin"
)

// A loader warns of plugins whose descriptions name our own tools; it can't ask
// this package for them.
func TestOwnToolsAreKnownToTheLoader(t *testing.T) {
	known := slices.Sorted(slices.Values(plugin.OwnTools))
	if own := slices.Sorted(maps.Keys(builtinTools)); !slices.Equal(own, known) {
		t.Errorf("the tools are %q, but plugin.OwnTools are %q; make them the same", own, known)
	}
}
