package statefile

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLockWaitsAndTimesOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(path, time.Millisecond); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
		t.Errorf("second Lock of a file returned %v, want ErrLocked with the path", err)
	}
	lockErr := make(chan error, 1)
	go func() {
		unlockAgain, err := Lock(path, time.Minute)
		if err == nil {
			unlockAgain()
		}
		lockErr <- err
	}()
	unlock()
	if err := <-lockErr; err != nil {
		t.Errorf("Lock after unlock returned %v, want no error", err)
	}
}
