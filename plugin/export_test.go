package plugin

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"opentabs/internal/filemark"
)

// LaterIndex has the index of a store take the time for a minute later than it is.
func LaterIndex(s *Store) *Store {
	s.index.now = func() time.Time { return time.Now().Add(time.Minute) }
	return s
}

// AdaptersRead counts the adapters that were not in the index of a registry.
func AdaptersRead(r *Registry) int { return int(r.store.index.misses.Load()) }

// ForgeIndex has the index of a registry give the adapter in dir this hash.
func ForgeIndex(t *testing.T, r *Registry, dir, hash string) {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(adapterFile)))
	if err != nil {
		t.Fatal(err)
	}
	r.store.index.note(dir, filemark.Of(info), adapterInfo{hash: hash})
}
