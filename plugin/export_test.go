package plugin

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"opentabs/internal/filemark"
)

func AdvanceIndexClockByMinute(s *Store) *Store {
	s.index.now = func() time.Time { return time.Now().Add(time.Minute) }
	return s
}

func CountAdapterReads(r *Registry) int { return int(r.store.index.missCount.Load()) }

func SetIndexedHash(t *testing.T, r *Registry, dir, hash string) {
	t.Helper()
	fileInfo, err := os.Stat(filepath.Join(dir, filepath.FromSlash(adapterFile)))
	if err != nil {
		t.Fatal(err)
	}
	r.store.index.addEntry(dir, filemark.Of(fileInfo), adapterInfo{hash: hash})
}
