package plugin

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLockGivesUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), lockFile)
	unlock, err := lock(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(path, time.Millisecond); err == nil || !strings.Contains(err.Error(), "is being changed by another opentabs") {
		t.Errorf("a second lock: %v", err)
	}
	taken := make(chan error, 1)
	go func() {
		second, err := lock(path, time.Minute)
		if err == nil {
			second()
		}
		taken <- err
	}()
	unlock()
	if err := <-taken; err != nil {
		t.Errorf("after unlock: %v", err)
	}
}
