package config

import (
	"errors"
	"fmt"
	"time"

	"opentabs/internal/statefile"
)

// startWait is how long a server that starts waits for another one that does.
const startWait = 15 * time.Second

// LockStart waits until no other process is starting a server with these
// directories, and keeps others from it until unlock is called. The system
// unlocks for a process that dies. It gives up after 15 s.
func (d Dirs) LockStart() (unlock func(), err error) { return d.lockStart(startWait) }

func (d Dirs) lockStart(wait time.Duration) (unlock func(), err error) {
	unlock, err = statefile.Lock(d.lockFile(), wait)
	if errors.Is(err, statefile.ErrLocked) {
		return nil, fmt.Errorf("another opentabs has been starting for %s and holds %s: end that process, then try again", wait, d.lockFile())
	}
	return unlock, err
}
