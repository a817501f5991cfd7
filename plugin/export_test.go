package plugin

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"opentabs/internal/filemark"
)

// LaterIndex sets the clock of a store's index of adapters one minute ahead.
func LaterIndex(s *Store) *Store {
	s.index.now = func() time.Time { return time.Now().Add(time.Minute) }
	return s
}

// AdaptersRead returns how many adapters a registry has read because the index did not
// contain them.
func AdaptersRead(r *Registry) int { return int(r.store.index.lookupMisses.Load()) }

// ForgeIndex replaces the stored hash of the adapter in dir in the registry's index.
func ForgeIndex(t *testing.T, r *Registry, dir, hash string) {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(adapterFile)))
	if err != nil {
		t.Fatal(err)
	}
	r.store.index.addEntry(dir, filemark.Of(info), adapterInfo{hash: hash})
}
