package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/idempotency"
	"opentabs/internal/recorder"
	"opentabs/mcpserver/transport"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

type emptyRecords struct{}

func (emptyRecords) Find(string) (recorder.Entry, bool, error) { return recorder.Entry{}, false, nil }
func (emptyRecords) AddNote(recorder.Note)                     {}
func (emptyRecords) WriteNote(recorder.Note) error             { return nil }
func (emptyRecords) ReadNotes(recorder.NoteKind, string, time.Time) ([]recorder.Note, error) {
	return nil, nil
}

func keyMeta(key string) string { return fmt.Sprintf(`{"opentabs/idempotencyKey":%q}`, key) }

// withKeys runs f with a tool that takes 3 s; calls of the client "quick" become jobs after 1 s.
func withKeys(t *testing.T, f func(t *testing.T, s *jobServer, runs *atomic.Int64)) {
	var runs atomic.Int64
	keys := idempotency.New(emptyRecords{}, 0)
	echoTool := func(sink dispatch.Sink) {
		n := runs.Add(1)
		<-time.After(3 * time.Second)
		if n == 2 {
			sink.Finish(nil, &wire.CallError{Code: wire.ErrLinkLost, Message: "lost"})
			return
		}
		if n == 3 {
			sink.Finish(nil, &wire.CallError{Code: wire.ErrToolError, Message: "sold out"})
			return
		}
		sink.Finish(fmt.Appendf(nil, `{"run":%d}`, n), nil)
	}
	options := Options{Keys: keys, Detach: func(client string) Detach {
		if client == "quick" {
			return Detach{After: time.Second}
		}
		return Detach{}
	}}
	withJobOptions(t, dispatch.Options{BeforeHooks: []dispatch.BeforeHook{keys}}, options, echoTool, func(t *testing.T, s *jobServer) { f(t, s, &runs) })
}

// TestIdempotencyKey checks that a repeated call with the same key returns the first
// result, marked with the ID of the first call.
func TestIdempotencyKey(t *testing.T) {
	withKeys(t, func(t *testing.T, s *jobServer, runs *atomic.Int64) {
		c := s.connectAs("Cursor", "1")
		firstResult := c.call(callText(`1`, `{"a":1}`, keyMeta("k"))).toolResultOf(t)
		if firstResult.IsError || string(firstResult.Structured) != `{"run":1}` || firstResult.Meta[metaReplayed] != nil {
			t.Errorf("the first call returns %+v", firstResult)
		}
		for range 2 {
			r := s.connectAs("Cursor", "1").call(callText(`2`, `{"a":1}`, keyMeta("k"))).toolResultOf(t)
			if r.IsError || string(r.Structured) != `{"run":1}` || !strings.HasPrefix(string(r.Meta[metaReplayed]), `"call_`) {
				t.Errorf("the repeated call returns %+v", r)
			}
		}
		if r := c.call(callText(`3`, `{"a":2}`, keyMeta("k"))).toolResultOf(t); !r.IsError || !strings.Contains(r.Content[0].Text, "which has other arguments") {
			t.Errorf("other arguments return %+v", r)
		}
		if r := c.call(callText(`4`, `{}`, keyMeta("lost"))).toolResultOf(t); !r.IsError || !strings.Contains(r.Content[0].Text, "the same idempotency key") {
			t.Errorf("a lost link returns %+v", r)
		}
		if r := c.call(callText(`5`, `{}`, keyMeta("lost"))).toolResultOf(t); !r.IsError || !strings.Contains(r.Content[0].Text, "may have acted (link_lost)") {
			t.Errorf("a retry after a lost link returns %+v", r)
		}
		for _, isReplay := range []bool{false, true} {
			r := c.call(callText(`7`, `{}`, keyMeta("thrown"))).toolResultOf(t)
			const noteText = ", which has the same idempotency key. To call the tool again, use another key.\n"
			resultText, userText := r.Content[0].Text, string(r.Meta[metaError])
			if !r.IsError || !strings.Contains(resultText, "sold out") || strings.Contains(resultText, noteText) != isReplay || (r.Meta[metaReplayed] != nil) != isReplay {
				t.Errorf("replay %t: the error is %+v", isReplay, r)
			}
			if strings.Contains(userText, "To call the tool again, use another key.") != isReplay {
				t.Errorf("replay %t: the error for the user is %s", isReplay, userText)
			}
		}
		if n := runs.Load(); n != 3 {
			t.Errorf("the tool ran %d times, want 3", n)
		}
		for _, meta := range []string{`{"opentabs/idempotencyKey":5}`, keyMeta(""), keyMeta(strings.Repeat("x", 256))} {
			if m := c.call(callText(`6`, `{}`, meta)); m.Error == nil || m.Error.Code != wire.CodeInvalidParams || !strings.Contains(m.Error.Message, "1 to 255 printable characters") {
				t.Errorf("the key %s returns %+v", meta, m)
			}
		}
	})
}

