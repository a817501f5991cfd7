package upgrade

import (
	"errors"
	"fmt"
	"os"
)

// On Windows, a running program can be renamed, but not replaced.
func swapProgram(newPath, path, kept string) error {
	if err := os.Rename(path, kept); err != nil {
		return fmt.Errorf("keep the earlier program: %w", err)
	}
	if err := os.Rename(newPath, path); err != nil {
		return errors.Join(fmt.Errorf("replace the program: %w", err), os.Rename(kept, path))
	}
	return nil
}
