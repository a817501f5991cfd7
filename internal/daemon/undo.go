package daemon

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/joblist"
	"opentabs/internal/httpapi"
	"opentabs/internal/idempotency"
	"opentabs/internal/recorder"
	"opentabs/internal/undo"
	"opentabs/plugin"
	"opentabs/wire"
)

// undoCommandClient is the client of the calls that `opentabs calls undo` makes. All these
// calls share one session, so no permission is limited to it.
var undoCommandClient = dispatch.Client{
	Name: dispatch.CommandNamePrefix + "calls undo", Credential: dispatch.CredentialCommandLine, Session: "calls-undo", IsSessionShared: true,
}

// pastCalls undoes calls, and repeats the endings of calls with idempotency keys.
type pastCalls struct {
	keys    *idempotency.Keys
	memory  *undo.Memory
	records *recorder.Recorder
	plugins func() *plugin.Set
	// undoer and calls are set by connect, before the first browser connects.
	undoer *undo.Undoer
	calls  *dispatch.Dispatcher
}

func newPastCalls(plugins func() *plugin.Set, records *recorder.Recorder, recordDays int) *pastCalls {
	return &pastCalls{keys: idempotency.New(records, recordDays), memory: undo.NewMemory(plugins), records: records, plugins: plugins}
}

// addHooks adds the hooks of pastCalls to the options of a dispatcher.
func (p *pastCalls) addHooks(o *dispatch.Options) {
	o.BeforeHooks = append(o.BeforeHooks, p)
	o.AfterHooks = append(o.AfterHooks, p.memory)
}

// Before implements dispatch.BeforeHook: it writes the notes of a call that will run.
func (p *pastCalls) Before(info dispatch.CallInfo) *wire.CallError {
	if err := p.keys.Before(info); err != nil {
		return err
	}
	return p.undoer.Before(info)
}

// connect sets the dispatcher, and returns the jobs of all calls that outlive a request.
func (p *pastCalls) connect(calls *dispatch.Dispatcher, choosePlace func(*dispatch.Call, recorder.Entry)) *joblist.List {
	jobs := joblist.New(calls, joblist.Options{})
	p.keys.SetJobs(jobs)
	p.undoer = undo.New(undo.Options{Plugins: p.plugins, Memory: p.memory, Records: p.records, Calls: calls, Jobs: jobs, ChoosePlace: choosePlace})
	p.calls = calls
	return jobs
}

// undoOf returns the call that undoes a call; nil if there is none.
func (p *pastCalls) undoOf(callID string, created time.Time) (*wire.CallUndo, error) {
	return p.undoer.State(callID, created)
}

// undoForPanel answers a call.undo of a side panel.
func (p *pastCalls) undoForPanel(params wire.CallUndoParams) (wire.CallUndoResult, error) {
	started, err := p.undoer.Undo(params.CallID, sidePanelClient)
	return wire.CallUndoResult{CallID: started.CallID}, err
}

// undoForCommand undoes a call for `opentabs calls undo`.
func (p *pastCalls) undoForCommand(callID string) (httpapi.StartedUndo, error) {
	started, err := p.undoer.Undo(callID, undoCommandClient)
	if errors.Is(err, undo.ErrNotRecorded) {
		err = fmt.Errorf("no call has the ID %.100s: list calls with `opentabs calls --since 24h`", callID)
	}
	return httpapi.StartedUndo{CallID: started.CallID, ToolName: started.ToolName}, err
}

// receiveLate passes the answer of a page to an ended run on to the idempotency keys and to
// the undoer. Only the browser in which a call ran may answer. A call from before a restart
// is not known, and its ID cannot be guessed.
func (p *pastCalls) receiveLate(browserID, runID string, answer dispatch.LateAnswer) {
	callID, _, _ := strings.Cut(runID, ".")
	if view, ok := p.calls.Find(callID); ok && view.Browser != browserID {
		return
	}
	p.keys.ReceiveLate(callID, answer)
	p.undoer.ReceiveLate(callID, answer)
}
