package plugin

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// errLocked is what tryLock returns while someone else holds the lock.
var errLocked = errors.New("locked")

// lockRetry is the time between two tries to get a lock.
const lockRetry = 20 * time.Millisecond

// lock takes the lock file at path, for this process and against others, and
// waits for it as long as it may. The file stays; the system frees its lock
// when a process dies.
func lock(path string, wait time.Duration) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the list of plugins: %w", err)
	}
	deadline := time.Now().Add(wait)
	for {
		err := tryLock(f)
		if err == nil {
			return func() { f.Close() }, nil // closing frees it
		}
		if !errors.Is(err, errLocked) {
			f.Close()
			return nil, fmt.Errorf("lock the list of plugins: %w", err)
		}
		if time.Now().After(deadline) {
			f.Close()
			return nil, fmt.Errorf("the list of plugins is being changed by another opentabs (%s has been locked for %s); wait for it to end and try again", path, wait)
		}
		time.Sleep(lockRetry)
	}
}
