package statefile

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrLocked says that another process, or another goroutine, held a lock for
// too long.
var ErrLocked = errors.New("it is locked")

// lockRetry is the time between two tries to get a lock.
const lockRetry = 10 * time.Millisecond

// Lock takes the lock file at path, for this process and against others, and
// waits for it at most as long as wait. The file stays; the system frees the
// lock of a process that dies.
func Lock(path string, wait time.Duration) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	deadline := time.Now().Add(wait)
	for {
		err := tryLock(f)
		switch {
		case err == nil:
			return func() { f.Close() }, nil // closing frees it
		case !errors.Is(err, ErrLocked) || !time.Now().Before(deadline):
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		time.Sleep(lockRetry)
	}
}
