package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/dispatch/shape"
	"opentabs/wire"
)

func matchAll(Record) bool { return true }

func readEntries(t *testing.T, dir string, maxEntries int) []Entry {
	t.Helper()
	entries, damagedLines, err := Read(dir, maxEntries, matchAll)
	if err != nil || damagedLines != 0 {
		t.Fatalf("Read found %d damaged lines, error %v; want 0 damaged lines and no error", damagedLines, err)
	}
	return entries
}

func TestReadReturnsWrittenRecords(t *testing.T) {
	dir := t.TempDir()
	l := Open(dir, zerolog.Nop())
	yes := true
	want := Record{
		Time: time.Unix(1000, 0).UTC(), Kind: KindCall, Tool: "a__b", Hash: "h",
		AuditedCall: shape.AuditedCall{
			CallID: "call_1", ParentCallID: "call_0", Requester: dispatch.Requester{Client: "C", Session: "s"},
			Browser: "b", TabID: 7, Origin: "http://localhost", CreatedAt: time.Unix(998, 0).UTC(), EndedAt: time.Unix(999, 0).UTC(), RanMs: 1.5,
			Status: wire.StatusDone, StopOutcome: wire.CancelAborted, ReportCount: 3,
		},
		Approval:  &Approval{Scope: wire.ScopeOnce, By: "me"},
		Decisions: []Decision{{By: "me", Allow: true, Scope: wire.ScopeOnce, RequestReason: "permission"}},
		Audience:  "user", LastMessages: []dispatch.ToolMessage{{Message: "<b>", Audience: "user"}}, Allow: &yes,
	}
	l.Write(want)
	l.Write(Record{Kind: KindDecision, Tool: "a__c", By: "me"})
	l.Close()
	l.Write(Record{Kind: KindCall}) // Write does nothing after Close
	got := readEntries(t, dir, 0)
	if len(got) != 2 || fmt.Sprintf("%+v", got[0].LastMessages) != fmt.Sprintf("%+v", want.LastMessages) || *got[0].Approval != *want.Approval ||
		got[0].Decisions[0] != want.Decisions[0] || !got[0].CreatedAt.Equal(want.CreatedAt) || got[1].Time.IsZero() {
		t.Fatalf("Read returned the records %+v; want the written call and decision, with a time each", got)
	}
	if !bytes.Contains(got[0].Line, []byte(`"message":"<b>"`)) {
		t.Errorf("first line of the audit log = %s; want \"<b>\" without escapes in it", got[0].Line)
	}
	if fileInfo, err := os.Stat(filepath.Join(dir, fileName)); err != nil || fileInfo.Mode().Perm() != 0o600 {
		t.Errorf("file info of the audit log = %v, error %v; want the mode 0600", fileInfo, err)
	}
	if lastEntries := readEntries(t, dir, 1); len(lastEntries) != 1 || lastEntries[0].Tool != "a__c" {
		t.Errorf("the newest record = %+v; want one record of the tool a__c", lastEntries)
	}
	matchingEntries, _, err := Read(dir, 1, func(r Record) bool { return r.Kind == KindCall })
	if err != nil || len(matchingEntries) != 1 || matchingEntries[0].CallID != "call_1" {
		t.Errorf("the newest record of a call = %+v, error %v; want one record of call_1", matchingEntries, err)
	}
}

func TestReadCountsDamagedLines(t *testing.T) {
	dir := t.TempDir()
	damagedLog := `{"kind":"call","call_id":"1"}` + "\n" + `{"kind":"call","ca` + "\n\n" + strings.Repeat("x", 3<<20) + "\n" + `{"kind":"call","call_id":"2"}`
	if err := os.WriteFile(filepath.Join(dir, fileName), []byte(damagedLog), 0o600); err != nil {
		t.Fatal(err)
	}
	entries, damagedLines, err := Read(dir, 0, matchAll)
	if err != nil || damagedLines != 2 || len(entries) != 2 || entries[1].CallID != "2" {
		t.Errorf("Read returned %d records and %d damaged lines, error %v; want 2 records and 2 damaged lines", len(entries), damagedLines, err)
	}
}
