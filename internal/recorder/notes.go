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

// Note is a line in a record file that is not a record. A note is about an idempotency
// key, a call that another call undoes, or a call that has not ended. Functions that
// search the record files for records skip notes.
type Note struct {
	// Kind is the kind of the note, which determines what the fields Subject and State mean.
	Kind NoteKind  `json:"note"`
	Time time.Time `json:"time"`
	// Subject identifies what the note is about: the hash of an idempotency key, or the ID
	// of an undone or open call.
	Subject string `json:"subject"`
	// State is the state of the noted key or call, such as "started" or "failed". A newer
	// note with the same Subject replaces an older note.
	State string `json:"state"`
	// The field By is the ID of a call. In a note about an idempotency key, By is the ID of
	// the call with this key. In a note about an undone call, By is the ID of the call that
	// undoes it. Tool is the full name of the tool that the call runs.
	By   string `json:"by"`
	Tool string `json:"tool,omitempty"`
	// ArgsHash is the hash of the arguments of the call whose ID is in the field By.
	ArgsHash string `json:"args_hash,omitempty"`
	// Call is the incomplete record of the open call, if the note is about an open call;
	// otherwise nil.
	Call *Record `json:"call,omitempty"`
	// Code and Error are the error code of a failed call and the error text for agents,
	// without secrets. UserText is the error's text for the user; empty if this text equals
	// Error.
	Code     wire.ErrorCode `json:"code,omitempty"`
	Error    string         `json:"error,omitempty"`
	UserText string         `json:"user_text,omitempty"`
	// ToolError is the error that the tool returned; nil if the call succeeded or failed for
	// another reason. IsRetryable is true if the same call may succeed later.
	ToolError   *wire.ToolErrorInfo `json:"tool_error,omitempty"`
	IsRetryable bool                `json:"retryable,omitempty"`
}

// NoteKind is the kind of a [Note], such as a note about an idempotency key.
type NoteKind string

const (
	// NoteKindIdempotencyKey is the kind of a note about an idempotency key.
	NoteKindIdempotencyKey NoteKind = "key"
	// NoteKindUndo is the kind of a note about a call that another call undoes.
	NoteKindUndo NoteKind = "undo"
	// noteKindOpenCall is the kind of a note about a call that has not ended. noteKindServerStart is the kind of a note that marks the
	// start of a server.
	noteKindOpenCall    NoteKind = "call"
	noteKindServerStart NoteKind = "server"
)

// maxPendingNotes limits the queue of notes that are not written yet.
const maxPendingNotes = 10_000

var errClosed = errors.New("the recorder is closed")

// AddNote queues a note and sets its time, without blocking on the disk. After Close,
// AddNote does nothing.
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

// The caller of queueNotes has locked Recorder.mu.
func (r *Recorder) queueNotes(notes ...Note) {
	n := min(len(notes), maxPendingNotes-len(r.pendingNotes))
	r.pendingNotes = append(r.pendingNotes, notes[:n]...)
	r.droppedCalls += len(notes) - n
}

// WriteNote writes the queued records and a note, and returns when the operating system
// has accepted them. If WriteNote returns an error, the record files do not contain the
// note. If the option Days is 0, WriteNote does nothing.
func (r *Recorder) WriteNote(n Note) error {
	if r.opts.Days == 0 {
		return nil
	}
	n.Time = time.Now().UTC()
	return r.flush(&n)
}

func appendNotes(lines []byte, notes []Note, secrets *valueCleaner) []byte {
	for _, n := range notes {
		n.Error, n.UserText = secrets.Text(n.Error), secrets.Text(n.UserText)
		if n.ToolError != nil {
			toolError := *n.ToolError
			toolError.Code, toolError.Category = secrets.Text(toolError.Code), secrets.Text(toolError.Category)
			if retryAfterMs := toolError.RetryAfterMs; retryAfterMs != nil && (math.IsNaN(*retryAfterMs) || math.IsInf(*retryAfterMs, 0)) { // JSON has no NaN and no infinity
				toolError.RetryAfterMs = nil
			}
			n.ToolError = &toolError
		}
		lines = append(append(lines, rawjson.Encode(n)...), '\n')
	}
	return lines
}

// ReadNotes returns the notes of one kind that are not older than since, newest first. If the
// subject is empty, all notes are selected. ReadNotes first writes the queued
// notes to the disk, so that it returns them as well.
func (r *Recorder) ReadNotes(kind NoteKind, subject string, since time.Time) ([]Note, error) {
	r.Flush()
	return findNotes(r.dir, kind, subject, since)
}

func findNotes(dir string, kind NoteKind, subject string, since time.Time) ([]Note, error) {
	names, err := listFiles(dir)
	if err != nil {
		return nil, err
	}
	var notes []Note
	firstDay := since.Add(-maxOutOfOrderDelay).UTC().Format(time.DateOnly)
	for _, name := range slices.Backward(names) {
		if name.day < firstDay {
			break
		}
		path := filepath.Join(dir, name.String()+fileSuffix)
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

func (k NoteKind) prefix() []byte { return []byte(`{"note":"` + k + `"`) }

func readNotes(path string, kind NoteKind, visitItem func(Note)) error {
	prefix := kind.prefix()
	return readLines(path, func(line []byte) bool {
		var n Note
		if bytes.HasPrefix(line, prefix) && json.Unmarshal(line, &n) == nil {
			visitItem(n)
		}
		return true
	})
}

// The slice line is valid only until visitItem returns, because readLines reuses the memory.
func readLines(path string, visitItem func(line []byte) bool) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	fileInfo, err := file.Stat()
	if err != nil {
		return err
	}
	return readBackward(file, fileInfo.Size(), func(line []byte, _ int64) bool { return visitItem(line) })
}
