package recorder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/wire"
)

var testOptions = Options{Days: 30, Bytes: 1 << 30, Arguments: true, Results: true}

func endedCallOf(id, tool string, endedTime time.Time) dispatch.EndedCall {
	plugin, name, _ := strings.Cut(tool, "__")
	return dispatch.EndedCall{View: dispatch.View{
		Snapshot: dispatch.Snapshot{CallID: id, ToolName: tool, Progression: dispatch.Progression{Status: wire.StatusDone}},
		Plugin:   plugin, Tool: name, Created: endedTime.Add(-time.Second), Ended: &endedTime, Requester: dispatch.Requester{Client: "Cursor"},
	}}
}

func callWithAllFields() dispatch.EndedCall {
	v := dispatchtest.View()
	v.Error, v.Waiting = "sent Bearer abcdefghijklmnop", nil
	v.Activities = []dispatch.ActivityView{
		{Type: "json", Content: json.RawMessage(`{"password":"p4ss","rows":2}`)},
		{Type: "text", Content: json.RawMessage(`"` + strings.Repeat("x", maxActivityBytes) + `"`)},
		{Type: "table", Content: json.RawMessage(`[` + strings.Repeat(`"`+strings.Repeat("x", 999)+`",`, 19) + `1]`)},
	}
	v.Timeline = []dispatch.TimelineEntry{{Kind: dispatch.EventResumed, Resolution: &dispatch.Resolution{Allow: true, Surface: "the side panel", Data: json.RawMessage(`"typed"`)}}}
	return dispatch.EndedCall{
		View: v, Args: json.RawMessage(`{"channel":"general","api_key":"k-1","note":"hunter2-of-ann"}`), Output: json.RawMessage(`{"sent":3}`),
		LastMessages: []dispatch.ToolMessage{{Message: "token=abc123", Audience: dispatch.AudienceUser}}, DroppedMessages: 980,
	}
}

func record(t *testing.T, o Options, calls ...dispatch.EndedCall) string {
	t.Helper()
	dir := t.TempDir()
	r := Open(dir, o)
	for _, c := range calls {
		r.Add(c, CallFacts{Site: "https://shop.example", Hash: "h", Approval: &Approval{Scope: wire.ScopeSession, By: "the side panel"}})
	}
	r.Close()
	r.Add(endedCallOf("call_late", "a__b", time.Now()), CallFacts{})
	return dir
}

func readAllEntries(t *testing.T, dir string, q Query) []Entry {
	t.Helper()
	entries, err := ReadAll(dir, q)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func joinCallIDs(entries []Entry) string {
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.CallID)
	}
	return strings.Join(ids, " ")
}

func TestRecordHasEverythingButSecrets(t *testing.T) {
	o := testOptions
	o.Secrets = func() []string { return []string{"hunter2-of-ann"} }
	dir := record(t, o, callWithAllFields())
	entries := readAllEntries(t, dir, Query{})
	if len(entries) != 1 {
		t.Fatalf("the query returned %d records, want 1", len(entries))
	}
	e := entries[0]
	for _, want := range []string{
		`"args":{"api_key":"[redacted]","channel":"general","note":"[redacted]"}`, `"args_incomplete":true`, `"output":{"sent":3}`,
		`"site":"https://shop.example"`, `"hash":"h"`, `"approved":{"scope":"session","by":"the side panel"}`,
		`"content":{"password":"[redacted]","rows":2}`, `xxx…"},{"type":"table","content":null}`, `"message":"token=[redacted]","audience":"user"`, `"dropped_messages":980`, `"by":"the side panel"`,
	} {
		if !bytes.Contains(e.Line, []byte(want)) {
			t.Errorf("the record does not contain %s:\n%s", want, e.Line)
		}
	}
	for _, secret := range []string{"abcdefghijklmnop", "p4ss", "k-1", "hunter2", "abc123", "typed"} {
		if bytes.Contains(e.Line, []byte(secret)) {
			t.Errorf("the record contains the secret %s, want it removed:\n%s", secret, e.Line)
		}
	}
	path := filepath.Join(dir, folderName, time.Now().UTC().Format(time.DateOnly)+fileSuffix)
	if fileInfo, err := os.Stat(path); err != nil || fileInfo.Mode().Perm() != 0o600 {
		t.Errorf("mode of the record file of the day = %v, error %v; want 0600", fileInfo, err)
	}
	if foundEntry, ok, err := Find(dir, e.CallID); err != nil || !ok || foundEntry.CallID != e.CallID {
		t.Errorf("Find of the recorded call returned ok = %v, error %v; want the record", ok, err)
	}
	if _, ok, err := Find(dir, "call_none"); err != nil || ok {
		t.Errorf("Find of an unknown call returned ok = %v, error %v; want false and no error", ok, err)
	}
}

