package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/dispatch/joblist"
	"opentabs/internal/recorder"
	"opentabs/wire"
)

type fixture struct {
	t          *testing.T
	dir        string
	options    recorder.Options
	records    *recorder.Recorder
	keys       *Keys
	calls      *dispatch.Dispatcher
	runSinks   []dispatch.Sink
	finishCall func(dispatch.Sink)
	gate       dispatch.Verdict
}

func (f *fixture) Name() string                              { return "fixture" }
func (f *fixture) Decide(dispatch.CallInfo) dispatch.Verdict { return f.gate }
func (f *fixture) AfterCall(_ dispatch.CallInfo, e dispatch.EndedCall) {
	f.records.Add(e, recorder.CallFacts{})
}

func (f *fixture) start() {
	f.records = recorder.Open(f.dir, f.options)
	f.keys = New(f.records, f.options.Days)
	bridge := &dispatchtest.Bridge{StartFunc: func(_ context.Context, _ dispatch.Run, sink dispatch.Sink) *wire.CallError {
		f.runSinks = append(f.runSinks, sink)
		if f.finishCall != nil {
			f.finishCall(sink)
			return nil
		}
		output := fmt.Appendf(nil, `{"run":%d}`, len(f.runSinks))
		go sink.Finish(output, nil)
		return nil
	}}
	f.calls = dispatch.New(bridge, dispatch.Options{Gates: []dispatch.Gate{f}, BeforeHooks: []dispatch.BeforeHook{f.keys}, AfterHooks: []dispatch.AfterHook{f}})
	f.keys.SetJobs(joblist.New(f.calls, joblist.Options{}))
}

func (f *fixture) kill() {
	time.Sleep(time.Second)
	synctest.Wait() // after Wait, no hook of an ended call uses f.records
	records := f.records
	f.records = recorder.Open(f.t.TempDir(), recorder.Options{})
	f.keys.mu.Lock()
	f.keys.records = f.records
	f.keys.mu.Unlock()
	f.calls.Shutdown()
	_ = f.calls.WaitForHooks(context.Background())
	synctest.Wait()
	records.Close()
	f.records.Close()
}

func newCall(args string) dispatch.Call {
	return dispatch.Call{Tool: dispatch.Tool{Plugin: "shop", Name: "buy"}, Args: json.RawMessage(args), Client: dispatch.Client{Name: "Cursor"}}
}

func (f *fixture) call(key string, c dispatch.Call) string {
	use, err := f.keys.Start(context.Background(), key, c)
	if err != nil {
		return codeOf(err)
	}
	if use.Job != nil {
		_ = use.Job.Wait(context.Background(), nil)
	}
	prefix := ""
	if use.IsReplay {
		prefix = "replayed "
	}
	callResult := use.CallResult()
	switch {
	case callResult.Err != nil:
		return prefix + codeOf(callResult.Err)
	case callResult.IsResultLost:
		return prefix + "lost"
	}
	return prefix + string(callResult.Result.Output)
}

func codeOf(err error) string {
	var e *dispatch.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	return string(e.Code)
}

func (f *fixture) want(key string, c dispatch.Call, want string) {
	f.t.Helper()
	if got := f.call(key, c); got != want {
		f.t.Errorf("the call with the key %q returns %q, want %q", key, got, want)
	}
}

func run(t *testing.T, o recorder.Options, test func(*fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t, dir: t.TempDir(), options: o}
		f.start()
		test(f)
		f.kill()
	})
}

var recordAllOptions = recorder.Options{Days: 30, Bytes: 1 << 30, Arguments: true, Results: true}

