package plugin

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"opentabs/internal/filemark"
)

// AdvanceIndexClock makes the clock that a store uses for its index of adapters one
// minute fast.
func AdvanceIndexClock(s *Store) *Store {
	s.index.now = func() time.Time { return time.Now().Add(time.Minute) }
	return s
}

// CountAdapterReads returns how many adapter files a registry has read because its index
// had no entry for them.
func CountAdapterReads(r *Registry) int { return int(r.store.index.lookupMisses.Load()) }

// ForgeIndexedHash replaces the hash that the registry's index stores for the adapter in
// the folder dir.
func ForgeIndexedHash(t *testing.T, r *Registry, dir, hash string) {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(adapterFile)))
	if err != nil {
		t.Fatal(err)
	}
	r.store.index.addEntry(dir, filemark.Of(info), adapterInfo{hash: hash})
}
