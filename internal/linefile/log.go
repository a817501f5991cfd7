package linefile

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// logPause is the time between two log lines that nothing can be written.
const logPause = time.Minute

// Options set a log up. All but Log are required.
type Options struct {
	// What names what the lines are, for sentences: "the audit".
	What string
	// FileBytes is how large one file becomes.
	FileBytes int64
	// Files is how many files are kept.
	Files int
	// PendingBytes is how much waits for the disk; what is more is dropped and
	// counted.
	PendingBytes int
	// Dropped returns the line that stands for n lines which could not be written;
	// nil for none.
	Dropped func(n int) []byte
	// Log takes what goes wrong, at most a line a minute. Default: nothing is
	// logged.
	Log zerolog.Logger
}

// Log takes lines. Make one with Open, and Close it.
type Log struct {
	path string
	opts Options
	wake chan struct{} // holds a token while there is something to write
	done chan struct{} // closed when the writer has ended

	mu      sync.Mutex // guards all below
	pending []byte     // whole lines
	lines   int        // how many they are
	dropped int        // lines that were dropped since the last that was written
	closed  bool

	// The rest is the writer's alone.
	file   *os.File // nil if it could not be opened
	size   int64
	torn   bool // the last line of the file is not whole
	logged time.Time
}

// Open opens the log at path, whose folder exists. A file that cannot be opened
// is tried again with each write.
func Open(path string, o Options) *Log {
	l := &Log{path: path, opts: o, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go l.write()
	return l
}

// Write hands a line over, which ends with a line feed and has no other. It never
// waits for the disk. After Close it does nothing.
func (l *Log) Write(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if len(l.pending)+len(line) > l.opts.PendingBytes {
		l.dropped++
		return
	}
	l.pending = append(l.pending, line...)
	l.lines++
	l.poke()
}

func (l *Log) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Close writes what is pending and ends the log.
func (l *Log) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.poke()
	<-l.done
}

// write is the goroutine that writes.
func (l *Log) write() {
	defer close(l.done)
	for range l.wake {
		text, lines, dropped, closed := l.take()
		if lines+dropped > 0 {
			l.append(text, lines, dropped)
		}
		if closed {
			if l.file != nil {
				l.file.Close()
			}
			return
		}
	}
}

// take returns what is pending.
func (l *Log) take() (text []byte, lines, dropped int, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, lines, dropped, closed = l.pending, l.lines, l.dropped, l.closed
	l.pending, l.lines, l.dropped = nil, 0, 0
	return text, lines, dropped, closed
}

// append writes lines to the file, and before them how many were dropped. What
// cannot be written counts as dropped.
func (l *Log) append(text []byte, lines, dropped int) {
	if dropped > 0 {
		text = append(l.opts.Dropped(dropped), text...)
	}
	if l.torn {
		text = append([]byte("\n"), text...)
	}
	err := l.ready(int64(len(text)))
	if err == nil {
		var n int
		n, err = l.file.Write(text)
		l.size += int64(n)
		l.torn = n > 0 && text[n-1] != '\n' || n == 0 && l.torn
	}
	if err == nil {
		return
	}
	l.mu.Lock()
	l.dropped += dropped + lines
	l.mu.Unlock()
	if time.Since(l.logged) >= logPause {
		l.logged = time.Now()
		l.opts.Log.Error().Err(err).Int("lines", dropped+lines).Msg(l.opts.What + " cannot be written; what happens is not recorded")
	}
}

// ready opens the file, a new one if so many bytes more make it too large.
func (l *Log) ready(more int64) error {
	if l.file == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	if l.size == 0 || l.size+more <= l.opts.FileBytes {
		return nil
	}
	l.file.Close()
	l.file = nil
	l.rotate()
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

// rotate makes room for a new file and removes the oldest. If that fails the
// file goes on growing.
func (l *Log) rotate() {
	for n := l.opts.Files - 1; n > 0; n-- {
		if err := os.Rename(numbered(l.path, n-1), numbered(l.path, n)); err != nil && !os.IsNotExist(err) {
			l.opts.Log.Warn().Err(err).Msg("an old file of " + l.opts.What + " could not be put aside")
			return
		}
	}
	if l.opts.Files == 1 {
		if err := os.Remove(l.path); err != nil {
			l.opts.Log.Warn().Err(err).Msg("an old file of " + l.opts.What + " could not be removed")
		}
	}
}

// numbered is the path of the file that was put aside n times.
func numbered(path string, n int) string {
	if n == 0 {
		return path
	}
	return fmt.Sprintf("%s.%d", path, n)
}
