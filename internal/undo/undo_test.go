package undo

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/dispatch/joblist"
	"opentabs/internal/recorder"
	"opentabs/plugin"
	"opentabs/wire"
)

func newShopPlugins() *plugin.Set {
	p := &plugin.Plugin{Name: "shop", DisplayName: "Shop"}
	restoreSchema := json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"}},"required":["id"]}`)
	undo := &plugin.Undo{Tool: "restore_item", Input: []plugin.UndoArgument{{Name: "id", Pointer: "/result/id"}, {Name: "name", Pointer: "/input/name"}}}
	p.Tools = []*plugin.Tool{
		{Plugin: p, Name: "delete_item", Undo: undo, InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Plugin: p, Name: "restore_item", InputSchema: restoreSchema},
	}
	return plugin.NewSet([]*plugin.Plugin{p}, nil)
}

type fixture struct {
	t            *testing.T
	dir          string
	options      recorder.Options
	records      *recorder.Recorder
	memory       *Memory
	undoer       *Undoer
	calls        *dispatch.Dispatcher
	restoreCalls []string
	finishCall   func(dispatch.Sink)
	gate         dispatch.Verdict
}

func (f *fixture) Name() string                              { return "fixture" }
func (f *fixture) Decide(dispatch.CallInfo) dispatch.Verdict { return f.gate }
func (f *fixture) BeforeCall(callInfo dispatch.CallInfo) *wire.CallError {
	return f.undoer.BeforeCall(callInfo)
}

func (f *fixture) start() {
	f.records, f.memory = recorder.Open(f.dir, f.options), NewMemory(newShopPlugins)
	bridge := &dispatchtest.Bridge{StartFunc: func(_ context.Context, toolRun dispatch.Run, sink dispatch.Sink) *wire.CallError {
		switch {
		case toolRun.Tool != "restore_item":
			go sink.Finish(json.RawMessage(`{"id":"i-1"}`), nil)
		case f.finishCall != nil:
			f.restoreCalls = append(f.restoreCalls, string(toolRun.Args))
			f.finishCall(sink)
		default:
			f.restoreCalls = append(f.restoreCalls, string(toolRun.Args))
			go sink.Finish(json.RawMessage(`{}`), nil)
		}
		return nil
	}}
	f.calls = dispatch.New(bridge, dispatch.Options{Gates: []dispatch.Gate{f}, BeforeHooks: []dispatch.BeforeHook{f}, AfterHooks: []dispatch.AfterHook{recordingHook{f.records}, f.memory}})
	f.undoer = New(Options{
		Plugins: newShopPlugins, Memory: f.memory, Records: f.records, Calls: f.calls, Jobs: joblist.New(f.calls, joblist.Options{}),
		ChooseTab: func(*dispatch.Call, recorder.Entry) {},
	})
}

type recordingHook struct{ records *recorder.Recorder }

func (h recordingHook) AfterCall(_ dispatch.CallInfo, e dispatch.EndedCall) {
	h.records.Add(e, recorder.CallFacts{})
}

func (f *fixture) stop() {
	f.calls.Shutdown()
	_ = f.calls.WaitForHooks(context.Background())
	synctest.Wait()
	f.records.Close()
}

func (f *fixture) simulateCrash() {
	dir := f.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(f.dir)); err != nil {
		f.t.Fatal(err)
	}
	f.stop()
	f.dir = dir
	f.start()
}

func (f *fixture) callDeleteItem(args string) string {
	f.t.Helper()
	callID := f.deleteItemWithoutHooks(args)
	time.Sleep(time.Second)
	return callID
}

// The AfterHooks of the call have not run when deleteItemWithoutHooks returns.
func (f *fixture) deleteItemWithoutHooks(args string) string {
	f.t.Helper()
	tool, _ := newShopPlugins().Tool("shop__delete_item")
	callResult, err := f.calls.Call(f.t.Context(), dispatch.Call{Tool: tool.Dispatch(), Args: json.RawMessage(args)})
	if err != nil {
		f.t.Fatal(err)
	}
	return callResult.CallID
}

func (f *fixture) undo(callID string) (UndoCall, error) {
	undoCallInfo, err := f.undoer.Undo(callID, dispatch.Client{Name: "the side panel"})
	synctest.Wait()
	return undoCallInfo, err
}

