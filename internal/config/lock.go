package config

import (
	"errors"
	"fmt"
	"time"

	"opentabs/internal/statefile"
)

const startLockTimeout = 15 * time.Second

// LockStart acquires the lock that lets only one process at a time start a server with
// the same directories. If another process keeps the lock for 15 s, LockStart returns an
// error. If a process dies, the operating system releases its lock.
func (d Dirs) LockStart() (unlock func(), err error) { return d.lockStart(startLockTimeout) }

func (d Dirs) lockStart(waitTime time.Duration) (unlock func(), err error) {
	unlock, err = statefile.Lock(d.lockFile(), waitTime)
	if errors.Is(err, statefile.ErrLocked) {
		return nil, fmt.Errorf("another opentabs has been starting for %s and holds %s: end that process, then try again", waitTime, d.lockFile())
	}
	return unlock, err
}
