package recorder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"opentabs/internal/rawjson"
	"opentabs/wire"
)

// Note is a line about a call beside its record: the idempotency key of the call, the call
// that undid it, or that it has not ended. Readers of records skip notes.
type Note struct {
	// Kind is what the note is about.
	Kind NoteKind  `json:"note"`
	Time time.Time `json:"time"`
	// Subject is what the note describes: the hash of a key, or the ID of an undone call.
	Subject string `json:"subject"`
	// State is the state of the subject. The newest note of a subject counts.
	State string `json:"state"`
	// By is the call that the key or the undo has made, and Tool its full name.
	By   string `json:"by"`
	Tool string `json:"tool,omitempty"`
	// ArgsHash is the hash of the arguments of the call.
	ArgsHash string `json:"args_hash,omitempty"`
	// Call is the record of an open call at the time of the note.
	Call *Record `json:"call,omitempty"`
	// Code and Error are the error of the call, for agents and without secrets. UserText is
	// the text of the error for the user if it differs.
	Code     wire.ErrorCode `json:"code,omitempty"`
	Error    string         `json:"error,omitempty"`
	UserText string         `json:"user_text,omitempty"`
	// ToolError is the ToolError of the tool; nil for another error. IsRetryable reports
	// whether a repetition of the call may succeed later.
	ToolError   *wire.ToolErrorInfo `json:"tool_error,omitempty"`
	IsRetryable bool                `json:"retryable,omitempty"`
}

// NoteKind is what a note is about.
type NoteKind string

const (
	// NoteKey is about an idempotency key.
	NoteKey NoteKind = "key"
	// NoteUndo is about a call that another call undoes.
	NoteUndo NoteKind = "undo"
	// noteCall is about a call that has not ended, and noteServer begins the notes of a
	// server about such calls.
	noteCall   NoteKind = "call"
	noteServer NoteKind = "server"
)

// maxPendingNotes limits the notes that are not written yet. Further notes are dropped.
const maxPendingNotes = 10_000

// errClosed is the error of WriteNote after Close.
var errClosed = errors.New("the recorder is closed")

// AddNote queues a note, and returns without waiting for the disk. After Close, AddNote
// does nothing.
func (r *Recorder) AddNote(n Note) {
	if r.opts.Days == 0 {
		return
	}
	n.Time = time.Now().UTC()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isClosed {
		return
	}
	r.queueNotes(n)
	r.wakeWriter()
}

// queueNotes queues notes after the queued notes. The caller has locked mu.
func (r *Recorder) queueNotes(notes ...Note) {
	n := min(len(notes), maxPendingNotes-len(r.pendingNotes))
	r.pendingNotes = append(r.pendingNotes, notes[:n]...)
	r.droppedCalls += len(notes) - n
}

// WriteNote writes the queued records and a note, and returns when the operating system
// has the lines. After an error, the note is not in the files. WriteNote does nothing if
// no call is recorded.
func (r *Recorder) WriteNote(n Note) error {
	if r.opts.Days == 0 {
		return nil
	}
	n.Time = time.Now().UTC()
	return r.flush(&n)
}

// appendNotes appends the lines of notes, without secrets.
func appendNotes(lines []byte, notes []Note, secrets *valueCleaner) []byte {
	for _, n := range notes {
		n.Error, n.UserText = secrets.Text(n.Error), secrets.Text(n.UserText)
		if n.ToolError != nil {
			toolError := *n.ToolError
			toolError.Code, toolError.Category = secrets.Text(toolError.Code), secrets.Text(toolError.Category)
			if after := toolError.RetryAfterMs; after != nil && (math.IsNaN(*after) || math.IsInf(*after, 0)) { // not JSON
				toolError.RetryAfterMs = nil
			}
			n.ToolError = &toolError
		}
		lines = append(append(lines, rawjson.Encode(n)...), '\n')
	}
	return lines
}

// ReadNotes writes the queued notes, and returns the notes of one kind since a time, newest
// first. An empty subject selects all subjects.
func (r *Recorder) ReadNotes(kind NoteKind, subject string, since time.Time) ([]Note, error) {
	r.Flush()
	names, err := listFiles(r.dir)
	if err != nil {
		return nil, err
	}
	var notes []Note
	firstDay := since.Add(-orderSlack).UTC().Format(time.DateOnly)
	for _, name := range slices.Backward(names) {
		if name.day < firstDay {
			break
		}
		path := filepath.Join(r.dir, name.String()+fileSuffix)
		if err := readNotes(path, kind, func(n Note) {
			if (subject == "" || n.Subject == subject) && !n.Time.Before(since) {
				notes = append(notes, n)
			}
		}); err != nil {
			return nil, fmt.Errorf("read the recorded calls: %w", err)
		}
	}
	return notes, nil
}

// prefix is the beginning of the lines of the notes of a kind.
func (k NoteKind) prefix() []byte { return []byte(`{"note":"` + k + `"`) }

// readNotes calls visit with each note of a kind in a file, newest first. Damaged lines are
// skipped.
func readNotes(path string, kind NoteKind, visit func(Note)) error {
	prefix := kind.prefix()
	return readLines(path, func(line []byte) bool {
		var n Note
		if bytes.HasPrefix(line, prefix) && json.Unmarshal(line, &n) == nil {
			visit(n)
		}
		return true
	})
}

// readLines calls visit with each line of a file, newest first, until visit returns false.
// visit must not keep a reference to the line.
func readLines(path string, visit func(line []byte) bool) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) { // an old file was removed
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return readBackward(file, info.Size(), func(line []byte, _ int64) bool { return visit(line) })
}
