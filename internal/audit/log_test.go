package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/wire"
)

func all(Record) bool { return true }

func read(t *testing.T, dir string, last int) []Entry {
	t.Helper()
	entries, damaged, err := Read(dir, last, all)
	if err != nil || damaged != 0 {
		t.Fatalf("%d damaged, %v", damaged, err)
	}
	return entries
}

func TestWriteAndRead(t *testing.T) {
	dir := t.TempDir()
	l := Open(dir, Options{})
	yes := true
	want := Record{
		Time: time.Unix(1000, 0).UTC(), Kind: KindCall, Tool: "a__b", Hash: "h", CallID: "call_1", Parent: "call_0", Client: "C", Session: "s",
		Browser: "b", Tab: 7, Origin: "http://localhost", Came: time.Unix(998, 0).UTC(), Ended: time.Unix(999, 0).UTC(), RanMs: 1.5,
		Status: wire.StatusDone, Stopped: wire.CancelAborted, Reports: 3, Approved: &Approval{Scope: wire.ScopeOnce, By: "me"},
		Decisions: []Decision{{By: "me", Allow: true, Scope: wire.ScopeOnce, Asked: "permission"}},
		Audience:  "user", Said: []dispatch.Said{{Message: "<b>", Audience: "user"}}, Allow: &yes,
	}
	l.Write(want)
	l.Write(Record{Kind: KindDecision, Tool: "a__c", By: "me"})
	l.Close()
	l.Write(Record{Kind: KindCall}) // does nothing
	got := read(t, dir, 0)
	if len(got) != 2 || fmt.Sprintf("%+v", got[0].Said) != fmt.Sprintf("%+v", want.Said) || *got[0].Approved != *want.Approved ||
		got[0].Decisions[0] != want.Decisions[0] || !got[0].Came.Equal(want.Came) || got[1].Time.IsZero() {
		t.Fatalf("got %+v", got)
	}
	if !bytes.Contains(got[0].Line, []byte(`"message":"<b>"`)) {
		t.Errorf("the line is %s", got[0].Line)
	}
	if info, err := os.Stat(filepath.Join(dir, fileName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	if last := read(t, dir, 1); len(last) != 1 || last[0].Tool != "a__c" {
		t.Errorf("the last one: %+v", last)
	}
	only, _, err := Read(dir, 1, func(r Record) bool { return r.Kind == KindCall })
	if err != nil || len(only) != 1 || only[0].CallID != "call_1" {
		t.Errorf("the last call: %+v, %v", only, err)
	}
}

// Five files are kept, none larger than it may be, and the oldest goes.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	const size = 2000
	for n := range 100 { // each time a process of its own
		l := Open(dir, Options{FileBytes: size})
		l.Write(Record{Kind: KindCall, CallID: fmt.Sprint(n), Tool: strings.Repeat("x", 100)})
		l.Close()
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 5 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() > size || info.Size() < size/2 && file != filepath.Join(dir, fileName) {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	entries := read(t, dir, 0)
	for i, e := range entries {
		if want := fmt.Sprint(100 - len(entries) + i); e.CallID != want {
			t.Fatalf("record %d is that of call %s, want %s", i, e.CallID, want)
		}
	}
	if len(entries) < 40 {
		t.Errorf("%d records are left", len(entries))
	}
}

// One file is kept: it begins anew.
func TestRotationOfOne(t *testing.T) {
	dir := t.TempDir()
	l := Open(dir, Options{FileBytes: 300, Files: 1})
	for n := range 20 {
		l.Write(Record{Kind: KindCall, CallID: fmt.Sprint(n)})
	}
	l.Close()
	l = Open(dir, Options{FileBytes: 300, Files: 1})
	l.Write(Record{Kind: KindCall, CallID: "last"})
	l.Close()
	if entries := read(t, dir, 0); len(entries) == 0 || len(entries) > 4 || entries[len(entries)-1].CallID != "last" {
		t.Errorf("got %d records", len(entries))
	}
}

// A folder that takes no file costs records, not time, and that is told: in the
// log, and in the record when there is one again.
func TestCannotWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	var said bytes.Buffer
	l := Open(dir, Options{Log: zerolog.New(&said)})
	for range 10 {
		l.Write(Record{Kind: KindCall})
	}
	untilDropped(l, 10)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l.Write(Record{Kind: KindCall, CallID: "after"})
	l.Close()
	entries := read(t, dir, 0)
	if len(entries) != 2 || entries[0].Kind != KindDropped || entries[0].Dropped != 10 || entries[1].CallID != "after" {
		t.Errorf("got %+v", entries)
	}
	if n := strings.Count(said.String(), "the audit cannot be written"); n != 1 {
		t.Errorf("logged %d times: %s", n, said.String())
	}
}

// untilDropped waits until so many records are counted as dropped.
func untilDropped(l *Log, want int) {
	for {
		l.mu.Lock()
		dropped := l.dropped
		l.mu.Unlock()
		if dropped >= want {
			return
		}
		<-time.After(time.Millisecond)
	}
}

// A line that was half written, or damaged, costs that line.
func TestDamagedLines(t *testing.T) {
	dir := t.TempDir()
	text := `{"kind":"call","call_id":"1"}` + "\n" + `{"kind":"call","ca` + "\n\n" + strings.Repeat("x", 3<<20) + "\n" + `{"kind":"call","call_id":"2"}`
	if err := os.WriteFile(filepath.Join(dir, fileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	entries, damaged, err := Read(dir, 0, all)
	if err != nil || damaged != 2 || len(entries) != 2 || entries[1].CallID != "2" {
		t.Errorf("got %d records, %d damaged, %v", len(entries), damaged, err)
	}
}

// Everybody writes at once, and each line is whole.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	logs := []*Log{Open(dir, Options{}), Open(dir, Options{})}
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			for range 50 {
				logs[n%2].Write(Record{Kind: KindCall, Tool: "a__b"})
			}
		})
	}
	wg.Wait()
	for _, l := range logs {
		l.Close()
	}
	if entries := read(t, dir, 0); len(entries) != 1000 {
		t.Errorf("%d records", len(entries))
	}
}
