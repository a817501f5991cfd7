package audit

import (
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/linefile"
	"opentabs/internal/rawjson"
)

// Older files of the audit log are named audit.jsonl.1, audit.jsonl.2 and so on.
const fileName = "audit.jsonl"

const (
	maxFileBytes  = 10 << 20
	keptFileCount = 5
	// If the write buffer of maxPendingBytes bytes is full, new records are dropped and counted.
	maxPendingBytes = 4 << 20
)

// Log writes records to the audit log. Open returns a Log, and Close must be called when
// the Log is no longer needed.
type Log struct {
	lineLog *linefile.Log
	log     zerolog.Logger
}

// Open opens the audit log in the directory dir, which must exist. If the log file cannot
// be opened, each later write tries to open the file again.
func Open(dir string, log zerolog.Logger) *Log {
	l := &Log{log: log}
	l.lineLog = linefile.Open(filepath.Join(dir, fileName), linefile.Options{
		Subject: "the audit", FileBytes: maxFileBytes, Files: keptFileCount, PendingBytes: maxPendingBytes, Log: log,
		IsChained: true,
		Dropped:   func(n int) []byte { return l.encode(Record{Kind: KindDropped, Dropped: n}) },
	})
	return l
}

// Write queues a record and returns without waiting for the disk. If the record has no
// time, Write uses the current time. After Close, Write does nothing.
func (l *Log) Write(r Record) {
	if line := l.encode(r); line != nil {
		l.lineLog.Write(line)
	}
}

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

// Close writes the queued records to the disk and closes the log file.
func (l *Log) Close() { l.lineLog.Close() }
