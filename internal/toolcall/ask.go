package toolcall

import (
	"context"
	"encoding/json"
	"sync"

	"opentabs/internal/callprompt"
	"opentabs/internal/terminal"
)

// askUser ignores a form without a ticket, because only opentabs sends tickets. If the terminal's input has ended,
// askUser shows that the call waits until the user decides elsewhere, which ends ctx.
func askUser(ctx context.Context, prompter *callprompt.Prompter, view *pausableView, form json.RawMessage) {
	var f struct {
		Meta struct {
			CallID   string `json:"opentabs/call"`
			TicketID string `json:"opentabs/ticket"`
		} `json:"_meta"`
	}
	if json.Unmarshal(form, &f) != nil || f.Meta.CallID == "" || f.Meta.TicketID == "" {
		return
	}
	if waitingText := prompter.Ask(ctx, f.Meta.CallID, f.Meta.TicketID); waitingText != "" {
		view.showWaiting(waitingText)
		<-ctx.Done()
	}
}

// pausableView shows the progress of a call, except while the terminal shows a question,
// because a progress bar would overwrite the question. A pausableView is safe for
// concurrent use.
type pausableView struct {
	mu           sync.Mutex // the mutex guards all fields below
	open         func() terminal.ProgressView
	openWaitView func(waitingText string) terminal.ProgressView
	view         terminal.ProgressView
	pauseCount   int
}

func (v *pausableView) start(terminalOut *terminal.Output, label string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	open := func() terminal.ProgressView { return terminalOut.ShowProgress(label) }
	v.open, v.openWaitView = open, func(waitingText string) terminal.ProgressView {
		return terminal.ShowWaiting(terminalOut, label, waitingText)
	}
	if v.pauseCount == 0 {
		v.view = open()
	}
}

func (v *pausableView) update(p terminal.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view.Update(p)
}

// After several calls of pause, the progress view appears again after as many calls of resume.
func (v *pausableView) pause() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pauseCount++
	v.view.Close()
	v.view = terminal.NoProgress
}

func (v *pausableView) showWaiting(waitingText string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.open != nil {
		v.view.Close()
		v.view = v.openWaitView(waitingText)
	}
}

func (v *pausableView) resume() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.pauseCount--; v.pauseCount == 0 && v.open != nil {
		v.view.Close()
		v.view = v.open()
	}
}

func (v *pausableView) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open = nil
	v.view.Close()
	v.view = terminal.NoProgress
}
