package upgrade

import (
	"errors"
	"fmt"
	"os"
)

// On Windows, a running program can be renamed, but not replaced.
func replaceProgram(newProgramPath, path, backupPath string) error {
	if err := os.Rename(path, backupPath); err != nil {
		return fmt.Errorf("keep the earlier program: %w", err)
	}
	if err := os.Rename(newProgramPath, path); err != nil {
		return errors.Join(fmt.Errorf("replace the program: %w", err), os.Rename(backupPath, path))
	}
	return nil
}
