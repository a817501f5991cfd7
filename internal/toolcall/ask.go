package toolcall

import (
	"context"
	"encoding/json"
	"sync"

	"opentabs/internal/callprompt"
	"opentabs/internal/terminal"
)

// askUser asks the user about the ticket in a form of the server. askUser ignores a form
// without a ticket, because only opentabs sends tickets.
func askUser(ctx context.Context, prompter *callprompt.Prompter, form json.RawMessage) {
	var f struct {
		Meta struct {
			CallID   string `json:"opentabs/call"`
			TicketID string `json:"opentabs/ticket"`
		} `json:"_meta"`
	}
	if json.Unmarshal(form, &f) != nil || f.Meta.CallID == "" || f.Meta.TicketID == "" {
		return
	}
	prompter.Ask(ctx, f.Meta.CallID, f.Meta.TicketID)
}

// pausableView is a progress view that is hidden while the terminal shows a question, so
// that the progress bar does not overwrite the question. pausableView is safe for
// concurrent use.
type pausableView struct {
	mu         sync.Mutex                   // guards all fields below
	open       func() terminal.ProgressView // nil if no progress is shown
	view       terminal.ProgressView        // NoProgress while the view is paused
	pauseCount int                          // the number of open questions
}

// start opens the progress view with the function open. After each pause, open opens the
// view again.
func (v *pausableView) start(open func() terminal.ProgressView) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open = open
	if v.pauseCount == 0 {
		v.view = open()
	}
}

func (v *pausableView) update(p terminal.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view.Update(p)
}

// pause hides the progress view until resume has been called as often as pause.
func (v *pausableView) pause() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.pauseCount++; v.pauseCount == 1 {
		v.view.Close()
		v.view = terminal.NoProgress
	}
}

func (v *pausableView) resume() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.pauseCount--; v.pauseCount == 0 && v.open != nil {
		v.view = v.open()
	}
}

// close removes the progress view permanently.
func (v *pausableView) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open = nil
	v.view.Close()
	v.view = terminal.NoProgress
}
