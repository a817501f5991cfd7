package main

import (
	"slices"
	"testing"
)

func TestManifestLast(t *testing.T) {
	names := []string{"worker.js", "manifest.json", "icons/16.png", "panel.html", "bridge.js"}
	slices.SortFunc(names, manifestLast)
	if want := []string{"bridge.js", "icons/16.png", "panel.html", "worker.js", "manifest.json"}; !slices.Equal(names, want) {
		t.Errorf("got %q", names)
	}
}

// TestScriptID names a script anew when the code or the host changes.
func TestScriptID(t *testing.T) {
	first := scriptID("aa", []byte("host"))
	if again := scriptID("aa", []byte("host")); again != first {
		t.Errorf("%s became %s", first, again)
	}
	other, third := scriptID("aa", []byte("another host")), scriptID("bb", []byte("host"))
	if other == first || third == first || other == third {
		t.Errorf("%s, %s, %s", first, other, third)
	}
}
