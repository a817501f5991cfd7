package audit

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/linefile"
)

// fileName is the name of the newest file; older ones have .1, .2 ... behind it.
const fileName = "audit.jsonl"

// The sizes of a log whose options do not name others.
const (
	defaultFileBytes = 10 << 20
	defaultFiles     = 5
	defaultPending   = 4 << 20
)

// Options set a log up. The zero value of each field means its default.
type Options struct {
	// FileBytes is how large one file becomes. Default 10 MiB.
	FileBytes int64
	// Files is how many files are kept. Default 5.
	Files int
	// PendingBytes is how much waits for the disk; what is more is dropped and
	// counted. Default 4 MiB.
	PendingBytes int
	// Log takes what goes wrong, at most a line a minute. Default: nothing is
	// logged.
	Log zerolog.Logger
}

// Log takes records. Make one with Open, and Close it.
type Log struct {
	lines *linefile.Log
	log   zerolog.Logger
}

// Open opens the record in the folder dir, which exists. A file that cannot be
// opened is tried again with each write.
func Open(dir string, o Options) *Log {
	if o.FileBytes <= 0 {
		o.FileBytes = defaultFileBytes
	}
	if o.Files <= 0 {
		o.Files = defaultFiles
	}
	if o.PendingBytes <= 0 {
		o.PendingBytes = defaultPending
	}
	l := &Log{log: o.Log}
	l.lines = linefile.Open(filepath.Join(dir, fileName), linefile.Options{
		What: "the audit", FileBytes: o.FileBytes, Files: o.Files, PendingBytes: o.PendingBytes, Log: o.Log,
		Dropped: func(n int) []byte { return l.encode(Record{Kind: KindDropped, Dropped: n}) },
	})
	return l
}

// Write hands a record over. It never waits for the disk. The time is now if the
// record has none. After Close it does nothing.
func (l *Log) Write(r Record) {
	if line := l.encode(r); line != nil {
		l.lines.Write(line)
	}
}

// encode returns the line of a record; nil if it has none.
func (l *Log) encode(r Record) []byte {
	if r.Time.IsZero() {
		r.Time = time.Now().UTC()
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		l.log.Error().Err(err).Msg("a record of the audit is not JSON; report this as a bug of opentabs")
		return nil
	}
	return b.Bytes()
}

// Close writes what is pending and ends the log.
func (l *Log) Close() { l.lines.Close() }
