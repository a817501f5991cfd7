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

// maxInterruptedAge limits the search for calls that had not ended when the server stopped.
const maxInterruptedAge = 7 * 24 * time.Hour

const (
	interruptedText = "opentabs stopped during the call, which may have taken effect"
	interruptedStep = "Check the page before you make the call again."
	notRunText      = "opentabs stopped while the call waited for approval, so the call did not run"
	notRunStep      = "Make the call again."
)

const (
	openCallStored  = "open"    // the call may have begun
	openCallWaiting = "waiting" // the call waited for approval, and had not begun
	openCallBegun   = "begun"   // the call with an earlier note in the state openCallWaiting begins
)

// The JSON line of a queued call is a record if the call has ended, and a note if the call is open.
func (c *queuedCall) encode(secrets *valueCleaner) ([]byte, error) {
	record := c.newRecord(secrets)
	if c.openCallState == "" {
		return rawjson.Marshal(record)
	}
	return rawjson.Marshal(Note{Kind: noteKindOpenCall, Time: time.Now().UTC(), Subject: record.CallID, State: c.openCallState, By: record.CallID, Call: record})
}

// Begin records that a call begins to run. The caller must call Begin before the call runs. If a note states that the
// call waits for approval, Begin writes a note: after a crash, no record may state that the call did not run.
func (r *Recorder) Begin(callID string) {
	if r.opts.Days == 0 {
		return
	}
	r.mu.Lock()
	isWaiting := r.openCallStates[callID] == openCallWaiting
	r.openCallStates[callID] = openCallBegun
	r.mu.Unlock()
	if isWaiting {
		_ = r.WriteNote(Note{Kind: noteKindOpenCall, Subject: callID, State: openCallBegun, By: callID})
	}
}

// The caller of updateOpenCallState has locked Recorder.mu.
func (r *Recorder) updateOpenCallState(c *queuedCall) {
	id, waitingTicket := c.call.View.CallID, c.call.View.Waiting
	switch {
	case c.openCallState == "":
		delete(r.openCallStates, id)
	case waitingTicket != nil && waitingTicket.Kind == wire.TicketPermission && r.openCallStates[id] != openCallBegun:
		c.openCallState, r.openCallStates[id] = openCallWaiting, openCallWaiting
	}
}

// The caller of appendServerStartNote has locked Recorder.writeMu.
func (r *Recorder) appendServerStartNote(lines []byte, precedesOpenCall bool) []byte {
	if !precedesOpenCall || !r.needsServerStartNote {
		return lines
	}
	r.needsServerStartNote = false
	return appendNotes(lines, []Note{{Kind: noteKindServerStart, Time: time.Now().UTC(), State: "started"}}, &valueCleaner{})
}

// The method prepare repairs the record files, and records the calls during which the previous server stopped.
// The caller of prepare has locked Recorder.writeMu.
func (r *Recorder) prepare(now time.Time) error {
	if r.isPrepared || r.opts.Days == 0 {
		return r.files.open(now)
	}
	if err := r.files.open(now); err != nil {
		return err
	}
	// If readInterrupted fails, the recorder writes no note that marks the server's start, so that the next server
	// tries again.
	r.isPrepared = true
	notes, err := readInterrupted(r.dir)
	if err != nil {
		return fmt.Errorf("read the recorded calls: %w", err)
	}
	var records []*Record
	var lines []byte
	for _, n := range notes {
		record := n.Call
		record.markInterrupted(now.UTC(), n.State != openCallWaiting)
		records = append(records, record)
		lines = append(append(lines, rawjson.Encode(record)...), '\n')
	}
	if len(lines) > 0 {
		if err := r.files.append(now, lines); err != nil {
			return err
		}
	}
	r.needsServerStartNote = true
	for _, record := range records {
		if r.opts.OnInterruptedCall != nil {
			r.opts.OnInterruptedCall(*record)
		}
	}
	return nil
}

func (r *Record) markInterrupted(now time.Time, mayHaveBegun bool) {
	r.Status, r.ErrorCode, r.Error, r.NextStep, r.Ended = wire.StatusFailed, wire.ErrShutdown, interruptedText, interruptedStep, &now
	if !mayHaveBegun {
		r.Error, r.NextStep = notRunText, notRunStep
	}
	r.Timeline = append(r.Timeline, dispatch.TimelineEntry{Time: now, Kind: dispatch.EventEnded})
}

// To find the notes, readInterrupted reads the files backward, until the note that marks the start of the last server.
func readInterrupted(dir string) ([]*Note, error) {
	names, err := listFiles(dir)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	newestDay, _ := time.Parse(time.DateOnly, names[len(names)-1].day) // a malformed day yields the zero time, so that all files are read
	firstDay := newestDay.Add(-maxInterruptedAge).Format(time.DateOnly)
	callPrefix, serverPrefix := noteKindOpenCall.prefix(), noteKindServerStart.prefix()
	hasRecord, hasStartRecord := map[string]bool{}, map[string]bool{}
	notes := map[string][]byte{}
	var order []string
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
				id := memberText(line, "subject")
				switch {
				case memberText(line, "state") == openCallBegun:
					hasStartRecord[id] = true
				case !hasRecord[id] && notes[id] == nil: // most calls ended, so a record follows their note
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
	var open []*Note
	for _, id := range slices.Backward(order) {
		var n Note
		if !hasRecord[id] && json.Unmarshal(notes[id], &n) == nil && n.Call != nil && n.Call.CallID == id {
			if hasStartRecord[id] {
				n.State = openCallBegun
			}
			open = append(open, &n)
		}
	}
	return open, nil
}

// memberText does not decode escapes in the string.
func memberText(line []byte, name string) string {
	_, value, _ := bytes.Cut(line, []byte(`"`+name+`":"`))
	memberValue, _, _ := bytes.Cut(value, []byte(`"`))
	return string(memberValue)
}
