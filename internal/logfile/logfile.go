// Package logfile writes a log file that is rotated when it becomes too large.
package logfile

import (
	"fmt"
	"os"
	"sync"
)

// MaxBytes is the size at which the daemon's log is rotated. One rotated file is kept,
// so the log takes at most twice MaxBytes.
const MaxBytes = 10 << 20

// File is a log file. File is safe for concurrent use.
type File struct {
	path  string
	limit int64

	mu   sync.Mutex // guards all fields below and the writes
	file *os.File
	size int64
	// isRegular is false for a device such as /dev/null, which cannot be rotated.
	isRegular bool
}

// Open opens the log at path for appending. Open rotates a file that is larger than
// limit.
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

// open opens the log file for appending, and closes a file that was open before. The
// caller holds mu, or is the only user of f.
func (f *File) open() error {
	openedFile, err := os.OpenFile(f.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	info, err := openedFile.Stat()
	if err != nil {
		openedFile.Close()
		return fmt.Errorf("open the server's log: %w", err)
	}
	if f.file != nil {
		f.file.Close()
	}
	f.file, f.size, f.isRegular = openedFile, info.Size(), info.Mode().IsRegular()
	return nil
}

// Write implements io.Writer.
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

// rotateFile renames the file to path.1 and starts a new one. If the rename fails,
// writes continue in the old file, and File tries again after limit more bytes. The
// caller holds mu, or is the only user of f.
func (f *File) rotateFile() {
	f.size = 0
	if f.isRegular && os.Rename(f.path, f.path+".1") == nil {
		_ = f.open()
	}
}

// Size returns the number of bytes in the current file.
func (f *File) Size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size
}

// OS returns the open file, for a child process that writes to it directly. After a
// rotation of the log, OS returns another file.
func (f *File) OS() *os.File {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file
}

// Close closes the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Close()
}