// A repeated call with the same key must return the same job.
func TestIdempotencyKeyOfJob(t *testing.T) {
	withKeys(t, func(t *testing.T, s *jobServer, runs *atomic.Int64) {
		c := s.connectAs("quick", "1")
		firstResult := c.call(callText(`1`, `{}`, keyMeta("k"))).toolResultOf(t)
		secondResult := c.call(callText(`2`, `{}`, keyMeta("k"))).toolResultOf(t)
		if firstResult.Meta[metaJob] == nil || string(firstResult.Meta[metaJob]) != string(secondResult.Meta[metaJob]) || secondResult.Meta[metaReplayed] == nil {
			t.Errorf("the jobs are %s and %s", firstResult.Meta[metaJob], secondResult.Meta[metaJob])
		}
		time.Sleep(2 * time.Second) // the call has ended now
		thirdResult := c.call(callText(`3`, `{}`, keyMeta("k"))).toolResultOf(t)
		if string(thirdResult.Structured) != `{"run":1}` || runs.Load() != 1 {
			t.Errorf("after %d runs, the result is %+v", runs.Load(), thirdResult)
		}
	})
}

// doneCallRecords is a recorder with the idempotency key of a call that is done, but without
// the call's record.
type doneCallRecords struct {
	emptyRecords
	key recorder.Note
}

func (d *doneCallRecords) WriteNote(n recorder.Note) error {
	d.key = n
	return nil
}

func (d *doneCallRecords) ReadNotes(recorder.NoteKind, string, time.Time) ([]recorder.Note, error) {
	if d.key.Subject == "" {
		return nil, nil
	}
	d.key.State, d.key.Time = "done", time.Now()
	return []recorder.Note{d.key}, nil
}

// TestLostResult checks that the reply to a repeated call is marked if the result of the first call is not stored.
func TestLostResult(t *testing.T) {
	records := &doneCallRecords{}
	for _, isStored := range []bool{true, false} { // the first server stores the key
		keys := idempotency.New(records, 30)
		echoTool := func(sink dispatch.Sink) { sink.Finish([]byte(`{"run":1}`), nil) }
		withJobOptions(t, dispatch.Options{BeforeHooks: []dispatch.BeforeHook{keys}}, Options{Keys: keys}, echoTool, func(t *testing.T, s *jobServer) {
			r := s.connectAs("Cursor", "1").call(callText(`1`, `{}`, keyMeta("k"))).toolResultOf(t)
			if isStored {
				if r.IsError || r.Meta[metaResultLost] != nil || string(r.Structured) != `{"run":1}` {
					t.Errorf("the first call returns %+v", r)
				}
				return
			}
			want := fmt.Sprintf(`{"call_id":%q,"status":"done","result_stored":false}`, records.key.By)
			if r.IsError || string(r.Meta[metaResultLost]) != "true" || string(r.Structured) != want || !strings.Contains(r.Content[0].Text, "Its result is not stored") {
				t.Errorf("the repeated call returns %+v, want %s", r, want)
			}
		})
	}
}

// TestMetaOfTools checks that read-only tools ignore the idempotency key.
func TestMetaOfTools(t *testing.T) {
	isReadOnly := true
	p := plugintest.Load(t, plugintest.Package{Tools: []plugintest.Tool{
		{Name: "list_items", Description: "d", Annotations: &plugin.Annotations{ReadOnly: &isReadOnly}}, {Name: "add_item", Description: "d"}, {Name: "remove_item", Description: "d"},
	}})
	p.Tools[1].Undo = &plugin.Undo{Tool: "remove_item"}
	s := &Server{opts: Options{Keys: idempotency.New(emptyRecords{}, 0)}}
	q := request{Request: transport.Request{Params: &transport.Params{}}}
	q.Params.Meta.IdempotencyKey = json.RawMessage(`"k"`)
	for i, want := range []string{"", "k", "k"} {
		if key, err := idempotencyKeyOf(s, q, &listedTool{tool: p.Tools[i]}); err != nil || key != want {
			t.Errorf("the key of %s is %q, %v", p.Tools[i].Name, key, err)
		}
	}
	if meta := newListedToolMeta(p.Tools[1]); meta[metaUndo] != p.Tools[2].FullName() {
		t.Errorf("the _meta of add_item is %v", meta)
	}
	if meta := newListedToolMeta(p.Tools[2]); meta != nil {
		t.Errorf("the _meta of remove_item is %v", meta)
	}
}
