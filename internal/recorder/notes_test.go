package recorder

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"opentabs/internal/rawjson"
	"opentabs/wire"
)

func formatNotes(notes []Note) string {
	var wantedTexts []string
	for _, n := range notes {
		wantedTexts = append(wantedTexts, n.Subject+" "+n.State)
	}
	return strings.Join(wantedTexts, ", ")
}

func TestWriteAndReadNotes(t *testing.T) {
	dir := t.TempDir()
	startTime := time.Now()
	o := testOptions
	o.Secrets = func() []string { return []string{"hunter2"} }
	r := Open(dir, o)
	r.AddNote(Note{Kind: NoteKindIdempotencyKey, Subject: "k1", State: "started", By: "call_1"})
	r.Add(endedCallOf("call_1", "a__b", time.Now()), CallFacts{})
	r.Flush()
	r.AddNote(Note{Kind: NoteKindIdempotencyKey, Subject: "k1", State: "failed", By: "call_1", Error: "the password hunter2 is wrong", UserText: "hunter2",
		ToolError: &wire.ToolErrorInfo{Code: "hunter2", RetryAfterMs: new(math.NaN())}})
	r.AddNote(Note{Kind: NoteKindIdempotencyKey, Subject: "k2", State: "started", By: "call_2"})
	r.AddNote(Note{Kind: NoteKindUndo, Subject: "call_1", State: "started", By: "call_3"})
	r.Close()
	r.AddNote(Note{Kind: NoteKindIdempotencyKey, Subject: "late"})

	r = Open(dir, testOptions)
	defer r.Close()
	for _, c := range []struct {
		kind    NoteKind
		subject string
		since   time.Time
		want    string
	}{
		{NoteKindIdempotencyKey, "", startTime, "k2 started, k1 failed, k1 started"},
		{NoteKindIdempotencyKey, "k1", startTime, "k1 failed, k1 started"},
		{NoteKindUndo, "call_1", time.Time{}, "call_1 started"},
		{NoteKindUndo, "call_2", time.Time{}, ""},
		{NoteKindIdempotencyKey, "", time.Now().Add(time.Hour), ""},
	} {
		notes, err := r.ReadNotes(c.kind, c.subject, c.since)
		if got := formatNotes(notes); err != nil || got != c.want {
			t.Errorf("notes of the kind %s about %q = %s, error %v; want %s", c.kind, c.subject, got, err, c.want)
		}
		for _, n := range notes {
			if encodedNote := string(rawjson.Encode(n)); strings.Contains(encodedNote, "hunter2") {
				t.Errorf("note = %s, want the secret hunter2 removed", encodedNote)
			}
		}
	}
	if got := joinCallIDs(readAllEntries(t, dir, Query{})); got != "call_1" {
		t.Errorf("recorded calls = %s, want call_1", got)
	}
	if _, ok, err := Find(dir, "call_2"); ok || err != nil {
		t.Errorf("Find of a call with only a note returned a record or the error %v, want neither", err)
	}
}

func TestNotesAreBounded(t *testing.T) {
	emptyRecorder := Open(t.TempDir(), Options{})
	defer emptyRecorder.Close()
	emptyRecorder.AddNote(Note{Kind: NoteKindIdempotencyKey, Subject: "k"})
	if notes, err := emptyRecorder.ReadNotes(NoteKindIdempotencyKey, "", time.Time{}); err != nil || len(notes) != 0 {
		t.Errorf("a recorder for zero days has %d notes, error %v; want none", len(notes), err)
	}
	r := Recorder{dir: t.TempDir(), opts: testOptions, files: &recordFiles{}, wake: make(chan struct{}, 1)}
	for i := range maxPendingNotes + 5 {
		r.AddNote(Note{Kind: NoteKindIdempotencyKey, Subject: fmt.Sprint(i)})
	}
	if len(r.pendingNotes) != maxPendingNotes || r.droppedCalls != 5 {
		t.Errorf("the recorder queued %d notes and dropped %d, want maxPendingNotes and 5", len(r.pendingNotes), r.droppedCalls)
	}
}

// If WriteNote fails, the queued notes stay queued, but the note of WriteNote is dropped.
func TestWriteNote(t *testing.T) {
	dir := t.TempDir()
	r := Open(dir, testOptions)
	r.AddNote(Note{Kind: NoteKindIdempotencyKey, Subject: "queued", State: "done"})
	if err := r.WriteNote(Note{Kind: NoteKindIdempotencyKey, Subject: "k", State: "started"}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, folderName, time.Now().UTC().Format(time.DateOnly)+fileSuffix)
	if fileContent, err := os.ReadFile(path); err != nil || strings.Count(string(fileContent), "\n") != 2 || !strings.Contains(string(fileContent), `"subject":"k"`) {
		t.Errorf("record file after WriteNote = %q, error %v; want two lines with the note about k", fileContent, err)
	}
	r.Close()
	if err := r.WriteNote(Note{Kind: NoteKindIdempotencyKey, Subject: "k"}); err == nil {
		t.Error("WriteNote after Close returned no error, want an error")
	}

	dir = t.TempDir()
	blockedFolder := filepath.Join(dir, folderName)
	if err := os.WriteFile(blockedFolder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r = Open(dir, testOptions)
	defer r.Close()
	r.AddNote(Note{Kind: NoteKindIdempotencyKey, Subject: "queued", State: "done"})
	if err := r.WriteNote(Note{Kind: NoteKindIdempotencyKey, Subject: "failed", State: "started"}); err == nil {
		t.Error("WriteNote without a folder returned no error, want an error")
	}
	if err := os.Remove(blockedFolder); err != nil {
		t.Fatal(err)
	}
	r.AddNote(Note{Kind: NoteKindIdempotencyKey, Subject: "later", State: "done"})
	notes, err := r.ReadNotes(NoteKindIdempotencyKey, "", time.Time{})
	if got := formatNotes(notes); err != nil || got != "later done, queued done" {
		t.Errorf("notes = %s, error %v; want later and queued with the state done", got, err)
	}
}

func TestRecordShowsUndo(t *testing.T) {
	dir := t.TempDir()
	r := Open(dir, testOptions)
	defer r.Close()
	for id, state := range map[string]string{"call_a": "undone", "call_b": "unknown", "call_c": "failed", "call_d": ""} {
		r.Add(endedCallOf(id, "a__b", time.Now()), CallFacts{})
		if state != "" {
			r.AddNote(Note{Kind: NoteKindUndo, Subject: id, State: "started", By: "call_9"})
			r.AddNote(Note{Kind: NoteKindUndo, Subject: id, State: state, By: "call_9"})
		}
	}
	r.Flush()
	for id, want := range map[string]string{"call_a": "undone call_9", "call_b": "unknown call_9", "call_c": "", "call_d": ""} {
		e, ok, err := Find(dir, id)
		got := ""
		if e.Undo != nil {
			got = string(e.Undo.State) + " " + e.Undo.By
		}
		if err != nil || !ok || got != want {
			t.Errorf("undo in the record of %s = %q, error %v; want %q", id, got, err, want)
		}
	}
}
