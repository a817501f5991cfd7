package statefile

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLockGivesUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(path, time.Millisecond); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
		t.Errorf("a second lock: %v", err)
	}
	lockErr := make(chan error, 1)
	go func() {
		unlockSecond, err := Lock(path, time.Minute)
		if err == nil {
			unlockSecond()
		}
		lockErr <- err
	}()
	unlock()
	if err := <-lockErr; err != nil {
		t.Errorf("after unlock: %v", err)
	}
}
