package statefile

import (
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/flock"
)

// ErrLocked is the error of [Lock] if another process or goroutine keeps the file locked
// until the timeout.
var ErrLocked = errors.New("it is locked")

const lockRetryInterval = 10 * time.Millisecond

// Lock locks the lock file at path against other processes and goroutines, and waits up to
// timeout. Lock and unlock never delete the lock file. If a process dies, the operating
// system releases its lock.
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
