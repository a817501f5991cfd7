package statedoc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"opentabs/internal/statefile"
)

// File is a file in the state folder that several processes change. The type parameter T
// of File is the Go type of the file's content.
type File[T any] struct {
	Path string
	// Subject describes the file in messages, such as "the list of plugins".
	Subject string
	// LossWarning is the end of the warning about a damaged file. LossWarning states a
	// consequence or gives advice, such as "pin your tools again".
	LossWarning string
	LockWait    time.Duration
	Warn        func(warning string)
	NewContent  func() T
	// Parse decodes the text of the file. If the text is damaged, Parse returns a
	// *[DamagedError].
	Parse  func(documentText []byte) (T, error)
	Encode func(T) []byte
}

// DamagedError is the error for a file whose text cannot be decoded. The text of Problem continues a sentence that
// begins with the file's path, as in "is not valid JSON".
type DamagedError struct{ Problem string }

func (e *DamagedError) Error() string { return e.Problem }

// Read reads and parses the file. If the file is missing, Read returns the empty content
// that the function NewContent creates.
func (f File[T]) Read() (T, error) {
	documentText, err := os.ReadFile(f.Path)
	if errors.Is(err, os.ErrNotExist) {
		return f.NewContent(), nil
	}
	if err != nil {
		var zeroValue T
		return zeroValue, fmt.Errorf("read %s: %w", f.Subject, err)
	}
	content, err := f.Parse(documentText)
	if err != nil {
		return content, fmt.Errorf("%s %w", f.Path, err)
	}
	return content, nil
}

// Change reads the file, calls editContent to modify the content, and writes the content back.
// A lock file keeps other processes from changing the file at the same time. A damaged file is
// renamed and replaced by a new file.
func (f File[T]) Change(editContent func(T) error) error {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return fmt.Errorf("make the state folder: %w", err)
	}
	lock := f.Path + ".lock"
	unlock, err := statefile.Lock(lock, f.LockWait)
	if errors.Is(err, statefile.ErrLocked) {
		return fmt.Errorf("%s is being changed by another opentabs (%s has been locked for %s); wait for it to end and try again", f.Subject, lock, f.LockWait)
	}
	if err != nil {
		return err
	}
	defer unlock()
	content, err := f.Read()
	if content, err = f.renameDamagedFile(content, err); err != nil {
		return err
	}
	if err := editContent(content); err != nil {
		return err
	}
	return statefile.Write(f.Path, f.Encode(content))
}

// The caller of renameDamagedFile must have locked the file.
func (f File[T]) renameDamagedFile(content T, err error) (T, error) {
	var damagedErr *DamagedError
	if !errors.As(err, &damagedErr) {
		return content, err
	}
	backupPath, renameErr := statefile.RenameDamagedFile(f.Path)
	if renameErr != nil {
		return content, fmt.Errorf("%w; %w", err, renameErr)
	}
	f.Warn(fmt.Sprintf("%s in %s was damaged and is kept as %s; %s", f.Subject, f.Path, backupPath, f.LossWarning))
	return f.NewContent(), nil
}
