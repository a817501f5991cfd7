package statefile

import (
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/flock"
)

// ErrLocked is the error of [Lock] if another process, or another goroutine, holds
// the lock for too long.
var ErrLocked = errors.New("it is locked")

// lockRetryInterval is the time between two attempts to take a lock.
const lockRetryInterval = 10 * time.Millisecond

// Lock takes the lock file at path for one goroutine of one process. Lock waits up to
// timeout. The lock file is never removed; the system frees the lock of a process that
// dies.
func Lock(path string, timeout time.Duration) (unlock func(), err error) {
	lock := flock.New(path)
	deadline := time.Now().Add(timeout)
	for {
		isLocked, err := lock.TryLock()
		switch {
		case isLocked:
			return func() { _ = lock.Unlock() }, nil
		case err != nil:
			return nil, fmt.Errorf("lock %s: %w", path, err)
		case !time.Now().Before(deadline):
			return nil, fmt.Errorf("lock %s: %w", path, ErrLocked)
		}
		time.Sleep(lockRetryInterval)
	}
}
