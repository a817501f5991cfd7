package main

import (
	"fmt"
	"os"
	"sync"
)

// maxLogBytes is how large serve.log may become before it is put aside, and
// with it the one that was put aside before: together at most twice as much.
const maxLogBytes = 10 << 20

// logFile is the log of a server in the background. It begins anew when it has
// become too large. It is safe for concurrent use.
type logFile struct {
	path  string
	limit int64

	mu   sync.Mutex // guards all below and the writes
	file *os.File
	size int64
	// regular is false for what only stands among files, such as /dev/null.
	regular bool
}

// openLogFile opens the log at path to append to it, and puts one aside that is
// too large already.
func openLogFile(path string, limit int64) (*logFile, error) {
	l := &logFile{path: path, limit: limit}
	if err := l.open(); err != nil {
		return nil, err
	}
	if l.size > limit {
		l.putAside()
	}
	return l, nil
}

// open opens the file. The caller holds mu, or has l for itself.
func (l *logFile) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return fmt.Errorf("open the server's log: %w", err)
	}
	if l.file != nil {
		l.file.Close()
	}
	l.file, l.size, l.regular = f, info.Size(), info.Mode().IsRegular()
	return nil
}

// Write implements io.Writer.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(p)) > l.limit {
		l.putAside()
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}

// putAside begins a new file. If that fails the log goes on in the old one, and
// this is tried again when as much has been added. The caller holds mu, or has l
// for itself.
func (l *logFile) putAside() {
	l.size = 0
	if l.regular && os.Rename(l.path, l.path+".1") == nil {
		_ = l.open()
	}
}

// Close closes the file.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
