package linefile

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// logInterval is the least time between two log entries about failed writes.
const logInterval = time.Minute

// Options configure a log. Log is optional; all other fields are required.
type Options struct {
	// Subject names the lines in log messages, such as "the audit".
	Subject string
	// FileBytes is the size at which a file is rotated.
	FileBytes int64
	// Files is how many files are kept.
	Files int
	// PendingBytes limits the lines that wait for the disk. Lines beyond PendingBytes
	// are dropped and counted.
	PendingBytes int
	// Dropped returns the line that reports n dropped lines; nil for no line.
	Dropped func(n int) []byte
	// IsChained makes the lines of the log a chain that [Verify] checks. Each line is a
	// JSON object, and gets a number and the hash of the line before.
	IsChained bool
	// Log receives failed writes, at most one entry a minute. Default: nothing is
	// logged.
	Log zerolog.Logger
}

// Log writes lines to rotated files. Create a Log with [Open], and end it with Close.
type Log struct {
	path string
	opts Options
	wake chan struct{} // holds a token while there is something to write
	done chan struct{} // closed when the writer has ended

	mu           sync.Mutex // guards all fields below
	pending      []byte     // pending has whole lines only
	pendingLines int        // number of lines in pending
	droppedLines int        // number of lines that were dropped since the last written line
	isClosed     bool

	// Only the writing goroutine uses the fields below.
	file              *os.File // nil if the log file could not be opened
	size              int64
	endsInPartialLine bool // the last line of the file is incomplete
	lastLogTime       time.Time
	chain             chainLink // the end of the chain in file; unused if file is nil
}

// Open opens the log at path, in an existing folder. If the file cannot be opened, each
// write tries again.
func Open(path string, o Options) *Log {
	l := &Log{path: path, opts: o, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go l.write()
	return l
}

// Write queues a line, which must contain only one line feed, at its end. Write never
// waits for the disk. After Close, Write does nothing.
func (l *Log) Write(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isClosed {
		return
	}
	if len(l.pending)+len(line) > l.opts.PendingBytes {
		l.droppedLines++
		return
	}
	l.pending = append(l.pending, line...)
	l.pendingLines++
	l.wakeWriter()
}

func (l *Log) wakeWriter() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Close writes the pending lines and closes the file.
func (l *Log) Close() {
	l.mu.Lock()
	l.isClosed = true
	l.mu.Unlock()
	l.wakeWriter()
	<-l.done
}

// write writes pending lines until the log is closed.
func (l *Log) write() {
	defer close(l.done)
	for range l.wake {
		text, lines, droppedLines, isClosed := l.takePending()
		if lines+droppedLines > 0 {
			l.appendLines(text, lines, droppedLines)
		}
		if isClosed {
			if l.file != nil {
				l.file.Close()
			}
			return
		}
	}
}

// takePending empties the queue and returns its lines.
func (l *Log) takePending() (text []byte, lines, droppedLines int, isClosed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, lines, droppedLines, isClosed = l.pending, l.pendingLines, l.droppedLines, l.isClosed
	l.pending, l.pendingLines, l.droppedLines = nil, 0, 0
	return text, lines, droppedLines, isClosed
}

// appendLines writes lines to the file, after a line with the number of dropped lines.
// Lines that cannot be written count as dropped.
func (l *Log) appendLines(text []byte, lines, droppedLines int) {
	if droppedLines > 0 {
		text = append(l.opts.Dropped(droppedLines), text...)
	}
	err := l.writeText(text)
	if err == nil {
		return
	}
	l.mu.Lock()
	l.droppedLines += droppedLines + lines
	l.mu.Unlock()
	if time.Since(l.lastLogTime) >= logInterval {
		l.lastLogTime = time.Now()
		l.opts.Log.Error().Err(err).Int("lines", droppedLines+lines).Msg(l.opts.Subject + " cannot be written; events are not recorded")
	}
}

// writeText writes whole lines to the log file.
func (l *Log) writeText(text []byte) error {
	if l.opts.IsChained {
		return l.writeChained(text)
	}
	if l.endsInPartialLine {
		text = append([]byte("\n"), text...)
	}
	if err := l.prepareFile(int64(len(text))); err != nil {
		return err
	}
	n, err := l.file.Write(text)
	l.size += int64(n)
	l.endsInPartialLine = n > 0 && text[n-1] != '\n' || n == 0 && l.endsInPartialLine
	return err
}

// prepareFile opens the file, and rotates it if newBytes exceed its limit.
func (l *Log) prepareFile(newBytes int64) error {
	if l.file == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	if l.size == 0 || l.size+newBytes <= l.opts.FileBytes {
		return nil
	}
	l.file.Close()
	l.file = nil
	l.rotateFiles()
	return l.open()
}

func (l *Log) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

// rotateFiles renames the files and removes the oldest. If renaming fails, the current
// file keeps growing.
func (l *Log) rotateFiles() {
	for n := l.opts.Files - 1; n > 0; n-- {
		if err := os.Rename(rotatedPath(l.path, n-1), rotatedPath(l.path, n)); err != nil && !os.IsNotExist(err) {
			l.opts.Log.Warn().Err(err).Msg("an old file of " + l.opts.Subject + " could not be renamed")
			return
		}
	}
	if l.opts.Files == 1 {
		if err := os.Remove(l.path); err != nil {
			l.opts.Log.Warn().Err(err).Msg("an old file of " + l.opts.Subject + " could not be removed")
		}
	}
}

// rotatedPath returns the path of a file after n rotations.
func rotatedPath(path string, n int) string {
	if n == 0 {
		return path
	}
	return fmt.Sprintf("%s.%d", path, n)
}
