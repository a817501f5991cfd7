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

func newKeyMeta(key string) string { return fmt.Sprintf(`{"opentabs/idempotencyKey":%q}`, key) }

// runWithIdempotencyKeys runs f with a tool that takes 3 s; calls of the client "quick" become jobs after 1 s.
func runWithIdempotencyKeys(t *testing.T, f func(t *testing.T, s *jobServer, runCount *atomic.Int64)) {
	var runCount atomic.Int64
	keys := idempotency.New(emptyRecords{}, 0)
	echoTool := func(sink dispatch.Sink) {
		n := runCount.Add(1)
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
	options := Options{Keys: keys, Detach: func(client string) DetachPolicy {
		if client == "quick" {
			return DetachPolicy{After: time.Second}
		}
		return DetachPolicy{}
	}}
	runWithJobOptions(t, dispatch.Options{BeforeHooks: []dispatch.BeforeHook{keys}}, options, echoTool, func(t *testing.T, s *jobServer) { f(t, s, &runCount) })
}

// TestIdempotencyKey checks that a repeated call with the same key returns the first
// result, marked with the ID of the first call.
func TestIdempotencyKey(t *testing.T) {
	runWithIdempotencyKeys(t, func(t *testing.T, s *jobServer, runCount *atomic.Int64) {
		c := s.connectAs("Cursor", "1")
		firstResult := c.call(callText(`1`, `{"a":1}`, newKeyMeta("k"))).toolResultOf(t)
		if firstResult.IsError || string(firstResult.Structured) != `{"run":1}` || firstResult.Meta[metaReplayed] != nil {
			t.Errorf("first call = %+v; want {\"run\":1} without the mark replayed", firstResult)
		}
		for range 2 {
			r := s.connectAs("Cursor", "1").call(callText(`2`, `{"a":1}`, newKeyMeta("k"))).toolResultOf(t)
			if r.IsError || string(r.Structured) != `{"run":1}` || !strings.HasPrefix(string(r.Meta[metaReplayed]), `"call_`) {
				t.Errorf("repeated call = %+v; want {\"run\":1} with the ID of the first call", r)
			}
		}
		if r := c.call(callText(`3`, `{"a":2}`, newKeyMeta("k"))).toolResultOf(t); !r.IsError || !strings.Contains(r.Content[0].Text, "which has other arguments") {
			t.Errorf("call with the same key and other arguments = %+v; want an error about the other arguments", r)
		}
		if r := c.call(callText(`4`, `{}`, newKeyMeta("lost"))).toolResultOf(t); !r.IsError || !strings.Contains(r.Content[0].Text, "the same idempotency key") {
			t.Errorf("call whose link is lost = %+v; want an error that recommends the same idempotency key", r)
		}
		if r := c.call(callText(`5`, `{}`, newKeyMeta("lost"))).toolResultOf(t); !r.IsError || !strings.Contains(r.Content[0].Text, "may have acted (link_lost)") {
			t.Errorf("repeated call after a lost link = %+v; want the error \"may have acted (link_lost)\"", r)
		}
		for _, isReplay := range []bool{false, true} {
			r := c.call(callText(`7`, `{}`, newKeyMeta("thrown"))).toolResultOf(t)
			const noteText = ", which has the same idempotency key. To call the tool again, use another key.\n"
			resultText, userText := r.Content[0].Text, string(r.Meta[metaError])
			if !r.IsError || !strings.Contains(resultText, "sold out") || strings.Contains(resultText, noteText) != isReplay || (r.Meta[metaReplayed] != nil) != isReplay {
				t.Errorf("repeated call %t: result %+v; want the error \"sold out\", marked only in the repeated call", isReplay, r)
			}
			if strings.Contains(userText, "To call the tool again, use another key.") != isReplay {
				t.Errorf("repeated call %t: error for the user = %s; want the advice to use another key only in the repeated call", isReplay, userText)
			}
		}
		if n := runCount.Load(); n != 3 {
			t.Errorf("the tool ran %d times, want 3", n)
		}
		for _, meta := range []string{`{"opentabs/idempotencyKey":5}`, newKeyMeta(""), newKeyMeta(strings.Repeat("x", 256))} {
			if m := c.call(callText(`6`, `{}`, meta)); m.Error == nil || m.Error.Code != wire.CodeInvalidParams || !strings.Contains(m.Error.Message, "1 to 255 printable characters") {
				t.Errorf("call with the invalid idempotency key %s = %+v; want the error \"1 to 255 printable characters\"", meta, m)
			}
		}
	})
}

// A repeated call with the same key must return the same job.
func TestRepeatedKeyReturnsSameJob(t *testing.T) {
	runWithIdempotencyKeys(t, func(t *testing.T, s *jobServer, runCount *atomic.Int64) {
		c := s.connectAs("quick", "1")
		firstResult := c.call(callText(`1`, `{}`, newKeyMeta("k"))).toolResultOf(t)
		secondResult := c.call(callText(`2`, `{}`, newKeyMeta("k"))).toolResultOf(t)
		if firstResult.Meta[metaJob] == nil || string(firstResult.Meta[metaJob]) != string(secondResult.Meta[metaJob]) || secondResult.Meta[metaReplayed] == nil {
			t.Errorf("job of the first call = %s, of the repeated call = %s; want the same job, marked as replayed", firstResult.Meta[metaJob], secondResult.Meta[metaJob])
		}
		time.Sleep(2 * time.Second) // the call has ended now
		thirdResult := c.call(callText(`3`, `{}`, newKeyMeta("k"))).toolResultOf(t)
		if string(thirdResult.Structured) != `{"run":1}` || runCount.Load() != 1 {
			t.Errorf("result after %d runs = %+v; want {\"run\":1} after 1 run", runCount.Load(), thirdResult)
		}
	})
}

// keyOnlyRecorder is a recorder with the idempotency key of a call that is done, but without
// the call's record.
type keyOnlyRecorder struct {
	emptyRecords
	key recorder.Note
}

func (d *keyOnlyRecorder) WriteNote(n recorder.Note) error {
	d.key = n
	return nil
}

func (d *keyOnlyRecorder) ReadNotes(recorder.NoteKind, string, time.Time) ([]recorder.Note, error) {
	if d.key.Subject == "" {
		return nil, nil
	}
	d.key.State, d.key.Time = "done", time.Now()
	return []recorder.Note{d.key}, nil
}

// TestRepeatedCallReportsLostResult checks that the reply to a repeated call is marked if the result of the first call is not stored.
func TestRepeatedCallReportsLostResult(t *testing.T) {
	records := &keyOnlyRecorder{}
	for _, isStored := range []bool{true, false} { // the first server stores the key
		keys := idempotency.New(records, 30)
		echoTool := func(sink dispatch.Sink) { sink.Finish([]byte(`{"run":1}`), nil) }
		runWithJobOptions(t, dispatch.Options{BeforeHooks: []dispatch.BeforeHook{keys}}, Options{Keys: keys}, echoTool, func(t *testing.T, s *jobServer) {
			r := s.connectAs("Cursor", "1").call(callText(`1`, `{}`, newKeyMeta("k"))).toolResultOf(t)
			if isStored {
				if r.IsError || r.Meta[metaResultLost] != nil || string(r.Structured) != `{"run":1}` {
					t.Errorf("first call = %+v; want {\"run\":1} without the mark of a lost result", r)
				}
				return
			}
			want := fmt.Sprintf(`{"call_id":%q,"status":"done","result_stored":false}`, records.key.By)
			if r.IsError || string(r.Meta[metaResultLost]) != "true" || string(r.Structured) != want || !strings.Contains(r.Content[0].Text, "Its result is not stored") {
				t.Errorf("answer to the repeated call = %+v; want the structured content %s and the mark of a lost result", r, want)
			}
		})
	}
}

// TestReadOnlyToolsIgnoreIdempotencyKey checks that read-only tools ignore the idempotency key.
func TestReadOnlyToolsIgnoreIdempotencyKey(t *testing.T) {
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
			t.Errorf("idempotency key of %s = %q, error %v; want %q", p.Tools[i].Name, key, err, want)
		}
	}
	if meta := newListedToolMeta(p.Tools[1]); meta[metaUndo] != p.Tools[2].FullName() {
		t.Errorf("_meta of add_item = %v; want remove_item as the undo tool", meta)
	}
	if meta := newListedToolMeta(p.Tools[2]); meta != nil {
		t.Errorf("_meta of remove_item = %v; want none", meta)
	}
}
