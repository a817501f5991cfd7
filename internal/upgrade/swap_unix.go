//go:build unix

package upgrade

import (
	"errors"
	"fmt"
	"os"
)

// Because a rename is atomic, there is a complete program at path at all times.
func replaceProgram(newPath, path, keptFile string) error {
	if os.Link(path, keptFile) != nil { // not every file system supports hard links
		if err := copyProgram(path, keptFile); err != nil {
			return fmt.Errorf("keep the earlier program: %w", err)
		}
	}
	if err := os.Rename(newPath, path); err != nil {
		return errors.Join(fmt.Errorf("replace the program: %w", err), os.Remove(keptFile))
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
