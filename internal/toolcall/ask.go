package toolcall

import (
	"context"
	"encoding/json"
	"sync"

	"opentabs/internal/callprompt"
	"opentabs/internal/terminal"
)

// askUser asks the user in the terminal to approve the call whose ticket is in a form from
// the server. A form without a ticket is ignored, because it does not come from opentabs.
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

// pausableView shows the progress of a call, except while the terminal shows a question,
// because a progress bar would overwrite the question. A pausableView is safe for
// concurrent use.
type pausableView struct {
	mu         sync.Mutex                   // guards all fields below
	open       func() terminal.ProgressView // nil if progress is not shown
	view       terminal.ProgressView        // terminal.NoProgress while the view is paused
	pauseCount int                          // the number of open questions
}

// start shows the progress view that open returns. After each pause, start's argument open
// is called again.
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

// pause hides the progress view until resume is called. Several pauses need the same
// number of resumes.
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

// close hides the progress view until start is called again.
func (v *pausableView) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open = nil
	v.view.Close()
	v.view = terminal.NoProgress
}