func (f *fixture) wantError(callID, want string) {
	f.t.Helper()
	if _, err := f.undo(callID); err == nil || !strings.Contains(err.Error(), want) {
		f.t.Errorf("Undo returned %v, want an error that contains %q", err, want)
	}
}

func run(t *testing.T, o recorder.Options, test func(*fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t, dir: t.TempDir(), options: o}
		f.start()
		test(f)
		f.stop()
	})
}

func (f *fixture) checkUndoState(callID string, state wire.UndoState, by string) {
	f.t.Helper()
	got, err := f.undoer.State(callID, time.Now().Add(-time.Hour))
	if got == nil {
		got = &wire.CallUndo{}
	}
	if err != nil || *got != (wire.CallUndo{State: state, By: by}) {
		f.t.Errorf("State of the call %s = %+v, error %v; want %s by %s", callID, *got, err, state, by)
	}
}

var recordAllOptions = recorder.Options{Days: 30, Bytes: 1 << 30, Arguments: true, Results: true}

func TestSecondUndoIsRejected(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		id := f.callDeleteItem(`{"name":"Chair"}`)
		undoCallInfo, err := f.undo(id)
		if err != nil || undoCallInfo.ToolName != "shop__restore_item" || len(f.restoreCalls) != 1 || f.restoreCalls[0] != `{"id":"i-1","name":"Chair"}` {
			t.Fatalf("Undo started %+v, restored items %q, error %v; want one call of shop__restore_item", undoCallInfo, f.restoreCalls, err)
		}
		callView, ok := f.calls.Find(undoCallInfo.CallID)
		if !ok || callView.Status != wire.StatusDone || callView.Client != "the side panel" {
			t.Errorf("call of the undo = %+v, want done for the client \"the side panel\"", callView)
		}
		for range 2 {
			f.wantError(id, "already undone, by "+undoCallInfo.CallID)
			f.checkUndoState(id, wire.UndoDone, undoCallInfo.CallID)
			f.stop()
			f.start()
		}
	})
}

func TestUndoImmediatelyAfterTheCall(t *testing.T) {
	run(t, recorder.Options{}, func(f *fixture) {
		if _, err := f.undo(f.deleteItemWithoutHooks(`{"name":"Chair"}`)); err != nil || len(f.restoreCalls) != 1 {
			t.Errorf("Undo restored the items %q, error %v; want one call of shop__restore_item", f.restoreCalls, err)
		}
	})
}

func TestUndoAfterFailure(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		id := f.callDeleteItem(`{}`)
		f.finishCall = func(s dispatch.Sink) {
			go s.Finish(nil, &wire.CallError{Code: wire.ErrToolError, Message: "it is locked"})
		}
		f.checkUndoState(id, "", "")
		if _, err := f.undo(id); err != nil {
			t.Fatal(err)
		}
		f.checkUndoState(id, "", "")
		var release dispatch.Sink
		f.finishCall = func(s dispatch.Sink) { release = s }
		undoCallInfo, err := f.undo(id)
		if err != nil {
			t.Fatal(err)
		}
		f.wantError(id, undoCallInfo.CallID+" is already undoing the call")
		f.checkUndoState(id, wire.UndoStarted, undoCallInfo.CallID)
		release.Finish(nil, &wire.CallError{Code: wire.ErrLinkLost, Message: "lost"})
		synctest.Wait()
		f.wantError(id, undoCallInfo.CallID+" may have undone the call")
		f.checkUndoState(id, wire.UndoUnknown, undoCallInfo.CallID)
		f.stop()
		f.start()
		f.wantError(id, undoCallInfo.CallID+" may have undone the call")
	})
}

func TestUndoWithoutRecordedResults(t *testing.T) {
	o := recordAllOptions
	o.Results = false
	run(t, o, func(f *fixture) {
		recentCall, expiredCall := f.callDeleteItem(`{}`), f.callDeleteItem(`{}`)
		if _, err := f.undo(recentCall); err != nil {
			t.Error(err)
		}
		time.Sleep(storedCallLifetime)
		f.wantError(expiredCall, "opentabs config set recordResults on")
	})
	run(t, recordAllOptions, func(f *fixture) {
		id := f.callDeleteItem(`{"name":"Chair"}`)
		time.Sleep(storedCallLifetime)
		if _, err := f.undo(id); err != nil || len(f.restoreCalls) != 1 || f.restoreCalls[0] != `{"id":"i-1","name":"Chair"}` {
			t.Errorf("Undo of an old call restored %q, error %v; want the item i-1", f.restoreCalls, err)
		}
	})
	run(t, recorder.Options{}, func(f *fixture) {
		id := f.callDeleteItem(`{}`)
		time.Sleep(storedCallLifetime)
		f.wantError(id, "not all arguments")
	})
}

