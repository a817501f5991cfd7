package browser

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"opentabs/dispatch"
	"opentabs/internal/nearest"
	"opentabs/internal/rawjson"
	"opentabs/plugin"
	"opentabs/wire"
)

// The type batches contains the running calls of browser_batch. Each step of a batch is a
// nested call that passes the gates, has its own limits and is recorded.
type batches struct {
	// onEnd runs before the client receives the results of the batch.
	onEnd func(callID string)

	mu             sync.Mutex // the mutex guards the field runningBatches
	runningBatches map[string]*batch
}

// The type batch is one running call of browser_batch.
type batch struct {
	id          string
	steps       []batchStep
	sink        dispatch.Sink
	stepResults chan stepResult
	stopped     chan struct{}
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
	return &batches{onEnd: onEnd, runningBatches: map[string]*batch{}}
}

func (b *batches) start(toolRun dispatch.Run, sink dispatch.Sink) *wire.CallError {
	var args struct {
		Steps []batchStep `json:"steps"`
	}
	if err := json.Unmarshal(toolRun.Args, &args); err != nil {
		return &wire.CallError{Code: wire.ErrInvalidArguments, Message: "the steps can't be read: " + err.Error()}
	}
	// The batch runs one step at a time, so a channel with room for one result never
	// blocks the sender.
	startedBatch := &batch{id: toolRun.ID, steps: args.Steps, sink: sink, stepResults: make(chan stepResult, 1), stopped: make(chan struct{})}
	b.mu.Lock()
	b.runningBatches[toolRun.ID] = startedBatch
	b.mu.Unlock()
	go func() {
		toolOutput, err := startedBatch.runSteps()
		if b.remove(toolRun.ID) != nil {
			callID, _, _ := strings.Cut(toolRun.ID, ".")
			b.onEnd(callID)
			sink.Finish(toolOutput, err)
		}
	}()
	return nil
}

func (b *batches) remove(id string) *batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	endedBatch := b.runningBatches[id]
	delete(b.runningBatches, id)
	return endedBatch
}

func (b *batches) cancel(id string) bool {
	cancelledBatch := b.remove(id)
	if cancelledBatch != nil {
		close(cancelledBatch.stopped)
	}
	return cancelledBatch != nil
}

func (b *batches) respond(id string, toolOutput json.RawMessage, err *wire.CallError) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	runningBatch := b.runningBatches[id]
	if runningBatch == nil {
		return false
	}
	select {
	case runningBatch.stepResults <- stepResult{toolOutput, err}:
	default: // a step returns only one result, so this case never happens
	}
	return true
}

func (b *batch) runSteps() (json.RawMessage, *wire.CallError) {
	if err := b.checkSteps(); err != nil {
		return nil, err
	}
	var stepTexts []string
	var output agentResult
	var pages []wire.UntrustedPage
	for i, s := range b.steps {
		totalProgress, progress := float64(len(b.steps)), float64(i)
		b.sink.Reports([]wire.Report{{Progress: &progress, Total: &totalProgress, Message: s.Tool}}, 0)
		result, ok := b.runStep(i+1, s)
		if !ok {
			return nil, &wire.CallError{Code: wire.ErrCancelled, Message: "the batch was stopped"}
		}
		title := b.stepTitle(i)
		if result.err != nil {
			return nil, b.newStepError(i+1, title, result.err, stepTexts, pages)
		}
		var stepOutput string
		_ = json.Unmarshal(rawjson.Get(result.output, "text"), &stepOutput)
		stepTexts = append(stepTexts, title+": "+stepOutput)
		if stepMedia := (batchStepMedia{rawjson.Get(result.output, "image"), rawjson.Get(result.output, "file")}); stepMedia.Image != nil || stepMedia.File != nil {
			output.Steps = append(output.Steps, stepMedia)
		}
		var page wire.UntrustedPage
		if rawJSON := rawjson.Get(result.output, "untrusted"); rawJSON != nil && json.Unmarshal(rawJSON, &page) == nil {
			pages = addPages(pages, page)
		}
	}
	total := float64(len(b.steps))
	b.sink.Reports([]wire.Report{{Progress: &total, Total: &total}}, 0)
	output.Text, output.UntrustedPages = strings.Join(stepTexts, "\n"), wire.EncodeUntrustedPages(pages)
	return rawjson.Encode(output), nil
}