func TestKeyIsUsedOnce(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		f.want("k", newCall(`{"n":1,"m":2}`), `{"run":1}`)
		f.want("k", newCall(`{"m":2, "n":1}`), `replayed {"run":1}`)
		f.want("k", newCall(`{"n":2}`), "invalid_arguments")
		f.want("other", newCall(`{"n":2}`), `{"run":2}`)
		otherClient := newCall(`{"n":1}`)
		otherClient.Client.Name = "Claude"
		f.want("k", otherClient, `{"run":3}`)
		otherTool := newCall(`{"n":1}`)
		otherTool.Tool.Name = "sell"
		f.want("k", otherTool, `{"run":4}`)
		otherTab := newCall(`{"n":1,"m":2}`)
		otherTab.TabID = 5
		f.want("k", otherTab, "invalid_arguments")
		f.kill()
		f.start()
		f.want("k", newCall(`{"n":1,"m":2}`), `replayed {"run":1}`)
		f.want("k", newCall(`{"n":2}`), "invalid_arguments")
		time.Sleep(maxRetention)
		f.want("k", newCall(`{"n":2}`), `{"run":5}`)
	})
}

// Requests with the same idempotency key share one call until no request waits for it.
func TestSameKeySharesCall(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		f.finishCall = func(dispatch.Sink) {}
		firstUse, err := f.keys.Start(context.Background(), "k", newCall(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		joinedResult := make(chan string)
		go func() { joinedResult <- f.call("k", newCall(`{}`)) }()
		synctest.Wait()
		if firstUse.Leave(dispatch.Cancellation{CancelledBy: "the client"}) {
			t.Error("Leave of one request cancelled the call although another request waits for it")
		}
		f.runSinks[0].Finish(json.RawMessage(`"x"`), nil)
		if got := <-joinedResult; got != `replayed "x"` || len(f.runSinks) != 1 {
			t.Errorf("second request: result %s after %d runs of the tool; want the replayed result after 1 run", got, len(f.runSinks))
		}
		onlyUse, err := f.keys.Start(context.Background(), "k2", newCall(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		isCancelled := onlyUse.Leave(dispatch.Cancellation{CancelledBy: "the client"})
		_ = onlyUse.Job.Wait(context.Background(), nil)
		if !isCancelled || codeOf(onlyUse.CallResult().Err) != "cancelled" {
			t.Errorf("call without a waiting request: cancelled = %t, error %v; want a cancelled call", isCancelled, onlyUse.CallResult().Err)
		}
		f.want("k2", newCall(`{}`), "cancelled")
	})
}

// If a call certainly did not run, a retry with the same idempotency key runs the tool.
func TestRetryRunsIfCallDidNotRun(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		f.gate = dispatch.NewBlockVerdict(wire.ErrDenied, "no", "")
		f.want("k", newCall(`{}`), "denied")
		f.gate = dispatch.Verdict{}
		f.finishCall = func(s dispatch.Sink) { go s.Finish(nil, &wire.CallError{Code: wire.ErrNotReady, Message: "log in"}) }
		f.want("k", newCall(`{}`), "not_ready")
		f.kill()
		f.start()
		f.finishCall = nil
		f.want("k", newCall(`{"n":1}`), `{"run":2}`)
	})
}

func TestToolErrorIsReplayed(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		f.finishCall = func(s dispatch.Sink) { go s.Finish(nil, &wire.CallError{Code: wire.ErrToolError, Message: "sold out"}) }
		f.want("k", newCall(`{}`), "tool_error")
		f.want("k", newCall(`{}`), "replayed tool_error")
		f.kill()
		f.start()
		use, err := f.keys.Start(context.Background(), "k", newCall(`{}`))
		if err != nil || !strings.Contains(use.CallResult().Err.Error(), "sold out") {
			t.Errorf("replay after a restart: call %v, error %v; want the tool's error \"sold out\"", use, err)
		}
	})
}

