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

// The states of a call that another call undoes, in notes of the recorder.
const (
	stateStarted = string(wire.UndoStarted) // the other call has not ended; its note means that it may have run
	stateUndone  = string(wire.UndoDone)
	stateFailed  = "failed" // the other call did not undo the call
	stateUnknown = string(wire.UndoUnknown)
)

// maxStates is the number of undone calls in memory. The recorder has older ones.
const maxStates = 10_000

// ErrNotRecorded is the error of Undo for a call that is unknown, or not recorded any more.
var ErrNotRecorded = errors.New("the call is not recorded any more")

// These errors are sentences for the user.
var (
	errNotEnded       = errors.New("the call has not ended, so it cannot be undone; stop it instead")
	errPrompt         = errors.New("a prompt changes nothing, so there is nothing to undo")
	errIncompleteArgs = errors.New("not all arguments of the call are recorded, so it cannot be undone")
	errNoResult       = errors.New("the result of the call is not recorded, so it cannot be undone: run `opentabs config set recordResults on` to undo later calls also after an hour or a restart")
	errCutResult      = errors.New("the recorded result of the call lacks secrets or long values, so it cannot be undone")
)

// Options are the parts of the server that an Undoer uses. All fields are required.
type Options struct {
	Plugins func() *plugin.Set
	Memory  *Memory
	Records Records
	// Calls finds calls that have not ended.
	Calls interface {
		Find(callID string) (dispatch.View, bool)
	}
	Jobs *joblist.List
	// ChoosePlace selects the tab in which the call undoes a recorded call.
	ChoosePlace func(call *dispatch.Call, undone recorder.Entry)
}

// Records has the methods of the recorder that an Undoer uses.
type Records interface {
	Find(callID string) (recorder.Entry, bool, error)
	AddNote(recorder.Note)
	WriteNote(recorder.Note) error
	ReadNotes(kind recorder.NoteKind, subject string, since time.Time) ([]recorder.Note, error)
}

var _ Records = (*recorder.Recorder)(nil)

// Undoer undoes calls. Create an Undoer with New.
type Undoer struct {
	opts      Options
	openUndos joblist.Tracker[string] // the undone call of each call that has not ended

	mu       sync.Mutex // guards all fields below; locked while the recorder writes a note
	isLoaded bool       // true after states has the notes of earlier servers
	states   map[string]undoState
	order    []string // the keys of states, oldest first
}

// undoState is what is known about a call that another call undoes.
type undoState struct {
	state string
	by    string // the ID of the other call
}

// New returns an Undoer.
func New(o Options) *Undoer {
	return &Undoer{opts: o, states: map[string]undoState{}}
}

// Started is a call that undoes another call.
type Started struct {
	CallID   string
	ToolName string
}

// Undo undoes a call, with a new call of the client that needs the same permissions as any
// other call. Undo does not wait for the end of the new call. The error is a sentence for
// the user.
func (u *Undoer) Undo(callID string, client dispatch.Client) (Started, error) {
	undone, err := u.find(callID)
	if err != nil {
		return Started{}, err
	}
	call, err := u.newCall(undone)
	if err != nil {
		return Started{}, err
	}
	call.Client = client
	u.opts.ChoosePlace(&call, undone.entry)
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.checkNotUndone(undone.entry); err != nil {
		return Started{}, err
	}
	job := u.openUndos.Start(u.opts.Jobs, call, callID)
	u.setState(callID, undoState{stateStarted, job.ID()})
	go u.awaitEnd(callID, job)
	return Started{CallID: job.ID(), ToolName: call.Tool.FullName()}, nil
}

var _ dispatch.BeforeHook = (*Undoer)(nil)

