package undo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/joblist"
	"opentabs/internal/recorder"
	"opentabs/plugin"
	"opentabs/wire"
)

const (
	stateStarted = string(wire.UndoStarted) // the undo has not ended, and after a crash it may have run
	stateUndone  = string(wire.UndoDone)
	stateFailed  = "failed" // a failed undo had no effect
	stateUnknown = string(wire.UndoUnknown)
)

// For undone calls that are no longer in memory, the Undoer reads the notes of the recorder.
const maxUndoStates = 10_000

// ErrNotRecorded is the error of [Undoer.Undo] for a call that never existed or whose
// record was deleted.
var ErrNotRecorded = errors.New("the call is not recorded any more")

var (
	errCallNotEnded      = errors.New("the call has not ended, so it cannot be undone; stop it instead")
	errPromptCannotUndo  = errors.New("a prompt changes nothing, so there is nothing to undo")
	errIncompleteArgs    = errors.New("not all arguments of the call are recorded, so it cannot be undone")
	errResultNotRecorded = errors.New("the result of the call is not recorded, so it cannot be undone: run `opentabs config set recordResults on` to undo later calls also after an hour or a restart")
	errTruncatedResult   = errors.New("the recorded result of the call lacks secrets or long values, so it cannot be undone")
)

// Options are the parts of the server that an [Undoer] uses. All fields are required.
type Options struct {
	Plugins func() *plugin.Set
	Memory  *Memory
	Records Records
	// Calls finds calls in memory. Its method RunAfterHooks adds calls that have just ended to
	// Memory.
	Calls interface {
		Find(callID string) (dispatch.View, bool)
		RunAfterHooks()
	}
	Jobs *joblist.List
	// ChooseTab sets the tab in which the undo runs, usually the tab of the call to
	// undo; required.
	ChooseTab func(call *dispatch.Call, undoneCallEntry recorder.Entry)
}

// Records has the methods of [recorder.Recorder] that an Undoer uses.
type Records interface {
	Find(callID string) (recorder.Entry, bool, error)
	AddNote(recorder.Note)
	WriteNote(recorder.Note) error
	ReadNotes(kind recorder.NoteKind, subject string, since time.Time) ([]recorder.Note, error)
}

var _ Records = (*recorder.Recorder)(nil)

// Undoer undoes calls, each at most once. Create an Undoer with [New].
type Undoer struct {
	opts         Options
	runningUndos joblist.Tracker[string]

	mu          sync.Mutex // the mutex guards all fields below; locked while the recorder writes a note
	isLoaded    bool       // isLoaded is true after the notes of earlier servers were added to undoStates
	undoStates  map[string]undoState
	oldestFirst []string // the field oldestFirst lists the keys of undoStates, oldest first
	// lateStates contains the states from late answers that arrived before the end of their undo, keyed by the ID
	// of the undo.
	lateStates map[string]string
}

// undoState describes whether a call was undone, and by which other call.
type undoState struct {
	state string
	by    string
}

// New returns an Undoer that has not undone any calls.
func New(o Options) *Undoer {
	return &Undoer{opts: o, undoStates: map[string]undoState{}, lateStates: map[string]string{}}
}

// UndoCall identifies the new call that undoes an earlier call.
type UndoCall struct {
	CallID   string
	ToolName string
}

// Undo starts a new call that undoes the call with the given ID. The new call is made for
// the given client, and needs the same permissions as any other call of the client. Undo
// does not wait for the end of the call that it starts. Errors that Undo returns are
// texts for the user.
func (u *Undoer) Undo(callID string, client dispatch.Client) (UndoCall, error) {
	undoneCall, err := u.find(callID)
	if err != nil {
		return UndoCall{}, err
	}
	call, err := u.newCall(undoneCall)
	if err != nil {
		return UndoCall{}, err
	}
	call.Client = client
	u.opts.ChooseTab(&call, undoneCall.recordedEntry)
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.checkNotUndone(undoneCall.recordedEntry); err != nil {
		return UndoCall{}, err
	}
	job := u.runningUndos.Start(u.opts.Jobs, call, callID)
	u.setUndoState(callID, undoState{stateStarted, job.ID()})
	go u.recordEndOfJob(callID, job)
	return UndoCall{CallID: job.ID(), ToolName: call.Tool.FullName()}, nil
}

var _ dispatch.BeforeHook = (*Undoer)(nil)

