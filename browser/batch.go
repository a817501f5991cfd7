package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
	"opentabs/wire"
)

// batches are the running calls of browser_batch. Each step of a batch is a nested call,
// with its own gates, limits and record.
type batches struct {
	mu   sync.Mutex // guards runs
	runs map[string]*batch
}

// batch is one running call of browser_batch.
type batch struct {
	id    string
	steps []step
	sink  dispatch.Sink
	// answers receives the result of each step.
	answers chan stepResult
	stopped chan struct{} // closed when the call is cancelled
}

// step is one step of a batch.
type step struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

type stepResult struct {
	output json.RawMessage
	err    *wire.CallError
}

func newBatches() *batches { return &batches{runs: map[string]*batch{}} }

// start starts a batch.
func (b *batches) start(run dispatch.Run, sink dispatch.Sink) *wire.CallError {
	var args struct {
		Steps []step `json:"steps"`
	}
	if err := json.Unmarshal(run.Args, &args); err != nil {
		return &wire.CallError{Code: wire.ErrInvalidArguments, Message: "the steps can't be read: " + err.Error()}
	}
	// One result is always waited for, so the channel never blocks a sender.
	started := &batch{id: run.ID, steps: args.Steps, sink: sink, answers: make(chan stepResult, 1), stopped: make(chan struct{})}
	b.mu.Lock()
	b.runs[run.ID] = started
	b.mu.Unlock()
	go func() {
		output, err := started.run()
		if b.remove(run.ID) != nil {
			sink.Finish(output, err)
		}
	}()
	return nil
}

// remove removes a batch and returns it; nil if it has ended.
func (b *batches) remove(id string) *batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	ended := b.runs[id]
	delete(b.runs, id)
	return ended
}

// cancel stops a batch after its running step, and returns false if there is no such
// batch.
func (b *batches) cancel(id string) bool {
	cancelled := b.remove(id)
	if cancelled != nil {
		close(cancelled.stopped)
	}
	return cancelled != nil
}

// answer delivers the result of a step, and returns false if there is no such batch.
func (b *batches) answer(id string, output json.RawMessage, err *wire.CallError) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	running := b.runs[id]
	if running == nil {
		return false
	}
	select {
	case running.answers <- stepResult{output, err}:
	default: // a second answer to one step is impossible
	}
	return true
}

// run runs the steps one after the other, and stops at the first that fails.
func (b *batch) run() (json.RawMessage, *wire.CallError) {
	var texts []string
	for i, s := range b.steps {
		total, progress := float64(len(b.steps)), float64(i)
		b.sink.Reports([]wire.Report{{Progress: &progress, Total: &total, Message: s.Tool}}, 0)
		result, ok := b.runStep(i+1, s)
		if !ok {
			return nil, &wire.CallError{Code: wire.ErrCancelled, Message: "the batch was stopped"}
		}
		title := fmt.Sprintf("step %d of %d, %s", i+1, len(b.steps), s.Tool)
		if result.err != nil {
			texts = append(texts, title+": "+result.err.Message)
			if i+1 < len(b.steps) {
				texts = append(texts, fmt.Sprintf("no step after step %d was run", i+1))
			}
			return nil, &wire.CallError{Code: result.err.Code, Message: strings.Join(texts, "\n"), Tool: result.err.Tool}
		}
		var text string
		_ = json.Unmarshal(rawjson.Get(result.output, "text"), &text) // every browser tool returns a text
		texts = append(texts, title+": "+text)
	}
	return rawjson.Encode(map[string]string{"text": strings.Join(texts, "\n")}), nil
}

// runStep runs one step as a nested call. runStep returns false if the batch was stopped.
func (b *batch) runStep(number int, s step) (stepResult, bool) {
	if !strings.HasPrefix(s.Tool, Name+"_") || s.Tool == toolBatch {
		return stepResult{err: &wire.CallError{Code: wire.ErrInvalidArguments, Message: fmt.Sprintf("%q can't be a step: name another browser tool", s.Tool)}}, true
	}
	args := s.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	var target struct {
		TabID int `json:"tabId"`
	}
	_ = json.Unmarshal(args, &target) // the nested call checks the arguments
	b.sink.Ask(wire.ToolAskParams{DispatchID: b.id, Ask: number, Call: &wire.AskCall{Tool: s.Tool, TabID: target.TabID, Args: withoutMembers(args, "tabId")}})
	select {
	case result := <-b.answers:
		return result, true
	case <-b.stopped:
		return stepResult{}, false
	}
}
