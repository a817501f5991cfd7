package extensiondir

import (
	"slices"
	"testing"
)

func TestManifestIsSortedLast(t *testing.T) {
	names := []string{"worker.js", "manifest.json", "icons/16.png", "panel.html", "bridge.js"}
	slices.SortFunc(names, compareWithManifestLast)
	if want := []string{"bridge.js", "icons/16.png", "panel.html", "worker.js", "manifest.json"}; !slices.Equal(names, want) {
		t.Errorf("order of the extension's files = %q; want %q", names, want)
	}
}