func TestArgumentsAndResultsAreOptional(t *testing.T) {
	o := testOptions
	o.Arguments, o.Results = false, false
	e := readAllEntries(t, record(t, o, callWithAllFields()), Query{})[0]
	if e.Args != nil || e.Output != nil || e.Result != "" || e.ArgsBytes == 0 || e.OutputBytes == 0 || !e.IsArgsIncomplete {
		t.Errorf("record = %s, want the sizes of the arguments and the result without their content", e.Line)
	}
	longCall := endedCallOf("call_1", "a__b", time.Now())
	longCall.Args = json.RawMessage(`{"text":"` + strings.Repeat("x", 2*maxStringBytes) + `"}`)
	hugeCall := endedCallOf("call_2", "a__b", time.Now())
	hugeCall.Args = json.RawMessage(`{"text":"` + strings.Repeat("x", maxDecodedBytes) + `"}`)
	recordedCall := endedCallOf("call_3", "a__b", time.Now())
	recordedCall.Args = json.RawMessage(`{"n":12345678901234567890}`)
	entries := readAllEntries(t, record(t, testOptions, longCall, hugeCall, recordedCall), Query{})
	if got := entries[0]; string(got.Args) != string(recordedCall.Args) || got.IsArgsIncomplete {
		t.Errorf("recorded short arguments = %s, incomplete = %v; want the same arguments and false", got.Args, got.IsArgsIncomplete)
	}
	if got := entries[1]; got.Args != nil || got.ArgsBytes != len(hugeCall.Args) || !got.IsArgsIncomplete {
		t.Errorf("recorded long arguments with many values: %d of %d bytes, want no content", len(got.Args), got.ArgsBytes)
	}
	if got := entries[2]; len(got.Args) > maxStringBytes+100 || !strings.HasSuffix(string(got.Args), `x…"}`) || !got.IsArgsIncomplete {
		t.Errorf("a long text is recorded with %d bytes, want it truncated to maxStringBytes", len(got.Args))
	}
}

func TestNothingIsRecordedForZeroDays(t *testing.T) {
	dir := record(t, Options{Bytes: 1 << 30}, callWithAllFields())
	if dirEntries, err := os.ReadDir(dir); err != nil || len(dirEntries) != 0 {
		t.Errorf("files in the state folder = %v, error %v; want none", dirEntries, err)
	}
}

func TestRecordsAreWrittenWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := Open(dir, testOptions)
		defer r.Close()
		for i := range 3 {
			r.Add(endedCallOf(fmt.Sprint("call_", i), "a__b", time.Now()), CallFacts{})
			time.Sleep(time.Second)
			synctest.Wait()
			if got := len(readAllEntries(t, dir, Query{})); got != i+1 {
				t.Fatalf("the files contain %d records after %d calls, want equal numbers", got, i+1)
			}
		}
	})
}

