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

// All undo calls of commands share one session, so no approval with ScopeSession is possible for them.
var undoCommandClient = dispatch.Client{
	Name: dispatch.CommandNamePrefix + "calls undo", Credential: dispatch.CredentialCommandLine, Session: "calls-undo", IsSessionShared: true,
}

// callUndoer undoes calls. For calls with an idempotency key, callUndoer also returns the
// stored result of an earlier call with the same key.
type callUndoer struct {
	keys    *idempotency.Keys
	memory  *undo.Memory
	records *recorder.Recorder
	plugins func() *plugin.Set
	// The fields undoer and calls are set by connect, before the first browser connects.
	undoer *undo.Undoer
	calls  *dispatch.Dispatcher
}

func newCallUndoer(plugins func() *plugin.Set, records *recorder.Recorder, recordDays int) *callUndoer {
	return &callUndoer{keys: idempotency.New(records, recordDays), memory: undo.NewMemory(plugins), records: records, plugins: plugins}
}

func (p *callUndoer) addHooks(o *dispatch.Options) {
	o.BeforeHooks = append(o.BeforeHooks, p)
	o.AfterHooks = append(o.AfterHooks, p.memory)
	o.ReceiveLateAnswer = p.storeLateAnswer
}

// BeforeCall is a hook that stores the idempotency key of a call and the data for an undo before the call runs.
func (p *callUndoer) BeforeCall(callInfo dispatch.CallInfo) *wire.CallError {
	if err := p.keys.BeforeCall(callInfo); err != nil {
		return err
	}
	return p.undoer.BeforeCall(callInfo)
}

func (p *callUndoer) connect(calls *dispatch.Dispatcher, chooseTab func(*dispatch.Call, recorder.Entry)) *joblist.List {
	jobs := joblist.New(calls, joblist.Options{})
	p.keys.SetJobs(jobs)
	p.undoer = undo.New(undo.Options{Plugins: p.plugins, Memory: p.memory, Records: p.records, Calls: calls, Jobs: jobs, ChooseTab: chooseTab})
	p.calls = calls
	return jobs
}

func (p *callUndoer) undoStateOf(callID string, createdTime time.Time) (*wire.CallUndo, error) {
	return p.undoer.State(callID, createdTime)
}

func (p *callUndoer) undoForPanel(params wire.CallUndoParams) (wire.CallUndoResult, error) {
	undoCallInfo, err := p.undoer.Undo(params.CallID, sidePanelClient)
	return wire.CallUndoResult{CallID: undoCallInfo.CallID}, err
}

func (p *callUndoer) undoForCommand(callID string) (httpapi.UndoResponse, error) {
	undoCallInfo, err := p.undoer.Undo(callID, undoCommandClient)
	if errors.Is(err, undo.ErrNotRecorded) {
		err = fmt.Errorf("no call has the ID %.100s: list calls with `opentabs calls --since 24h`", callID)
	}
	return httpapi.UndoResponse{CallID: undoCallInfo.CallID, ToolName: undoCallInfo.ToolName}, err
}

// After a restart, a call's browser is unknown, so receiveLateAnswer accepts the result from any browser. Accepting a result
// from any browser is safe, because a browser cannot guess another browser's call ID.
func (p *callUndoer) receiveLateAnswer(browserID, runID string, lateAnswer dispatch.LateAnswer) {
	callID, _, _ := strings.Cut(runID, ".")
	if callView, ok := p.calls.Find(callID); ok && callView.Browser != browserID {
		return
	}
	p.storeLateAnswer(callID, lateAnswer)
}

func (p *callUndoer) storeLateAnswer(callID string, lateAnswer dispatch.LateAnswer) {
	p.keys.ReceiveLateAnswer(callID, lateAnswer)
	p.undoer.ReceiveLateAnswer(callID, lateAnswer)
}