// If a call's result is unknown, retries fail without running the tool, even after a restart. After the page has
// delivered the late result of a call, a retry returns that result.
func TestUnknownResultBlocksRetryAfterRestart(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		f.finishCall = func(s dispatch.Sink) { go s.Finish(nil, &wire.CallError{Code: wire.ErrLinkLost, Message: "lost"}) }
		f.want("k", newCall(`{}`), "link_lost")
		_, err := f.keys.Start(context.Background(), "k", newCall(`{}`))
		var e *dispatch.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, "may have acted") || !strings.Contains(e.Message, "opentabs calls show "+e.CallID) || !strings.Contains(e.Message, "use a new key") {
			t.Fatalf("error of the retry = %v; want that the call may have acted, and advice to use a new key", err)
		}
		f.want("late", newCall(`{}`), "link_lost")
		f.kill()
		f.start()
		f.want("k", newCall(`{}`), "link_lost")
		f.keys.ReceiveLateAnswer("call_other", dispatch.LateAnswer{Output: []byte(`1`)})
		f.keys.ReceiveLateAnswer(e.CallID, dispatch.LateAnswer{Err: &wire.CallError{Code: wire.ErrInternal}})
		f.want("k", newCall(`{}`), "link_lost")
		f.keys.ReceiveLateAnswer(e.CallID, dispatch.LateAnswer{Output: []byte(`"it arrived"`)})
		f.keys.ReceiveLateAnswer(e.CallID, dispatch.LateAnswer{Output: []byte(`"forged"`)})
		f.want("k", newCall(`{}`), `replayed "it arrived"`)
		_, err = f.keys.Start(context.Background(), "late", newCall(`{}`))
		errors.As(err, &e)
		f.keys.ReceiveLateAnswer(e.CallID, dispatch.LateAnswer{Err: &wire.CallError{Code: wire.ErrToolError, Message: "sold out."}})
		f.want("late", newCall(`{}`), "replayed tool_error")
		if len(f.runSinks) != 2 {
			t.Errorf("the page received %d calls; want 2", len(f.runSinks))
		}
	})
}

// If the server was killed while the tool ran, a retry does not run the tool. If the server
// was killed while the call waited for approval, a retry runs the tool.
func TestServerKilledDuringCall(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		f.finishCall = func(dispatch.Sink) {}
		if _, err := f.keys.Start(context.Background(), "running", newCall(`{}`)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		f.gate = dispatch.Verdict{Suspend: &dispatch.Ticket{Reason: "may it run?"}}
		if _, err := f.keys.Start(context.Background(), "waiting", newCall(`{}`)); err != nil {
			t.Fatal(err)
		}
		f.kill()
		f.start()
		f.gate, f.finishCall = dispatch.Verdict{}, nil
		f.want("running", newCall(`{}`), "shutdown")
		f.want("waiting", newCall(`{}`), `{"run":2}`)
	})
}

func TestUnrecordedResultIsNotReplayed(t *testing.T) {
	o := recordAllOptions
	o.Arguments, o.Results = false, false
	run(t, o, func(f *fixture) {
		f.want("k", newCall(`{}`), `{"run":1}`)
		f.want("k", newCall(`{}`), `replayed {"run":1}`)
		f.kill()
		f.start()
		f.want("k", newCall(`{}`), "replayed lost")
		f.want("k", newCall(`{"n":1}`), "invalid_arguments")
	})
}

func TestOldResultsAndKeysAreDropped(t *testing.T) {
	run(t, recorder.Options{}, func(f *fixture) {
		f.finishCall = func(s dispatch.Sink) { go s.Finish(append(make([]byte, maxResultBytes/3), "1"...), nil) }
		for i := range 5 {
			f.call(fmt.Sprint(i), newCall(`{}`))
		}
		synctest.Wait()
		if f.keys.resultBytes > maxResultBytes || f.keys.resultBytes == 0 {
			t.Errorf("stored results have %d bytes; want 1 to %d bytes", f.keys.resultBytes, maxResultBytes)
		}
		f.want("0", newCall(`{}`), "replayed lost")
		f.finishCall = nil
		for i := range 20 {
			f.keys.entries[fmt.Sprint("old", i)] = &entry{keyHash: fmt.Sprint("old", i), startedAt: time.Now()}
			f.keys.oldestFirst = append(f.keys.oldestFirst, f.keys.entries[fmt.Sprint("old", i)])
		}
		for len(f.keys.oldestFirst) < maxKeys+10 {
			e := &entry{keyHash: fmt.Sprint("filler", len(f.keys.oldestFirst)), startedAt: time.Now()}
			f.keys.entries[e.keyHash], f.keys.oldestFirst = e, append(f.keys.oldestFirst, e)
		}
		f.call("last", newCall(`{}`))
		if len(f.keys.oldestFirst) > maxKeys+1 || len(f.keys.entries) != len(f.keys.oldestFirst) {
			t.Errorf("stored idempotency keys = %d, keys in the list by age = %d; want the same number, at most %d", len(f.keys.entries), len(f.keys.oldestFirst), maxKeys+1)
		}
	})
}

