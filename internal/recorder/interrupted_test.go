package recorder

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

func openCallOf(id, tool string) dispatch.EndedCall {
	e := endedCallOf(id, tool, time.Now())
	e.View.Status, e.View.Ended, e.Args = wire.StatusRunning, nil, json.RawMessage(`{"channel":"general","password":"p4ss"}`)
	return e
}

func crash(t *testing.T, dir string) string {
	t.Helper()
	copyDir := t.TempDir()
	if err := os.CopyFS(copyDir, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return copyDir
}

func TestInterruptedCallIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		firstRecorder := Open(dir, testOptions)
		defer firstRecorder.Close()
		firstRecorder.AddOpen(openCallOf("call_ended", "a__b"), Facts{})
		firstRecorder.Add(endedCallOf("call_ended", "a__b", time.Now()), Facts{})
		firstRecorder.Flush()
		firstRecorder.Add(endedCallOf("call_quick", "a__b", time.Now()), Facts{})
		firstRecorder.AddOpen(openCallOf("call_quick", "a__b"), Facts{})
		firstRecorder.AddOpen(openCallOf("call_open", "a__b"), Facts{Site: "https://shop.example", Hash: "h"})
		time.Sleep(time.Second)
		if _, ok, err := Find(dir, "call_open"); ok || err != nil {
			t.Errorf("an open call has a record: %v", err)
		}
		dir = crash(t, dir)
		var interrupted []string
		o := testOptions
		o.OnInterrupted = func(r Record) { interrupted = append(interrupted, r.CallID+" "+r.Site) }
		for range 2 {
			time.Sleep(time.Hour)
			secondRecorder := Open(dir, o)
			secondRecorder.AddOpen(openCallOf("call_second", "a__b"), Facts{})
			page, err := secondRecorder.ReadPage(Query{Since: time.Now().Add(-2 * time.Hour), HasFailed: true})
			if err != nil || idsOf(page.Entries) != "call_open" {
				t.Fatalf("the failed calls are %s, %v", idsOf(page.Entries), err)
			}
			secondRecorder.Add(endedCallOf("call_second", "a__b", time.Now()), Facts{})
			secondRecorder.Close()
		}
		if len(interrupted) != 1 || interrupted[0] != "call_open https://shop.example" {
			t.Errorf("the interrupted calls are %q", interrupted)
		}
		e, ok, err := Find(dir, "call_open")
		if err != nil || !ok || e.Status != wire.StatusFailed || e.ErrorCode != wire.ErrShutdown || !strings.Contains(e.Error, "may have taken effect") ||
			e.NextStep == "" || e.Ended == nil || string(e.Args) != `{"channel":"general","password":"[redacted]"}` || e.Hash != "h" {
			t.Errorf("the record is %s, %v", e.Line, err)
		}
		if got := idsOf(readAll(t, dir, Query{})); strings.Count(got, "call_open") != 1 || strings.Count(got, "call_ended") != 1 || strings.Count(got, "call_quick") != 1 {
			t.Errorf("the records are %s", got)
		}
	})
}

func TestInterruptedApproval(t *testing.T) {
	dir := t.TempDir()
	firstRecorder := Open(dir, testOptions)
	defer firstRecorder.Close()
	firstRecorder.Begin("call_reload")
	for _, id := range []string{"call_waiting", "call_begun", "call_ended", "call_asks_user", "call_reload"} {
		e := openCallOf(id, "a__b")
		e.View.Waiting = &dispatch.WaitingTicket{CallID: id, Kind: wire.TicketPermission}
		if id == "call_asks_user" { // a running tool waits for the user
			e.View.Waiting.Kind = wire.TicketUser
		}
		firstRecorder.AddOpen(e, Facts{})
	}
	firstRecorder.Add(endedCallOf("call_ended", "a__b", time.Now()), Facts{})
	firstRecorder.Flush()
	for _, id := range []string{"call_begun", "call_asks_user", "call_ended", "call_short"} {
		firstRecorder.Begin(id)
	}
	dir = crash(t, dir)
	Open(dir, testOptions).Close()
	for _, want := range []struct{ id, wantSummary, stepName string }{
		{"call_waiting", "the call did not run", "Make the call again."},
		{"call_begun", "may have taken effect", "Check the page before you make the call again."},
		{"call_asks_user", "may have taken effect", "Check the page before you make the call again."},
		{"call_reload", "may have taken effect", "Check the page before you make the call again."},
		{"call_ended", "", ""},
	} {
		e, ok, err := Find(dir, want.id)
		if err != nil || !ok || !strings.Contains(e.Error, want.wantSummary) || e.NextStep != want.stepName {
			t.Errorf("%s: the record is %q %q, %v", want.id, e.Error, e.NextStep, err)
		}
	}
	if got := strings.Count(idsOf(readAll(t, dir, Query{})), "call_"); got != 5 {
		t.Errorf("there are %d records, want 5", got)
	}
}

func TestNotesOfOpenCalls(t *testing.T) {
	dir := t.TempDir()
	o := testOptions
	o.Arguments = false
	r := Open(dir, o)
	r.AddOpen(openCallOf("call_1", "a__b"), Facts{})
	r.Close()
	names, err := listFiles(filepath.Join(dir, folderName))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	path := filepath.Join(dir, folderName, names[0].String()+fileSuffix)
	fileContent, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(fileContent), "general") || !strings.Contains(string(fileContent), `"subject":"call_1"`) {
		t.Fatalf("the file has %s, %v", fileContent, err)
	}
	damagedNotes := string(fileContent) + `{"note":"call","subject":"call_2","call":{` + "\n" + `{"note":"call","subject":"call_3"}` + "\n{\n"
	if err := os.WriteFile(path, []byte(damagedNotes), 0o600); err != nil {
		t.Fatal(err)
	}
	Open(dir, o).Close()
	if got := idsOf(readAll(t, dir, Query{})); got != "call_1" {
		t.Errorf("the records are %s", got)
	}
	none := Open(t.TempDir(), Options{})
	none.AddOpen(openCallOf("call_1", "a__b"), Facts{})
	none.Close()
}
