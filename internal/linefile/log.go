package linefile

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const logInterval = time.Minute

// writeInterval is the minimum time between two writes to the log file, so that frequent lines share a
// write. A line that follows a longer pause is written immediately, and so is a half full queue.
const writeInterval = 50 * time.Millisecond

// Options configure a log. The fields Log and IsChained are optional; all other fields
// are required.
type Options struct {
	// Subject is the name of the log in log messages, such as "the audit". The field
	// Subject is required.
	Subject string
	// FileBytes is the maximum size of a log file, in bytes. The field FileBytes is
	// required.
	FileBytes int64
	// Files is the maximum number of log files, including the newest. The field Files is
	// required.
	Files int
	// PendingBytes limits the size of the queued lines. When the queue is full, new lines
	// are dropped and counted. The field PendingBytes is required.
	PendingBytes int
	// The field Dropped returns a line, with its line feed, that reports n dropped lines. If
	// Dropped returns nil, the log does not report the dropped lines. The field Dropped is
	// required.
	Dropped func(n int) []byte
	// IsChained adds a number and the previous line's hash to each line, so that [Verify]
	// can check the log. Each line of a chained log must be a JSON object. By default,
	// the log has no hash chain.
	IsChained bool
	// Log receives errors of failed writes, at most one a minute. By default, errors of
	// failed writes are not logged.
	Log zerolog.Logger
}

// Log writes lines to rotated files. Create a Log with [Open], and call Close when done.
type Log struct {
	path string
	opts Options
	wake chan struct{} // the channel wake contains one value while lines are queued or the log is closing
	full chan struct{} // the channel full contains one value if the queue is more than half full
	stop chan struct{} // the channel stop is closed when the log is closing
	done chan struct{}

	mu            sync.Mutex // the mutex guards all fields below
	pendingBuffer []byte     // the field pendingBuffer is the queue of lines, and contains only whole lines
	pendingLines  int
	droppedLines  int
	isClosed      bool

	// Only the goroutine that writes to the log file uses the following fields.
	file              *os.File // the field file is nil if the log file could not be opened
	size              int64
	endsInPartialLine bool
	lastLogTime       time.Time
	chain             chainLink // the field chain is the end of the hash chain in the log file; unused if file is nil
}

// Open starts writing the log at path, whose folder must exist. If the log file cannot be
// opened, each write tries to open the file again.
func Open(path string, o Options) *Log {
	l := &Log{path: path, opts: o, wake: make(chan struct{}, 1), full: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{})}
	go l.write()
	return l
}

// Write queues one line, which must contain exactly one line feed, at its end. Write never waits
// for the disk. After Close, Write does nothing.
func (l *Log) Write(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isClosed {
		return
	}
	if len(l.pendingBuffer)+len(line) > l.opts.PendingBytes {
		l.droppedLines++
		return
	}
	l.pendingBuffer = append(l.pendingBuffer, line...)
	l.pendingLines++
	notify(l.wake)
	if len(l.pendingBuffer) > l.opts.PendingBytes/2 {
		notify(l.full)
	}
}

func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Close writes the queued lines and closes the log file.
func (l *Log) Close() {
	l.mu.Lock()
	if !l.isClosed {
		l.isClosed = true
		close(l.stop)
	}
	l.mu.Unlock()
	notify(l.wake)
	<-l.done
}

func (l *Log) write() {
	defer close(l.done)
	for range l.wake {
		newLines, lines, droppedLines, isClosed := l.takePendingLines()
		if lines+droppedLines > 0 {
			l.appendLines(newLines, lines, droppedLines)
		}
		if isClosed {
			if l.file != nil {
				l.file.Close()
			}
			return
		}
		select {
		case <-time.After(writeInterval):
		case <-l.full:
		case <-l.stop:
		}
	}
}

func (l *Log) takePendingLines() (newLines []byte, lines, droppedLines int, isClosed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	newLines, lines, droppedLines, isClosed = l.pendingBuffer, l.pendingLines, l.droppedLines, l.isClosed
	l.pendingBuffer, l.pendingLines, l.droppedLines = nil, 0, 0
	return newLines, lines, droppedLines, isClosed
}

// If writing to the log file fails, appendLines counts all lines as dropped.
func (l *Log) appendLines(newLines []byte, lines, droppedLines int) {
	if droppedLines > 0 {
		newLines = append(l.opts.Dropped(droppedLines), newLines...)
	}
	err := l.writeText(newLines)
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

// After a failed write, writeText first ends the incomplete line with a line feed.
func (l *Log) writeText(newLines []byte) error {
	if l.opts.IsChained {
		return l.writeChainedLines(newLines)
	}
	if l.endsInPartialLine {
		newLines = append([]byte("\n"), newLines...)
	}
	if err := l.prepareFile(int64(len(newLines))); err != nil {
		return err
	}
	n, err := l.file.Write(newLines)
	l.size += int64(n)
	l.endsInPartialLine = n > 0 && newLines[n-1] != '\n' || n == 0 && l.endsInPartialLine
	return err
}

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
	fileInfo, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	l.file, l.size = f, fileInfo.Size()
	return nil
}

// If a log file cannot be renamed, the newest file grows beyond its size limit.
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

func rotatedPath(path string, n int) string {
	if n == 0 {
		return path
	}
	return fmt.Sprintf("%s.%d", path, n)
}