// Before implements dispatch.BeforeHook: it writes to the disk that a call will undo
// another call, or fails the call. After a crash, a call that still waited for approval
// has no note, so that the user can undo the other call again.
func (u *Undoer) Before(info dispatch.CallInfo) *wire.CallError {
	undoneID, ok := u.openUndos.Find(info.CallID)
	if !ok {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.states[undoneID]
	if s != (undoState{stateStarted, info.CallID}) { // the call was cancelled, so it does not run
		return nil
	}
	if err := u.opts.Records.WriteNote(noteOf(undoneID, s)); err != nil {
		return &wire.CallError{Code: wire.ErrInternal, Message: "the undo could not be stored on the disk, so the tool did not run"}
	}
	return nil
}

// noteOf returns the note about the state of an undone call.
func noteOf(callID string, s undoState) recorder.Note {
	return recorder.Note{Kind: recorder.NoteUndo, Subject: callID, State: s.state, By: s.by}
}

// find returns a call that is done, from the memory or from the recorder.
func (u *Undoer) find(callID string) (recordedCall, error) {
	c, ok := u.opts.Memory.find(callID)
	if !ok {
		entry, isRecorded, err := u.opts.Records.Find(callID)
		view, isKnown := u.opts.Calls.Find(callID)
		switch {
		case err != nil:
			return recordedCall{}, err
		case isRecorded:
			c = recordedCall{entry, resultProblem(entry)}
		case isKnown:
			c = recordedCall{recorder.Entry{Record: recorder.Record{View: view, IsArgsIncomplete: true}}, errNoResult}
		default:
			return recordedCall{}, ErrNotRecorded
		}
		c.entry.Output = resultOf(c.entry.Output)
	}
	switch status := c.entry.Status; {
	case c.entry.Prompt:
		return recordedCall{}, errPrompt
	case status == wire.StatusFailed || status == wire.StatusCancelled:
		return recordedCall{}, fmt.Errorf("the call is %s; only a call that is done can be undone", status)
	case status != wire.StatusDone:
		return recordedCall{}, errNotEnded
	}
	return c, nil
}

// resultProblem returns why a record does not have the whole result of its call.
func resultProblem(e recorder.Entry) error {
	switch {
	case e.OutputBytes > 0 && len(e.Output) == 0:
		return errNoResult
	case e.IsOutputIncomplete:
		return errCutResult
	}
	return nil
}

// newCall returns the call that undoes c, without client and place.
func (u *Undoer) newCall(c recordedCall) (dispatch.Call, error) {
	name := c.entry.ToolName
	tool, ok := u.opts.Plugins().Tool(name)
	if !ok {
		return dispatch.Call{}, fmt.Errorf("there is no tool %s any more; install its plugin, or switch the tool on", name)
	}
	other := tool.UndoTool()
	switch {
	case other == nil:
		return dispatch.Call{}, fmt.Errorf("the author of the plugin does not declare how to undo %s; look for a tool that does so with `opentabs tools %s`", name, tool.Plugin.Name)
	case tool.Undo.UsesInput() && (c.entry.IsArgsIncomplete || len(c.entry.Args) == 0 && c.entry.ArgsBytes > len("{}")):
		return dispatch.Call{}, errIncompleteArgs
	case tool.Undo.UsesResult() && c.resultProblem != nil:
		return dispatch.Call{}, c.resultProblem
	}
	args, missing := tool.Undo.Arguments(c.entry.Args, c.entry.Output)
	if err := other.Validate(args); err != nil {
		if len(missing) > 0 {
			return dispatch.Call{}, fmt.Errorf("the call has no value at %s, which %s needs to undo it", strings.Join(missing, ", "), other.FullName())
		}
		return dispatch.Call{}, fmt.Errorf("the arguments that undo the call do not fit %s: %w", other.FullName(), err)
	}
	return dispatch.Call{Tool: other.Dispatch(), Args: json.RawMessage(args)}, nil
}

// State returns the call that undoes, has undone or may have undone a call that was created
// at the time created; nil if there is none.
func (u *Undoer) State(callID string, created time.Time) (*wire.CallUndo, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s, err := u.findState(callID, created)
	if err != nil || s.state == "" || s.state == stateFailed {
		return nil, err
	}
	return &wire.CallUndo{State: wire.UndoState(s.state), By: s.by}, nil
}

// findState returns the state of a call from the memory or from the recorder; the zero
// value if no other call undoes the call. The caller has locked mu.
func (u *Undoer) findState(callID string, created time.Time) (undoState, error) {
	if s, ok := u.states[callID]; ok {
		return s, nil
	}
	notes, err := u.opts.Records.ReadNotes(recorder.NoteUndo, callID, created)
	if err != nil || len(notes) == 0 {
		return undoState{}, err
	}
	return stateOf(notes[0]), nil
}

// checkNotUndone returns an error if another call has undone the call, or may have done so.
// The caller has locked mu.
func (u *Undoer) checkNotUndone(e recorder.Entry) error {
	s, err := u.findState(e.CallID, e.Created)
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

// setState sets the state of an undone call in memory. The caller has locked mu.
func (u *Undoer) setState(callID string, s undoState) {
	if _, ok := u.states[callID]; !ok {
		u.order = append(u.order, callID)
		if len(u.order) > maxStates {
			delete(u.states, u.order[0])
			u.order = u.order[1:]
		}
	}
	u.states[callID] = s
}

// lateLimit is how long after an undo Undoer accepts the late answer of its page.
const lateLimit = 24 * time.Hour

// ReceiveLate receives the answer of a page to a call that has ended. If the call undoes
// another call with an unknown result, the answer decides whether the other call is undone.
func (u *Undoer) ReceiveLate(callID string, answer dispatch.LateAnswer) {
	var err error
	if answer.Err != nil {
		err = &dispatch.Error{Code: answer.Err.Code, MayHaveActed: true}
	}
	state := stateAfter(err)
	if state == stateUnknown {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	undoneID, ok := u.findUnknown(callID)
	if !ok {
		return
	}
	s := undoState{state, callID}
	u.setState(undoneID, s)
	u.opts.Records.AddNote(noteOf(undoneID, s))
}

// findUnknown returns the call that the call by undoes with an unknown result. The caller
// has locked mu.
func (u *Undoer) findUnknown(by string) (undoneID string, ok bool) {
	if !u.isLoaded { // a server before this one may have made the call
		notes, err := u.opts.Records.ReadNotes(recorder.NoteUndo, "", time.Now().Add(-lateLimit))
		if err != nil {
			return "", false
		}
		u.isLoaded = true
		for _, n := range notes { // newest first
			if _, isKnown := u.states[n.Subject]; !isKnown {
				u.setState(n.Subject, stateOf(n))
			}
		}
	}
	for id, s := range u.states {
		if s.by == by && s.state == stateUnknown {
			return id, true
		}
	}
	return "", false
}

// stateOf returns the state in a note of an earlier server.
func stateOf(n recorder.Note) undoState {
	if n.State == stateStarted { // the server stopped while the other call ran
		return undoState{stateUnknown, n.By}
	}
	return undoState{n.State, n.By}
}

// awaitEnd waits until an undo has ended, and stores its outcome.
func (u *Undoer) awaitEnd(callID string, job *joblist.Job) {
	_ = job.Wait(context.Background(), nil) // the call always ends
	_, err, _ := job.Result()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.openUndos.Forget(job.ID())
	s := undoState{stateAfter(err), job.ID()}
	u.setState(callID, s)
	u.opts.Records.AddNote(noteOf(callID, s))
}

// stateAfter returns the state of a call after the call that undoes it has ended with err.
func stateAfter(err error) string {
	var e *dispatch.Error
	switch {
	case err == nil:
		return stateUndone
	case errors.As(err, &e) && (!e.MayHaveActed || e.Code == wire.ErrToolError):
		return stateFailed
	}
	return stateUnknown
}