// A crash during a write can leave an incomplete last line, which readers must skip.
func TestIncompleteLineIsRemoved(t *testing.T) {
	dir := record(t, testOptions, endedCallOf("call_1", "a__b", time.Now()))
	names, err := listFiles(filepath.Join(dir, folderName))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	path := filepath.Join(dir, folderName, names[0].String()+fileSuffix)
	completeLines, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, partialLine := range []string{`{"call_id":"call_2","tool`, "{", `{"call_id":"call_2"}`} {
		if err := os.WriteFile(path, append(bytes.Clone(completeLines), partialLine...), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := joinCallIDs(readAllEntries(t, dir, Query{})); got != "call_1" {
			t.Errorf("records of a file with the incomplete line %s = %s, want call_1", partialLine, got)
		}
		r := Open(dir, testOptions)
		r.Add(endedCallOf("call_3", "a__b", time.Now()), CallFacts{})
		r.Close()
		if got := joinCallIDs(readAllEntries(t, dir, Query{})); got != "call_3 call_1" {
			t.Errorf("records after the repair of the file = %s, want call_3 and call_1", got)
		}
		if fileContent, err := os.ReadFile(path); err != nil || bytes.Count(fileContent, []byte("\n")) != 2 || !bytes.HasSuffix(fileContent, []byte("}\n")) {
			t.Errorf("content of the repaired file = %s, error %v; want two complete lines", fileContent, err)
		}
	}
}

func TestFailedWritesAreLogged(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, folderName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o := testOptions
	o.Log = zerolog.New(&log)
	r := Open(dir, o)
	for range 3 {
		r.Add(endedCallOf("call_1", "a__b", time.Now()), CallFacts{})
		r.Flush()
	}
	r.Close()
	if n := strings.Count(log.String(), "calls are not recorded"); n != 1 {
		t.Errorf("the recorder logged %d errors, want 1: %s", n, log.String())
	}
}

func TestReadHistoryReturnsPages(t *testing.T) {
	r := Open(t.TempDir(), testOptions)
	defer r.Close()
	call := callWithAllFields()
	call.View.Status, call.View.Browser, call.View.TabID = wire.StatusTimedOut, "b1", 7
	r.Add(call, CallFacts{Site: "https://shop.example", Approval: &Approval{Scope: wire.ScopeOnce, By: "the command line"}})
	r.Add(endedCallOf("call_2", "a__b", time.Now()), CallFacts{})
	page, err := r.ReadHistory("b1", wire.CallsHistoryParams{Limit: 1})
	if err != nil || len(page.Calls) != 1 || page.Calls[0].Call.CallID != "call_2" || page.Next == "" {
		t.Fatalf("first page of the records = %+v, error %v; want call_2 and a cursor", page, err)
	}
	page, err = r.ReadHistory("b1", wire.CallsHistoryParams{Limit: 10, Before: page.Next, Filter: &wire.CallsFilter{Text: "GENERAL", OnlyFailed: true}})
	if err != nil || len(page.Calls) != 1 || page.Next != "" {
		t.Fatalf("second page of the records = %+v, error %v; want one call and no cursor", page, err)
	}
	got := page.Calls[0]
	if got.Call.Status != wire.StatusTimedOut || got.Call.TabID != 7 || got.Call.Site != "shop.example" || got.ApprovedBy != "the command line" || got.ApprovedScope != wire.ScopeOnce ||
		!strings.Contains(got.Call.Args, `"channel":"general"`) || !got.ArgsIncomplete || got.Call.CreatedMs == 0 || got.EndedMs < got.Call.CreatedMs {
		t.Errorf("record in the side panel = %+v, want the arguments without secrets, and valid times", got)
	}
	if secondBrowserHistory, err := r.ReadHistory("b2", wire.CallsHistoryParams{Limit: 10}); err != nil || secondBrowserHistory.Calls[1].Call.TabID != 0 {
		t.Errorf("calls in the side panel of another browser = %+v, error %v; want no tab ID", secondBrowserHistory, err)
	}
	for _, p := range []wire.CallsHistoryParams{{}, {Limit: 201}, {Limit: 1, Before: "x"}, {Limit: 1, Before: "../../x:1"}, {Limit: 1, Before: "2026-11-23:-1"}} {
		if _, err := r.ReadHistory("b1", p); err == nil {
			t.Errorf("ReadHistory accepted the invalid request %+v, want an error", p)
		}
	}
}

// FindPrefix must not find calls whose records contain the prefix of an ID in another field.
func TestFindPrefix(t *testing.T) {
	nestedCall := endedCallOf("call_z", "a__b", time.Now())
	nestedCall.View.ParentCallID = "call_a1"
	dir := record(t, testOptions, endedCallOf("call_a1", "a__b", time.Now()), endedCallOf("call_a2", "a__b", time.Now()), endedCallOf("call_b", "a__b", time.Now()), nestedCall)
	for _, c := range []struct {
		prefix string
		limit  int
		want   string
	}{
		{"call_a", 0, "call_a2 call_a1"}, {"call_a", 1, "call_a2"}, {"call_a1", 5, "call_a1"}, {"call_b", 5, "call_b"}, {"a1", 5, ""}, {"call_none", 5, ""},
	} {
		entries, err := FindPrefix(dir, c.prefix, c.limit)
		if got := joinCallIDs(entries); err != nil || got != c.want {
			t.Errorf("calls whose IDs begin with %s = %s, error %v; want %s", c.prefix, got, err, c.want)
		}
	}
}