// checkSteps checks the arguments of all steps before the first step runs, so that a wrong step does not leave a form
// half filled.
func (b *batch) checkSteps() *wire.CallError {
	for i, s := range b.steps {
		if problemText := s.findProblem(); problemText != "" {
			title := b.stepTitle(i)
			return &wire.CallError{
				Code: wire.ErrInvalidArguments, Message: title + ": " + problemText,
				UserText: fmt.Sprintf("The agent sent a wrong batch (%s), so no step was run. The agent can correct the batch.", title),
			}
		}
	}
	return nil
}

// findProblem returns why a step cannot run, or "" if the step can run.
func (s batchStep) findProblem() string {
	tool := stepTools()[s.Tool]
	if tool == nil {
		return fmt.Sprintf("%q can't be a step: name another browser tool%s; no step was run", s.Tool, nearest.Suggestion(s.Tool, stepToolNames()))
	}
	if _, problemText := stepTabID(s.arguments()); problemText != "" {
		return problemText + "; no step was run"
	}
	if err := tool.Validate(removeMembers(s.arguments(), "tabId")); err != nil {
		return err.Error()
	}
	return ""
}

func (b *batch) stepTitle(i int) string {
	return fmt.Sprintf("step %d of %d, %s", i+1, len(b.steps), b.steps[i].Tool)
}

func (s batchStep) arguments() json.RawMessage {
	if len(s.Args) == 0 {
		return json.RawMessage("{}")
	}
	return s.Args
}

// stepTools returns the tools that can be steps of a batch, by name.
var stepTools = sync.OnceValue(func() map[string]*plugin.Tool {
	tools := map[string]*plugin.Tool{}
	for _, tool := range Plugin().Tools {
		if tool.Name != toolBatch {
			tools[tool.Name] = tool
		}
	}
	return tools
})

// newStepError stores the results of earlier steps in the error's field PageText, because these
// results quote text of web pages.
func (b *batch) newStepError(stepIndex int, title string, err *wire.CallError, stepTexts []string, pages []wire.UntrustedPage) *wire.CallError {
	callError := *err
	callError.Message = title + ": " + err.Message
	switch {
	case stepIndex == 2:
		callError.Message += "; step 1 was run, so leave it out when you call again"
	case stepIndex > 2:
		callError.Message += fmt.Sprintf("; steps 1 to %d were run, so leave them out when you call again", stepIndex-1)
	}
	if stepIndex < len(b.steps) {
		callError.Message += fmt.Sprintf("; no step after step %d was run", stepIndex)
	}
	if err.UserText != "" {
		callError.UserText = fmt.Sprintf("The batch ended at %s: %s", title, err.UserText)
	}
	if err.PageText != "" {
		stepTexts = append(stepTexts, err.PageText)
	}
	callError.PageText, callError.UntrustedPages = strings.Join(stepTexts, "\n"), addPages(pages, err.UntrustedPages...)
	if t := err.Tool; t != nil && t.Code == string(err.Code) { // only opentabs's own error codes have advice for the agent
		callError.Tool = nil
	}
	return &callError
}

func addPages(pages []wire.UntrustedPage, addedPages ...wire.UntrustedPage) []wire.UntrustedPage {
	for _, page := range addedPages {
		if !slices.Contains(pages, page) {
			pages = append(pages, page)
		}
	}
	return pages
}

func (b *batch) runStep(number int, s batchStep) (stepResult, bool) {
	args := s.arguments()
	tabID, _ := stepTabID(args)
	b.sink.Ask(wire.ToolAskParams{DispatchID: b.id, Ask: number, Call: &wire.AskCall{Tool: s.Tool, TabID: tabID, Args: removeMembers(args, "tabId")}})
	select {
	case result := <-b.stepResults:
		return result, true
	case <-b.stopped:
		return stepResult{}, false
	}
}

// stepTabID rejects a tabId that is not the ID of a tab. Without the check, the step would run in the current tab.
func stepTabID(args json.RawMessage) (tabID int, problem string) {
	value := rawjson.Get(args, "tabId")
	if value == nil || string(value) == "null" {
		return 0, ""
	}
	if err := json.Unmarshal(value, &tabID); err != nil || tabID <= 0 {
		return 0, fmt.Sprintf("tabId is %.40s, but it must be the id of a tab, a positive integer; correct it or leave it out", value)
	}
	return tabID, ""
}

func stepToolNames() []string {
	var names []string
	for _, group := range Groups() {
		for _, tool := range group.Tools {
			if tool != toolBatch {
				names = append(names, tool)
			}
		}
	}
	return names
}