func TestParseKey(t *testing.T) {
	for keyJSON, want := range map[string]string{
		``: "", `null`: "", `"order 7"`: "order 7", `"schlüssel"`: "schlüssel", `"` + strings.Repeat("ü", 255) + `"`: strings.Repeat("ü", 255),
	} {
		if key, err := ParseKey(json.RawMessage(keyJSON)); err != nil || key != want {
			t.Errorf("ParseKey(%s) = %q, error %v; want %q", keyJSON, key, err, want)
		}
	}
	for _, keyJSON := range []string{`""`, `5`, `{}`, `"a\nb"`, `"a\u0000"`, `"` + strings.Repeat("x", 256) + `"`} {
		if key, err := ParseKey(json.RawMessage(keyJSON)); err == nil {
			t.Errorf("ParseKey(%s) = %q; want an error", keyJSON, key)
		}
	}
}

func recordedText(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "calls", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var recordedContent []byte
	for _, file := range files {
		fileContent, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		recordedContent = append(recordedContent, fileContent...)
	}
	return string(recordedContent)
}

func TestKeyIsWrittenBeforeTheCallRuns(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		recordedLines := ""
		f.finishCall = func(s dispatch.Sink) {
			recordedLines = recordedText(t, f.dir)
			go s.Finish(json.RawMessage(`1`), nil)
		}
		f.want("k", newCall(`{}`), "1")
		if !strings.Contains(recordedLines, `{"note":"key"`) || !strings.Contains(recordedLines, `"state":"started"`) {
			t.Errorf("records when the call reaches the page = %q; want the idempotency key with the state started", recordedLines)
		}
	})
}

// If the recorder cannot write a call's idempotency key, the call must not run.
func TestKeyCannotBeWritten(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		folder := filepath.Join(f.dir, "calls")
		if err := os.WriteFile(folder, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		f.keys.isLoaded = true // Start must not read the keys from the disk, because reading fails too
		use, err := f.keys.Start(context.Background(), "k", newCall(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = use.Job.Wait(context.Background(), nil)
		if err := use.CallResult().Err; codeOf(err) != "internal" || !strings.Contains(err.Error(), "idempotency key could not be stored") || len(f.runSinks) != 0 {
			t.Errorf("call whose key cannot be stored: error %v after %d runs of the tool; want an internal error and no run", err, len(f.runSinks))
		}
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
		f.want("k", newCall(`{}`), `{"run":1}`)
		f.kill()
		f.start()
		f.want("k", newCall(`{}`), `replayed {"run":1}`)
	})
}

// A page can send the result of a call just before it receives the stop of the call.
func TestResultThatCrossesTheStopIsReplayed(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		f.finishCall = func(dispatch.Sink) {}
		use, err := f.keys.Start(context.Background(), "k", newCall(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		f.keys.ReceiveLateAnswer(use.CallID, dispatch.LateAnswer{Output: []byte(`"it arrived"`)})
		f.runSinks[0].Finish(nil, &wire.CallError{Code: wire.ErrLinkLost, Message: "lost"})
		synctest.Wait()
		f.want("k", newCall(`{}`), `replayed "it arrived"`)
	})
}

// A retry that arrives while the abandoned call is being cancelled makes the call, because the tool has not run.
func TestRetryDuringCancellationRuns(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		f.gate = dispatch.Verdict{Suspend: &dispatch.Ticket{Reason: "may it run?"}}
		use, err := f.keys.Start(context.Background(), "k", newCall(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		f.gate = dispatch.Verdict{}
		if !use.Leave(dispatch.Cancellation{CancelledBy: "the client"}) {
			t.Error("Leave of the only request returned false, want true")
		}
		f.want("k", newCall(`{}`), `{"run":1}`)
	})
}

// If the late result of a call arrives incomplete, a retry succeeds but has no output, even
// after a restart.
func TestIncompleteLateResultIsReplayed(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		f.finishCall = func(s dispatch.Sink) { go s.Finish(nil, &wire.CallError{Code: wire.ErrLinkLost, Message: "lost"}) }
		for _, key := range []string{"parts", "whole"} {
			f.want(key, newCall(`{}`), "link_lost")
			_, err := f.keys.Start(context.Background(), key, newCall(`{}`))
			var e *dispatch.Error
			errors.As(err, &e)
			if key == "parts" {
				f.keys.ReceiveLateAnswer(e.CallID, dispatch.LateAnswer{IsOutputLost: true})
				f.want(key, newCall(`{}`), "replayed lost")
			} else {
				f.keys.ReceiveLateAnswer(e.CallID, dispatch.LateAnswer{Output: []byte(`1`)})
				f.want(key, newCall(`{}`), "replayed 1")
			}
		}
		f.kill()
		f.start()
		f.want("parts", newCall(`{}`), "replayed lost")
		f.want("whole", newCall(`{}`), "replayed lost")
	})
}

