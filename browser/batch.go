package browser

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
	"opentabs/wire"
)

// The type batches contains the running calls of browser_batch. Each step of a batch is a
// nested call that passes the gates, has its own limits and is recorded.
type batches struct {
	// onEnd runs before the client receives the results of the batch.
	onEnd func(callID string)

	mu   sync.Mutex // the mutex guards the field runs
	runs map[string]*batch
}

// The type batch is one running call of browser_batch.
type batch struct {
	id      string
	steps   []batchStep
	sink    dispatch.Sink
	answers chan stepResult
	stopped chan struct{}
}

// batchStep is one step of a batch: the name of a browser tool and the tool's arguments.
type batchStep struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

type stepResult struct {
	output json.RawMessage
	err    *wire.CallError
}

func newBatches(onEnd func(callID string)) *batches {
	return &batches{onEnd: onEnd, runs: map[string]*batch{}}
}

func (b *batches) start(run dispatch.Run, sink dispatch.Sink) *wire.CallError {
	var args struct {
		Steps []batchStep `json:"steps"`
	}
	if err := json.Unmarshal(run.Args, &args); err != nil {
		return &wire.CallError{Code: wire.ErrInvalidArguments, Message: "the steps can't be read: " + err.Error()}
	}
	// The batch runs one step at a time, so a channel with room for one result never
	// blocks the sender.
	started := &batch{id: run.ID, steps: args.Steps, sink: sink, answers: make(chan stepResult, 1), stopped: make(chan struct{})}
	b.mu.Lock()
	b.runs[run.ID] = started
	b.mu.Unlock()
	go func() {
		output, err := started.run()
		if b.remove(run.ID) != nil {
			callID, _, _ := strings.Cut(run.ID, ".")
			b.onEnd(callID)
			sink.Finish(output, err)
		}
	}()
	return nil
}

func (b *batches) remove(id string) *batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	ended := b.runs[id]
	delete(b.runs, id)
	return ended
}

func (b *batches) cancel(id string) bool {
	cancelled := b.remove(id)
	if cancelled != nil {
		close(cancelled.stopped)
	}
	return cancelled != nil
}

func (b *batches) answer(id string, output json.RawMessage, err *wire.CallError) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	running := b.runs[id]
	if running == nil {
		return false
	}
	select {
	case running.answers <- stepResult{output, err}:
	default: // each step has only one answer, so the channel is never full
	}
	return true
}

func (b *batch) run() (json.RawMessage, *wire.CallError) {
	var texts []string
	var output agentResult
	var pages []wire.UntrustedPage
	for i, s := range b.steps {
		total, progress := float64(len(b.steps)), float64(i)
		b.sink.Reports([]wire.Report{{Progress: &progress, Total: &total, Message: s.Tool}}, 0)
		result, ok := b.runStep(i+1, s)
		if !ok {
			return nil, &wire.CallError{Code: wire.ErrCancelled, Message: "the batch was stopped"}
		}
		title := fmt.Sprintf("step %d of %d, %s", i+1, len(b.steps), s.Tool)
		if result.err != nil {
			return nil, b.newStepError(i+1, title, result.err, texts, pages)
		}
		var text string
		_ = json.Unmarshal(rawjson.Get(result.output, "text"), &text)
		texts = append(texts, title+": "+text)
		if blocks := (stepBlocks{rawjson.Get(result.output, "image"), rawjson.Get(result.output, "file")}); blocks.Image != nil || blocks.File != nil {
			output.Steps = append(output.Steps, blocks)
		}
		var page wire.UntrustedPage
		if raw := rawjson.Get(result.output, "untrusted"); raw != nil && json.Unmarshal(raw, &page) == nil {
			pages = addPages(pages, page)
		}
	}
	output.Text, output.Untrusted = strings.Join(texts, "\n"), wire.EncodeUntrustedPages(pages)
	return rawjson.Encode(output), nil
}

// newStepError stores the results of earlier steps in PageText, because results quote pages.
func (b *batch) newStepError(step int, title string, err *wire.CallError, texts []string, pages []wire.UntrustedPage) *wire.CallError {
	failed := *err
	failed.Message = title + ": " + err.Message
	if step < len(b.steps) {
		failed.Message += fmt.Sprintf("; no step after step %d was run", step)
	}
	if err.UserText != "" {
		failed.UserText = fmt.Sprintf("The batch ended at %s: %s", title, err.UserText)
	}
	if err.PageText != "" {
		texts = append(texts, err.PageText)
	}
	failed.PageText, failed.Untrusted = strings.Join(texts, "\n"), addPages(pages, err.Untrusted...)
	if t := err.Tool; t != nil && t.Code == string(err.Code) { // opentabs has its own advice for its own error codes
		failed.Tool = nil
	}
	return &failed
}

func addPages(pages []wire.UntrustedPage, added ...wire.UntrustedPage) []wire.UntrustedPage {
	for _, page := range added {
		if !slices.Contains(pages, page) {
			pages = append(pages, page)
		}
	}
	return pages
}

func (b *batch) runStep(number int, s batchStep) (stepResult, bool) {
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
	_ = json.Unmarshal(args, &target)
	b.sink.Ask(wire.ToolAskParams{DispatchID: b.id, Ask: number, Call: &wire.AskCall{Tool: s.Tool, TabID: target.TabID, Args: removeMembers(args, "tabId")}})
	select {
	case result := <-b.answers:
		return result, true
	case <-b.stopped:
		return stepResult{}, false
	}
}