// BeforeCall implements [dispatch.BeforeHook]: it writes a note about an undo to the disk before the undo runs. If the note
// about an undo cannot be written, the undo does not run. An undo that waits for approval has no note yet, so after a
// crash, the user can start the undo again.
func (u *Undoer) BeforeCall(callInfo dispatch.CallInfo) *wire.CallError {
	undoneCallID, ok := u.runningUndos.Find(callInfo.CallID)
	if !ok {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.undoStates[undoneCallID]
	if s != (undoState{stateStarted, callInfo.CallID}) {
		return nil
	}
	if err := u.opts.Records.WriteNote(makeNote(undoneCallID, s)); err != nil {
		return &wire.CallError{Code: wire.ErrInternal, Message: "the undo could not be stored on the disk, so the tool did not run"}
	}
	return nil
}

func makeNote(callID string, s undoState) recorder.Note {
	return recorder.Note{Kind: recorder.NoteKindUndo, Subject: callID, State: s.state, By: s.by}
}

func (u *Undoer) find(callID string) (recordedCall, error) {
	u.opts.Calls.RunAfterHooks()
	c, ok := u.opts.Memory.find(callID)
	if !ok {
		recordedEntry, isRecorded, err := u.opts.Records.Find(callID)
		callView, isKnown := u.opts.Calls.Find(callID)
		switch {
		case err != nil:
			return recordedCall{}, err
		case isRecorded:
			c = recordedCall{recordedEntry, checkRecordedResult(recordedEntry)}
		case isKnown:
			c = recordedCall{recorder.Entry{Record: recorder.Record{View: callView, IsArgsIncomplete: true}}, errResultNotRecorded}
		default:
			return recordedCall{}, ErrNotRecorded
		}
		c.recordedEntry.Output = outputOrNull(c.recordedEntry.Output)
	}
	switch callStatus := c.recordedEntry.Status; {
	case c.recordedEntry.Prompt:
		return recordedCall{}, errPromptCannotUndo
	case callStatus == wire.StatusFailed || callStatus == wire.StatusCancelled:
		return recordedCall{}, fmt.Errorf("the call is %s; only a call that is done can be undone", callStatus)
	case callStatus != wire.StatusDone:
		return recordedCall{}, errCallNotEnded
	}
	return c, nil
}

func checkRecordedResult(e recorder.Entry) error {
	switch {
	case e.OutputBytes > 0 && len(e.Output) == 0:
		return errResultNotRecorded
	case e.IsOutputIncomplete:
		return errTruncatedResult
	}
	return nil
}

// The caller of newCall must set the client and the tab.
func (u *Undoer) newCall(c recordedCall) (dispatch.Call, error) {
	name := c.recordedEntry.ToolName
	tool, ok := u.opts.Plugins().Tool(name)
	if !ok {
		return dispatch.Call{}, fmt.Errorf("there is no tool %s any more; install its plugin, or switch the tool on", name)
	}
	undoTool := tool.UndoTool()
	switch {
	case undoTool == nil:
		return dispatch.Call{}, fmt.Errorf("the author of the plugin does not declare how to undo %s; look for a tool that does so with `opentabs tools %s`", name, tool.Plugin.Name)
	case tool.Undo.UsesInput() && (c.recordedEntry.IsArgsIncomplete || len(c.recordedEntry.Args) == 0 && c.recordedEntry.ArgsBytes > len("{}")):
		return dispatch.Call{}, errIncompleteArgs
	case tool.Undo.UsesResult() && c.resultErr != nil:
		return dispatch.Call{}, c.resultErr
	}
	args, missingArgs := tool.Undo.Arguments(c.recordedEntry.Args, c.recordedEntry.Output)
	if err := undoTool.Validate(args); err != nil {
		if len(missingArgs) > 0 {
			return dispatch.Call{}, fmt.Errorf("the call has no value at %s, which %s needs to undo it", strings.Join(missingArgs, ", "), undoTool.FullName())
		}
		return dispatch.Call{}, fmt.Errorf("the arguments that undo the call do not fit %s: %w", undoTool.FullName(), err)
	}
	return dispatch.Call{Tool: undoTool.Dispatch(), Args: json.RawMessage(args)}, nil
}

// State returns the call that undoes, has undone or may have undone the call callID; nil if there is none. State
// skips recorder notes that are older than createdTime, the time at which the call was created.
func (u *Undoer) State(callID string, createdTime time.Time) (*wire.CallUndo, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s, err := u.findUndoState(callID, createdTime)
	if err != nil || s.state == "" || s.state == stateFailed {
		return nil, err
	}
	return &wire.CallUndo{State: wire.UndoState(s.state), By: s.by}, nil
}

// The caller of findUndoState must have locked Undoer.mu.
func (u *Undoer) findUndoState(callID string, createdTime time.Time) (undoState, error) {
	if s, ok := u.undoStates[callID]; ok {
		return s, nil
	}
	notes, err := u.opts.Records.ReadNotes(recorder.NoteKindUndo, callID, createdTime)
	if err != nil || len(notes) == 0 {
		return undoState{}, err
	}
	return stateOf(notes[0]), nil
}

// The caller of checkNotUndone must have locked Undoer.mu.
func (u *Undoer) checkNotUndone(e recorder.Entry) error {
	s, err := u.findUndoState(e.CallID, e.Created)
	if err != nil {
		return err
	}
	switch s.state {
	case stateUndone:
		return fmt.Errorf("the call was already undone, by %s", s.by)
	case stateStarted:
		return fmt.Errorf("%s is already undoing the call", s.by)
	case stateUnknown:
		return fmt.Errorf("%s may have undone the call, but its result did not arrive; check the page, then make any further change yourself", s.by)
	}
	return nil
}

// The caller of setUndoState must have locked Undoer.mu.
func (u *Undoer) setUndoState(callID string, s undoState) {
	if _, ok := u.undoStates[callID]; !ok {
		u.oldestFirst = append(u.oldestFirst, callID)
		if len(u.oldestFirst) > maxUndoStates {
			delete(u.undoStates, u.oldestFirst[0])
			u.oldestFirst = u.oldestFirst[1:]
		}
	}
	u.undoStates[callID] = s
}

// maxUndoAnswerDelay is the maximum time between the end of an undo whose outcome is unknown and
// the arrival of its late result.
const maxUndoAnswerDelay = 24 * time.Hour

// ReceiveLateAnswer handles a result that a page sends after its call has ended. If the call is
// an undo with an unknown outcome, the late result decides whether the undo has succeeded.
func (u *Undoer) ReceiveLateAnswer(callID string, lateAnswer dispatch.LateAnswer) {
	var err error
	if lateAnswer.Err != nil {
		err = &dispatch.Error{Code: lateAnswer.Err.Code, MayHaveActed: true}
	}
	state := undoStateOf(err)
	if state == stateUnknown {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	undoneCallID, isRunning, ok := u.findUnresolvedUndo(callID)
	if !ok {
		return
	}
	if isRunning { // the answer arrived while the undo was being stopped
		u.lateStates[callID] = state
		return
	}
	s := undoState{state, callID}
	u.setUndoState(undoneCallID, s)
	u.opts.Records.AddNote(makeNote(undoneCallID, s))
}

// The caller of findUnresolvedUndo must have locked Undoer.mu.
func (u *Undoer) findUnresolvedUndo(by string) (undoneCallID string, isRunning, ok bool) {
	if !u.isLoaded { // an earlier server may have started the undo
		notes, err := u.opts.Records.ReadNotes(recorder.NoteKindUndo, "", time.Now().Add(-maxUndoAnswerDelay))
		if err != nil {
			return "", false, false
		}
		u.isLoaded = true
		for _, n := range notes {
			if _, isKnown := u.undoStates[n.Subject]; !isKnown {
				u.setUndoState(n.Subject, stateOf(n))
			}
		}
	}
	for id, s := range u.undoStates {
		if s.by == by && (s.state == stateUnknown || s.state == stateStarted) {
			return id, s.state == stateStarted, true
		}
	}
	return "", false, false
}

func stateOf(n recorder.Note) undoState {
	if n.State == stateStarted { // the earlier server stopped during the undo
		return undoState{stateUnknown, n.By}
	}
	return undoState{n.State, n.By}
}

func (u *Undoer) recordEndOfJob(callID string, job *joblist.Job) {
	_ = job.Wait(context.Background(), nil)
	_, err, _ := job.Result()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.runningUndos.Forget(job.ID())
	s := undoState{undoStateOf(err), job.ID()}
	if lateState, ok := u.lateStates[job.ID()]; ok {
		delete(u.lateStates, job.ID())
		if s.state == stateUnknown {
			s.state = lateState
		}
	}
	u.setUndoState(callID, s)
	u.opts.Records.AddNote(makeNote(callID, s))
}

func undoStateOf(err error) string {
	var e *dispatch.Error
	switch {
	case err == nil:
		return stateUndone
	case errors.As(err, &e) && (!e.MayHaveActed || e.Code == wire.ErrToolError):
		return stateFailed
	}
	return stateUnknown
}
