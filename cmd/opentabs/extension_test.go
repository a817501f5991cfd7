package main

import (
	"slices"
	"testing"

	"opentabs/wire"
)

func TestManifestLast(t *testing.T) {
	names := []string{"worker.js", "manifest.json", "icons/16.png", "panel.html", "bridge.js"}
	slices.SortFunc(names, manifestLast)
	if want := []string{"bridge.js", "icons/16.png", "panel.html", "worker.js", "manifest.json"}; !slices.Equal(names, want) {
		t.Errorf("got %q", names)
	}
}

// TestAdapterFile names a file anew when the code or the host changes.
func TestAdapterFile(t *testing.T) {
	info := wire.PluginInfo{Name: "messages", Hash: "aa"}
	first := adapterFile(info, []byte("host"))
	if again := adapterFile(info, []byte("host")); again != first {
		t.Errorf("%s became %s", first, again)
	}
	other := adapterFile(info, []byte("another host"))
	info.Hash = "bb"
	if third := adapterFile(info, []byte("host")); other == first || third == first || other == third {
		t.Errorf("%s, %s, %s", first, other, third)
	}
}
