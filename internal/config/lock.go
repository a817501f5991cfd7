package config

import (
	"fmt"
	"os"
)

// LockStart waits until no other process is starting a server with these
// directories, and keeps others from it until unlock is called. The system
// unlocks for a process that dies.
func (d Dirs) LockStart() (unlock func() error, err error) {
	f, err := os.OpenFile(d.lockFile(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the state directory: %w", err)
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the state directory: %w", err)
	}
	return f.Close, nil
}