func TestStoredErrorIsReplayedAfterRestart(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		retryAfterMs := 1500.0
		f.finishCall = func(s dispatch.Sink) {
			tool := &wire.ToolErrorInfo{Code: "SOLD_OUT", Category: "stock", Retryable: true, RetryAfterMs: &retryAfterMs}
			go s.Finish(nil, &wire.CallError{Code: wire.ErrToolError, Message: "sold out", Tool: tool})
		}
		replayError := func() *dispatch.Error {
			t.Helper()
			use, err := f.keys.Start(context.Background(), "k", newCall(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			if use.Job != nil {
				_ = use.Job.Wait(context.Background(), nil)
			}
			var e *dispatch.Error
			errors.As(use.CallResult().Err, &e)
			return e
		}
		firstError := replayError()
		f.kill()
		f.start()
		secondError := replayError()
		if secondError == nil || !strings.HasSuffix(secondError.Message, "\n"+firstError.Message) || !strings.HasSuffix(secondError.UserText, "\n"+firstError.UserText) ||
			firstError.UserText == "" || strings.Count(secondError.Message, "not called again") != 1 || !secondError.Retryable ||
			secondError.ToolError == nil || secondError.ToolError.Code != "SOLD_OUT" || *secondError.ToolError.RetryAfterMs != retryAfterMs {
			t.Errorf("error of the replay after a restart = %+v, want a note and the first error %+v", secondError, firstError)
		}
	})
}

// If several requests share a suspended call, each of them shows the call's open ticket and
// all later tickets.
func TestAllJoinedRequestsReceiveTickets(t *testing.T) {
	run(t, recordAllOptions, func(f *fixture) {
		f.gate = dispatch.Verdict{Suspend: &dispatch.Ticket{Reason: "may it run?"}}
		var mu sync.Mutex
		var receivedTickets []string
		startCall := func(name string) *Use {
			t.Helper()
			c := newCall(`{}`)
			c.OnTicket = func(ctx context.Context, w dispatch.WaitingTicket) {
				mu.Lock()
				receivedTickets = append(receivedTickets, name+" "+w.Reason)
				mu.Unlock()
				<-ctx.Done()
				mu.Lock()
				receivedTickets = append(receivedTickets, name+" decided")
				mu.Unlock()
			}
			use, err := f.keys.Start(context.Background(), "k", c)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return use
		}
		want := func(wantedTexts ...string) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			slices.Sort(receivedTickets)
			if !slices.Equal(receivedTickets, wantedTexts) {
				t.Errorf("tickets that the requests showed = %q, want %q", receivedTickets, wantedTexts)
			}
			receivedTickets = nil
		}
		firstUse := startCall("first")
		want("first may it run?")
		startCall("second")
		want("second may it run?")
		if _, err := f.calls.Decide(firstUse.CallID, "", dispatch.Resolution{Allow: true, Surface: "the side panel"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		want("first decided", "first may it run?", "second decided", "second may it run?") // the gate suspends the call again
		f.gate = dispatch.Verdict{}
		if _, err := f.calls.Decide(firstUse.CallID, "", dispatch.Resolution{Allow: true, Surface: "the side panel"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		want("first decided", "second decided")
		startCall("late")
		want()
	})
}