func TestImpossibleUndoIsRejected(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		f.wantError("call_none", "not recorded any more")
		secret := f.callDeleteItem(`{"api_key":"k"}`)
		time.Sleep(storedCallLifetime)
		f.wantError(secret, "not all arguments")
		finishedUndo, err := f.undo(f.callDeleteItem(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		f.wantError(finishedUndo.CallID, "does not declare how to undo shop__restore_item")
		entries := map[string]recorder.Record{
			"failed": {View: dispatch.View{Snapshot: dispatch.Snapshot{Progression: dispatch.Progression{Status: wire.StatusFailed}}}},
			"prompt": {View: dispatch.View{Prompt: true}},
			"gone":   {View: dispatch.View{Snapshot: dispatch.Snapshot{ToolName: "gone__post", Progression: dispatch.Progression{Status: wire.StatusDone}}}},
			"queued": {View: dispatch.View{Snapshot: dispatch.Snapshot{Progression: dispatch.Progression{Status: wire.StatusPending}}}},
			"empty": {
				View:   dispatch.View{Snapshot: dispatch.Snapshot{ToolName: "shop__delete_item", Progression: dispatch.Progression{Status: wire.StatusDone}}},
				Output: json.RawMessage(`{}`), OutputBytes: 2,
			},
			"cut": {
				View:   dispatch.View{Snapshot: dispatch.Snapshot{ToolName: "shop__delete_item", Progression: dispatch.Progression{Status: wire.StatusDone}}},
				Output: json.RawMessage(`{"id":"[redacted]"}`), OutputBytes: 12, IsOutputIncomplete: true,
			},
		}
		f.undoer.opts.Records = stubRecords{f.records, entries}
		f.wantError("failed", "the call is failed; only a call that is done")
		f.wantError("prompt", "a prompt changes nothing")
		f.wantError("gone", "there is no tool gone__post any more")
		f.wantError("queued", "has not ended")
		f.wantError("empty", "the call has no value at /result/id, /input/name, which shop__restore_item needs")
		f.wantError("cut", "lacks secrets or long values")
	})
}

type stubRecords struct {
	*recorder.Recorder
	records map[string]recorder.Record
}

func (f stubRecords) Find(callID string) (recorder.Entry, bool, error) {
	callRecord, ok := f.records[callID]
	return recorder.Entry{Record: callRecord}, ok, nil
}

func TestUndoMemoryIsBounded(t *testing.T) {
	m := NewMemory(newShopPlugins)
	now := time.Now()
	for i := range maxStoredCalls + 10 {
		m.AfterCall(dispatch.CallInfo{}, dispatch.EndedCall{Output: make(json.RawMessage, i%2*maxKeptBytes/100), View: dispatch.View{
			Ended: &now, Snapshot: dispatch.Snapshot{ToolName: "shop__delete_item", Progression: dispatch.Progression{Status: wire.StatusDone}},
		}})
	}
	if len(m.calls) > maxStoredCalls || m.bytes > maxKeptBytes || m.bytes == 0 {
		t.Errorf("the Memory keeps %d calls with %d bytes, want at most maxStoredCalls and maxKeptBytes", len(m.calls), m.bytes)
	}
}

func TestUndoIsRecordedBeforeItRuns(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		id := f.callDeleteItem(`{}`)
		f.finishCall = func(dispatch.Sink) {}
		undoCallInfo, err := f.undo(id)
		if err != nil || len(f.restoreCalls) != 1 {
			t.Fatalf("Undo started %d calls, error %v; want 1 call", len(f.restoreCalls), err)
		}
		f.simulateCrash()
		f.wantError(id, undoCallInfo.CallID+" may have undone the call")
	})
}

