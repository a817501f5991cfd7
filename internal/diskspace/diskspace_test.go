package diskspace

import (
	"path/filepath"
	"testing"
)

// TestFreeBytes checks that FreeBytes also works for a directory that does not exist.
func TestFreeBytes(t *testing.T) {
	freeBytes, err := FreeBytes(t.TempDir())
	if err != nil || freeBytes == 0 {
		t.Fatalf("free space of the temporary directory = %d, error %v; want more than 0 bytes", freeBytes, err)
	}
	if _, err := FreeBytes(filepath.Join(t.TempDir(), "missing", "directory")); err != nil {
		t.Errorf("free space of a missing directory = %v, want no error", err)
	}
}
