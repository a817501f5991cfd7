package recorder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
	"opentabs/wire"
)

// maxInterruptedAge is how much older than the newest file a file may be in which prepare
// looks for calls that did not end.
const maxInterruptedAge = 7 * 24 * time.Hour

// These texts are the error and the advice for the user in the record of a call that an
// earlier server did not end.
const (
	interruptedText = "opentabs stopped during the call, which may have taken effect"
	interruptedStep = "Check the page before you make the call again."
)

// encode returns the line of a queued call: a record, or a note about an open call.
func (c *queuedCall) encode(secrets *valueCleaner) ([]byte, error) {
	record := c.newRecord(secrets)
	if !c.isOpen {
		return rawjson.Marshal(record)
	}
	return rawjson.Marshal(Note{Kind: noteCall, Time: time.Now().UTC(), Subject: record.CallID, State: "open", By: record.CallID, Call: record})
}

// appendMarker appends the note that begins the notes of this server about open calls, once
// and only before such a note. The caller has locked writeMu.
func (r *Recorder) appendMarker(lines []byte, isBeforeOpenCall bool) []byte {
	if !isBeforeOpenCall || !r.needsMarker {
		return lines
	}
	r.needsMarker = false
	return appendNotes(lines, []Note{{Kind: noteServer, Time: time.Now().UTC(), State: "started"}}, &valueCleaner{})
}

// prepare repairs the files, and writes the records of the calls that the earlier server
// did not end. Only the first successful call of prepare has an effect. The caller has
// locked writeMu.
func (r *Recorder) prepare(now time.Time) error {
	if r.isPrepared || r.opts.Days == 0 {
		return r.files.open(now)
	}
	if err := r.files.open(now); err != nil {
		return err
	}
	// After a failed attempt, the next server tries again, because needsMarker is false: this
	// server adds notes about its own open calls.
	r.isPrepared = true
	records, err := readInterrupted(r.dir)
	if err != nil {
		return fmt.Errorf("read the recorded calls: %w", err)
	}
	var lines []byte
	for _, record := range records {
		record.setInterrupted(now.UTC())
		lines = append(append(lines, rawjson.Encode(record)...), '\n')
	}
	if len(lines) > 0 {
		if err := r.files.append(now, lines); err != nil {
			return err
		}
	}
	r.needsMarker = true
	for _, record := range records {
		if r.opts.OnInterrupted != nil {
			r.opts.OnInterrupted(*record)
		}
	}
	return nil
}

// setInterrupted ends the record of an open call at the time now.
func (r *Record) setInterrupted(now time.Time) {
	r.Status, r.ErrorCode, r.Error, r.NextStep, r.Ended = wire.StatusFailed, wire.ErrShutdown, interruptedText, interruptedStep, &now
	r.Timeline = append(r.Timeline, dispatch.Moment{Time: now, Kind: dispatch.EventEnded})
}

// readInterrupted returns the calls with a note and without a record, in the order of their
// notes. readInterrupted reads the lines of the last server that has written such notes and
// of later servers.
func readInterrupted(dir string) ([]*Record, error) {
	names, err := listFiles(dir)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	newestDay, _ := time.Parse(time.DateOnly, names[len(names)-1].day) // fileName.day is a date, or all files are read
	firstDay := newestDay.Add(-maxInterruptedAge).Format(time.DateOnly)
	callPrefix, serverPrefix := noteCall.prefix(), noteServer.prefix()
	hasRecord := map[string]bool{}
	notes := map[string][]byte{}
	var order []string // the IDs of notes, newest first
	isDone := false
	for _, name := range slices.Backward(names) {
		if isDone || name.day < firstDay {
			break
		}
		err := readLines(filepath.Join(dir, name.String()+fileSuffix), func(line []byte) bool {
			switch {
			case bytes.HasPrefix(line, serverPrefix):
				isDone = true
			case bytes.HasPrefix(line, callPrefix):
				if id := memberText(line, "subject"); !hasRecord[id] && notes[id] == nil { // most records come after their notes
					notes[id] = bytes.Clone(line)
					order = append(order, id)
				}
			default:
				hasRecord[memberText(line, "call_id")] = true
			}
			return !isDone
		})
		if err != nil {
			return nil, err
		}
	}
	var records []*Record
	for _, id := range slices.Backward(order) {
		var n Note
		if !hasRecord[id] && json.Unmarshal(notes[id], &n) == nil && n.Call != nil && n.Call.CallID == id {
			records = append(records, n.Call)
		}
	}
	return records, nil
}

// memberText returns the value of the first member of a line with this name, a string
// without escapes.
func memberText(line []byte, name string) string {
	_, value, _ := bytes.Cut(line, []byte(`"`+name+`":"`))
	text, _, _ := bytes.Cut(value, []byte(`"`))
	return string(text)
}
