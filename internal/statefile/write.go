package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const tempSuffix = ".tmp"

// minLeftoverAge is the age at which a temporary file is treated as abandoned by a crashed
// process. A file whose modification time is more than minLeftoverAge in the future also
// counts as abandoned: the computer's clock was set back.
const minLeftoverAge = time.Minute

// Write atomically replaces the file at path with a new file that contains fileContent. A reader of a file that Write
// replaces gets the old or the new content, even after a crash or a power failure. Write creates the new file with
// mode 0600.
func Write(path string, fileContent []byte) error { return Replace(path, fileContent, nil) }

// Replace is like Write, and calls prepare before the new file replaces the old file. The function prepare sets, for
// example, the mode of the new file, and may be nil.
func Replace(path string, fileContent []byte, prepare func(*os.File) error) error {
	tempFile, err := writeTemp(path, fileContent, prepare)
	if err != nil {
		return err
	}
	if err := os.Rename(tempFile, path); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(tempFile))
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Create is like [Write], but keeps the file at path if it exists, even if another process
// creates it at the same time. If the file at path already exists, Create returns nil.
func Create(path string, fileContent []byte) error {
	tempFile, err := writeTemp(path, fileContent, nil)
	if err != nil {
		return err
	}
	// A hard link never replaces a file, unlike a rename. The hard link appears only
	// after all bytes are written, so no process reads an incomplete file.
	err = os.Link(tempFile, path)
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err = errors.Join(err, os.Remove(tempFile)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func writeTemp(path string, fileContent []byte, prepare func(*os.File) error) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+tempSuffix)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(fileContent)
	if err == nil && prepare != nil {
		err = prepare(f)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// CheckWritable returns an error if no file can be written in dir. As a test,
// CheckWritable writes a file of 4 KB and deletes the file.
func CheckWritable(dir string) error {
	tempFile, err := writeTemp(filepath.Join(dir, "try"), make([]byte, 4<<10), nil)
	if err != nil {
		return err
	}
	if err := os.Remove(tempFile); err != nil {
		return fmt.Errorf("remove the test file: %w", err)
	}
	return nil
}

// RenameDamagedFile renames a damaged file, so that opentabs does not overwrite it. RenameDamagedFile
// appends the suffix ".corrupt-" and the time in UTC to the file's name.
func RenameDamagedFile(path string) (backupPath string, err error) {
	baseName := path + ".corrupt-" + time.Now().UTC().Format("20060102T150405Z")
	backupPath = baseName
	for n := 2; ; n++ {
		if _, err := os.Lstat(backupPath); errors.Is(err, fs.ErrNotExist) {
			break
		}
		backupPath = fmt.Sprintf("%s-%d", baseName, n)
	}
	if err := os.Rename(path, backupPath); err != nil {
		return "", fmt.Errorf("put the damaged file %s aside: %w", path, err)
	}
	return backupPath, nil
}

// RemoveLeftovers deletes the temporary files that crashed processes left in dir.
// RemoveLeftovers ignores all errors.
func RemoveLeftovers(dir string) {
	dirEntries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range dirEntries {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), tempSuffix) {
			continue
		}
		if fileInfo, err := e.Info(); err == nil && time.Since(fileInfo.ModTime()).Abs() > minLeftoverAge {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