// An undo that waits for approval has not run, so after a crash the user must be able to start another undo of the
// call.
func TestUnapprovedUndoCanRestartAfterCrash(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		id := f.callDeleteItem(`{}`)
		f.gate = dispatch.Verdict{Suspend: &dispatch.Ticket{Reason: "may it run?"}}
		undoCallInfo, err := f.undo(id)
		if err != nil {
			t.Fatal(err)
		}
		f.wantError(id, undoCallInfo.CallID+" is already undoing the call")
		time.Sleep(time.Second)
		f.simulateCrash()
		f.gate = dispatch.Verdict{}
		if _, err := f.undo(id); err != nil || len(f.restoreCalls) != 1 {
			t.Errorf("the second Undo started %d calls, error %v; want 1 call", len(f.restoreCalls), err)
		}
	})
}

func TestUndoFailsWithoutRecord(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		id := f.callDeleteItem(`{}`)
		workingRecorder := f.undoer.opts.Records
		f.undoer.opts.Records = fullDiskRecorder{f.records}
		undoCallInfo, err := f.undo(id)
		if err != nil {
			t.Fatal(err)
		}
		if callView, _ := f.calls.Find(undoCallInfo.CallID); callView.ErrorCode != wire.ErrInternal || len(f.restoreCalls) != 0 {
			t.Errorf("the undo ended with the error code %s after %d runs, want an internal error and no run", callView.ErrorCode, len(f.restoreCalls))
		}
		f.undoer.opts.Records = workingRecorder
		if _, err := f.undo(id); err != nil || len(f.restoreCalls) != 1 {
			t.Errorf("the second Undo started %d calls, error %v; want 1 call", len(f.restoreCalls), err)
		}
	})
}

type fullDiskRecorder struct{ *recorder.Recorder }

func (fullDiskRecorder) WriteNote(recorder.Note) error { return errors.New("no space left on device") }

// A page can send the result of an undo just before it receives the stop of the undo.
func TestUndoAnswerThatCrossesTheStop(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		var undoSink dispatch.Sink
		f.finishCall = func(s dispatch.Sink) { undoSink = s }
		id := f.callDeleteItem(`{}`)
		undoCallInfo, err := f.undoer.Undo(id, dispatch.Client{Name: "the side panel"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		f.undoer.ReceiveLateAnswer(undoCallInfo.CallID, dispatch.LateAnswer{Output: json.RawMessage(`{}`)})
		undoSink.Finish(nil, &wire.CallError{Code: wire.ErrLinkLost, Message: "lost"})
		synctest.Wait()
		f.wantError(id, "already undone, by "+undoCallInfo.CallID)
	})
}

func TestUndoAnswerAfterLostConnection(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		f.finishCall = func(s dispatch.Sink) {
			go s.Finish(nil, &wire.CallError{Code: wire.ErrLinkLost, Message: "lost"})
		}
		var ids, undoCallIDs []string
		for range 4 {
			ids = append(ids, f.callDeleteItem(`{}`))
			undoCallInfo, err := f.undo(ids[len(ids)-1])
			if err != nil {
				t.Fatal(err)
			}
			undoCallIDs = append(undoCallIDs, undoCallInfo.CallID)
		}
		f.undoer.ReceiveLateAnswer("call_other", dispatch.LateAnswer{})
		f.undoer.ReceiveLateAnswer(undoCallIDs[0], dispatch.LateAnswer{Err: &wire.CallError{Code: wire.ErrInternal}})
		f.wantError(ids[0], undoCallIDs[0]+" may have undone the call")
		f.undoer.ReceiveLateAnswer(undoCallIDs[1], dispatch.LateAnswer{Output: json.RawMessage(`{}`)})
		f.wantError(ids[1], "already undone, by "+undoCallIDs[1])
		f.stop()
		f.start()
		f.wantError(ids[1], "already undone, by "+undoCallIDs[1])
		f.undoer.ReceiveLateAnswer(undoCallIDs[2], dispatch.LateAnswer{IsOutputLost: true})
		f.wantError(ids[2], "already undone, by "+undoCallIDs[2])
		f.undoer.ReceiveLateAnswer(undoCallIDs[3], dispatch.LateAnswer{Err: &wire.CallError{Code: wire.ErrToolError, Message: "it is locked"}})
		f.finishCall = nil
		if _, err := f.undo(ids[3]); err != nil {
			t.Errorf("the second Undo returned %v, want no error", err)
		}
	})
}
