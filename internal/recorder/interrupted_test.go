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

func copyStateAfterCrash(t *testing.T, dir string) string {
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
		firstRecorder.AddOpenCall(openCallOf("call_ended", "a__b"), CallFacts{})
		firstRecorder.Add(endedCallOf("call_ended", "a__b", time.Now()), CallFacts{})
		firstRecorder.Flush()
		firstRecorder.Add(endedCallOf("call_quick", "a__b", time.Now()), CallFacts{})
		firstRecorder.AddOpenCall(openCallOf("call_quick", "a__b"), CallFacts{})
		firstRecorder.AddOpenCall(openCallOf("call_open", "a__b"), CallFacts{Site: "https://shop.example", Hash: "h"})
		time.Sleep(time.Second)
		if _, ok, err := Find(dir, "call_open"); ok || err != nil {
			t.Errorf("Find of an open call returned a record or the error %v, want neither", err)
		}
		dir = copyStateAfterCrash(t, dir)
		var interruptedCalls []string
		o := testOptions
		o.OnInterruptedCall = func(r Record) { interruptedCalls = append(interruptedCalls, r.CallID+" "+r.Site) }
		for range 2 {
			time.Sleep(time.Hour)
			secondRecorder := Open(dir, o)
			secondRecorder.AddOpenCall(openCallOf("call_second", "a__b"), CallFacts{})
			page, err := secondRecorder.ReadPage(Query{Since: time.Now().Add(-2 * time.Hour), OnlyFailed: true})
			if err != nil || joinCallIDs(page.Entries) != "call_open" {
				t.Fatalf("failed calls = %s, error %v; want call_open", joinCallIDs(page.Entries), err)
			}
			secondRecorder.Add(endedCallOf("call_second", "a__b", time.Now()), CallFacts{})
			secondRecorder.Close()
		}
		if len(interruptedCalls) != 1 || interruptedCalls[0] != "call_open https://shop.example" {
			t.Errorf("interrupted calls = %q, want call_open on https://shop.example", interruptedCalls)
		}
		e, ok, err := Find(dir, "call_open")
		if err != nil || !ok || e.Status != wire.StatusFailed || e.ErrorCode != wire.ErrShutdown || !strings.Contains(e.Error, "may have taken effect") ||
			e.NextStep == "" || e.Ended == nil || string(e.Args) != `{"channel":"general","password":"[redacted]"}` || e.Hash != "h" {
			t.Errorf("record of the interrupted call = %s, error %v; want redacted arguments, the hash, and advice for the next step", e.Line, err)
		}
		if got := joinCallIDs(readAllEntries(t, dir, Query{})); strings.Count(got, "call_open") != 1 || strings.Count(got, "call_ended") != 1 || strings.Count(got, "call_quick") != 1 {
			t.Errorf("recorded calls = %s, want call_open, call_ended and call_quick once each", got)
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
		firstRecorder.AddOpenCall(e, CallFacts{})
	}
	firstRecorder.Add(endedCallOf("call_ended", "a__b", time.Now()), CallFacts{})
	firstRecorder.Flush()
	for _, id := range []string{"call_begun", "call_asks_user", "call_ended", "call_short"} {
		firstRecorder.Begin(id)
	}
	dir = copyStateAfterCrash(t, dir)
	Open(dir, testOptions).Close()
	for _, want := range []struct{ id, wantErrorText, stepName string }{
		{"call_waiting", "the call did not run", "Make the call again."},
		{"call_begun", "may have taken effect", "Check the page before you make the call again."},
		{"call_asks_user", "may have taken effect", "Check the page before you make the call again."},
		{"call_reload", "may have taken effect", "Check the page before you make the call again."},
		{"call_ended", "", ""},
	} {
		e, ok, err := Find(dir, want.id)
		if err != nil || !ok || !strings.Contains(e.Error, want.wantErrorText) || e.NextStep != want.stepName {
			t.Errorf("record of %s: error text %q, next step %q, error %v; want %q and %q", want.id, e.Error, e.NextStep, err, want.wantErrorText, want.stepName)
		}
	}
	if got := strings.Count(joinCallIDs(readAllEntries(t, dir, Query{})), "call_"); got != 5 {
		t.Errorf("%d calls are recorded, want 5", got)
	}
}

func TestOpenCallNotesAreBounded(t *testing.T) {
	dir := t.TempDir()
	o := testOptions
	o.Arguments = false
	r := Open(dir, o)
	r.AddOpenCall(openCallOf("call_1", "a__b"), CallFacts{})
	r.Close()
	names, err := listFiles(filepath.Join(dir, folderName))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	path := filepath.Join(dir, folderName, names[0].String()+fileSuffix)
	fileContent, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(fileContent), "general") || !strings.Contains(string(fileContent), `"subject":"call_1"`) {
		t.Fatalf("record file = %s, error %v; want a note about call_1 without its arguments", fileContent, err)
	}
	incompleteNotes := string(fileContent) + `{"note":"call","subject":"call_2","call":{` + "\n" + `{"note":"call","subject":"call_3"}` + "\n{\n"
	if err := os.WriteFile(path, []byte(incompleteNotes), 0o600); err != nil {
		t.Fatal(err)
	}
	Open(dir, o).Close()
	if got := joinCallIDs(readAllEntries(t, dir, Query{})); got != "call_1" {
		t.Errorf("recorded calls = %s, want call_1", got)
	}
	emptyRecorder := Open(t.TempDir(), Options{})
	emptyRecorder.AddOpenCall(openCallOf("call_1", "a__b"), CallFacts{})
	emptyRecorder.Close()
}
