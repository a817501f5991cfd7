package plugin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"opentabs/internal/statefile"
)

// stateFile is one of the files in the state folder that several processes
// change: its path, and how its content T is read and written.
type stateFile[T any] struct {
	path string
	// what says to a person what the file is, as in "the list of plugins".
	what string
	// lost says to a person what is gone when a damaged file was put aside, and
	// what to do.
	lost  string
	wait  time.Duration
	warn  func(sentence string)
	empty func() T
	// parse returns a *corruptError for text that nothing can be read from.
	parse  func(text []byte) (T, error)
	encode func(T) []byte
}

// read parses the file; one that is not there is empty.
func (f stateFile[T]) read() (T, error) {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return f.empty(), nil
	}
	if err != nil {
		var none T
		return none, fmt.Errorf("read %s: %w", f.what, err)
	}
	content, err := f.parse(text)
	if err != nil {
		return content, fmt.Errorf("%s %w", f.path, err)
	}
	return content, nil
}

// change reads the file, lets edit change its content and writes it back, all
// under a lock that other processes honour too. A damaged file is put aside
// first, and a new one begun.
func (f stateFile[T]) change(edit func(T) error) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("make the state folder: %w", err)
	}
	lock := f.path + ".lock"
	unlock, err := statefile.Lock(lock, f.wait)
	if errors.Is(err, statefile.ErrLocked) {
		return fmt.Errorf("%s is being changed by another opentabs (%s has been locked for %s); wait for it to end and try again", f.what, lock, f.wait)
	}
	if err != nil {
		return err
	}
	defer unlock()
	content, err := f.read()
	if content, err = f.mend(content, err); err != nil {
		return err
	}
	if err := edit(content); err != nil {
		return err
	}
	return statefile.Write(f.path, f.encode(content))
}

// mend puts the file aside if err is that it is damaged, and returns an empty
// content in its place. The caller holds the lock.
func (f stateFile[T]) mend(content T, err error) (T, error) {
	var corrupt *corruptError
	if !errors.As(err, &corrupt) {
		return content, err
	}
	kept, moveErr := statefile.PutAside(f.path)
	if moveErr != nil {
		return content, fmt.Errorf("%w; %w", err, moveErr)
	}
	f.warn(fmt.Sprintf("%s in %s was damaged and is kept as %s; %s", f.what, f.path, kept, f.lost))
	return f.empty(), nil
}
