//go:build unix

package upgrade

import (
	"errors"
	"fmt"
	"os"
)

// Because a rename is atomic, there is a complete program at path at all times.
func replaceProgram(newProgramPath, path, backupFile string) error {
	if os.Link(path, backupFile) != nil { // not every file system supports hard links
		if err := copyProgram(path, backupFile); err != nil {
			return fmt.Errorf("keep the earlier program: %w", err)
		}
	}
	if err := os.Rename(newProgramPath, path); err != nil {
		return errors.Join(fmt.Errorf("replace the program: %w", err), os.Remove(backupFile))
	}
	return nil
}

func copyProgram(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return writeProgram(to, f)
}
