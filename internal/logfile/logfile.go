// Package logfile writes a log file that is rotated when it exceeds a size limit.
package logfile

import (
	"fmt"
	"os"
	"sync"
)

// MaxBytes is the size limit of the daemon's log file. One rotated file is kept, so the
// log occupies at most twice MaxBytes.
const MaxBytes = 10 << 20

// File is an open log file. A File is safe for concurrent use.
type File struct {
	path  string
	limit int64

	mu   sync.Mutex // the mutex guards all fields below and serializes writes
	file *os.File
	size int64
	// isRegularFile is false for devices such as /dev/null, which cannot be rotated.
	isRegularFile bool
}

// Open opens the log file at path for appending, and creates the file if necessary. If the log file
// is already larger than limit bytes, Open first rotates the file.
func Open(path string, limit int64) (*File, error) {
	f := &File{path: path, limit: limit}
	if err := f.open(); err != nil {
		return nil, err
	}
	if f.size > limit {
		f.rotateFile()
	}
	return f, nil
}

// The caller of File.open must hold File.mu, or be the only user of f.
func (f *File) open() error {
	openedFile, err := os.OpenFile(f.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	fileInfo, err := openedFile.Stat()
	if err != nil {
		openedFile.Close()
		return fmt.Errorf("open the server's log: %w", err)
	}
	if f.file != nil {
		f.file.Close()
	}
	f.file, f.size, f.isRegularFile = openedFile, fileInfo.Size(), fileInfo.Mode().IsRegular()
	return nil
}

// Write appends p to the log file. If p would make the log file exceed its size limit, Write first
// rotates the file.
func (f *File) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size > 0 && f.size+int64(len(p)) > f.limit {
		f.rotateFile()
	}
	n, err := f.file.Write(p)
	f.size += int64(n)
	return n, err
}

// If the log file cannot be renamed, Write appends to the full file, and tries to rotate it again after f.limit more
// bytes. The caller of rotateFile must hold File.mu, or be the only user of f.
func (f *File) rotateFile() {
	f.size = 0
	if f.isRegularFile && os.Rename(f.path, f.path+".1") == nil {
		_ = f.open()
	}
}

// Size returns the number of bytes in the current log file, without the rotated file.
func (f *File) Size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size
}

// OS returns the open log file, so that child processes can write directly to it. After Write has
// rotated the log, OS returns the new file.
func (f *File) OS() *os.File {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file
}

// Close closes the current log file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Close()
}
