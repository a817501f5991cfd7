package audit

import (
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/linefile"
	"opentabs/internal/rawjson"
)

// fileName is the name of the newest file of the audit log. The names of older log
// files end with .1, .2 and so on.
const fileName = "audit.jsonl"

const (
	// maxFileBytes is the maximum size of one log file, and keptFiles is the number of
	// kept log files.
	maxFileBytes = 10 << 20
	keptFiles    = 5
	// maxPendingBytes is the size of the write buffer. Records that exceed the write
	// buffer are dropped and counted.
	maxPendingBytes = 4 << 20
)

// Log writes records. Create a Log with Open, and end it with Close.
type Log struct {
	lineLog *linefile.Log
	log     zerolog.Logger
}

// Open opens the log in the folder dir, which must exist. If the log file cannot be
// opened, each write tries to open the file again.
func Open(dir string, log zerolog.Logger) *Log {
	l := &Log{log: log}
	l.lineLog = linefile.Open(filepath.Join(dir, fileName), linefile.Options{
		Subject: "the audit", FileBytes: maxFileBytes, Files: keptFiles, PendingBytes: maxPendingBytes, Log: log,
		IsChained: true,
		Dropped:   func(n int) []byte { return l.encode(Record{Kind: KindDropped, Dropped: n}) },
	})
	return l
}

// Write queues a record and returns without waiting for the disk. Write sets the time
// of a record without a time. After Close, Write does nothing.
func (l *Log) Write(r Record) {
	if line := l.encode(r); line != nil {
		l.lineLog.Write(line)
	}
}

// encode returns the line of a record, or nil if the record cannot be encoded.
func (l *Log) encode(r Record) []byte {
	if r.Time.IsZero() {
		r.Time = time.Now().UTC()
	}
	line, err := rawjson.Marshal(r)
	if err != nil {
		l.log.Error().Err(err).Msg("a record of the audit is not JSON; report this as a bug of opentabs")
		return nil
	}
	return append(line, '\n')
}

// Close writes the pending records and closes the file.
func (l *Log) Close() { l.lineLog.Close() }
