package idempotency

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/joblist"
	"opentabs/internal/recorder"
	"opentabs/wire"
)

// These constants bound the keys in memory. Above a limit, the oldest ended calls lose their
// key or their result.
const (
	maxKeys        = 10_000
	maxResultBytes = 32 << 20
	maxRetention   = 24 * time.Hour
)

// The states of a key, in notes of the recorder.
const (
	stateStarted  = "started" // the call may run in a page
	stateReleased = "released"
	stateDone     = "done"
	stateFailed   = "failed"  // the page delivered an error
	stateUnknown  = "unknown" // the call may have acted, and its result did not arrive
)

// Records has the methods of the recorder that Keys uses.
type Records interface {
	Find(callID string) (recorder.Entry, bool, error)
	AddNote(recorder.Note)
	WriteNote(recorder.Note) error
	ReadNotes(kind recorder.NoteKind, subject string, since time.Time) ([]recorder.Note, error)
}

var _ Records = (*recorder.Recorder)(nil)

// Keys has the calls with idempotency keys. Create a Keys with New, and call SetJobs before
// the first call.
type Keys struct {
	records   Records
	retention time.Duration
	jobs      *joblist.List
	openCalls joblist.Tracker[*entry] // the calls that have not ended

	mu          sync.Mutex // guards all fields below
	isLoaded    bool
	entries     map[string]*entry // by subject
	order       []*entry          // oldest first; may have released entries
	resultBytes int
}

// entry is one key with its call. Keys.mu guards all fields.
type entry struct {
	subject, argsHash, tool string
	callID                  string
	job                     *joblist.Job // nil after the end of the call
	tickets                 *tickets     // nil for a call of an earlier server
	state                   string
	began                   time.Time
	// hasNote is set if the recorder has a note of the key.
	hasNote bool
	// waiters is the number of requests that wait for the call.
	waiters int
	// result is the result of a done call; nil if it is not in memory. err is the error of
	// a call that failed or has an unknown result.
	result *dispatch.Result
	err    *dispatch.Error
}

// New returns a Keys that stores keys in records. recordDays is how many days records are
// kept. Without records, keys are kept until the server stops.
func New(records Records, recordDays int) *Keys {
	k := &Keys{records: records, retention: maxRetention, entries: map[string]*entry{}}
	if days := time.Duration(recordDays) * 24 * time.Hour; days > 0 {
		k.retention = min(maxRetention, days)
	}
	return k
}

// SetJobs sets the Jobs that run the calls.
func (k *Keys) SetJobs(jobs *joblist.List) { k.jobs = jobs }

// Use is the use of a key by one request.
type Use struct {
	// CallID is the ID of the call that used the key. IsReplay is set if an earlier
	// request made the call.
	CallID   string
	IsReplay bool
	// Job is the call if it was made since the server started; nil for an older call.
	Job *joblist.Job

	keys  *Keys
	entry *entry
}

// Start starts a call with a valid key, or returns the earlier call with the key. The error
// is a *dispatch.Error if the key has other arguments, or if the earlier call may have acted.
func (k *Keys) Start(key string, c dispatch.Call) (*Use, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(); err != nil {
		return nil, err
	}
	subject, argsHash := subjectOf(key, c), argsHashOf(c)
	if e := k.entries[subject]; e != nil {
		k.settleIfEnded(e)
	}
	k.removeExpired()
	e := k.entries[subject]
	switch {
	case e == nil:
		e = &entry{subject: subject, argsHash: argsHash, tool: c.Tool.FullName(), state: stateStarted, began: time.Now(), waiters: 1, tickets: &tickets{}}
		e.tickets.join(c.OnTicket)
		c.OnTicket = e.tickets.show
		e.job = k.openCalls.Start(k.jobs, c, e)
		e.callID = e.job.ID()
		k.addEntry(e)
		go k.awaitEnd(e, e.job)
		return &Use{CallID: e.callID, Job: e.job, keys: k, entry: e}, nil
	case e.argsHash != argsHash:
		return nil, otherArgumentsError(e)
	case e.state == stateUnknown:
		return nil, mayHaveActedError(e)
	}
	e.waiters++
	use := &Use{CallID: e.callID, IsReplay: true, keys: k, entry: e}
	if e.state == stateStarted {
		use.Job = e.job
		e.tickets.join(c.OnTicket)
	}
	return use, nil
}

// Leave ends the use of a key whose request waits no longer. If no other request waits,
// Leave cancels the call and returns true.
func (u *Use) Leave(cancellation dispatch.Cancellation) bool {
	u.keys.mu.Lock()
	u.entry.waiters--
	isLast := u.entry.waiters == 0
	u.keys.mu.Unlock()
	if isLast && u.Job != nil {
		u.Job.Cancel(cancellation)
	}
	return isLast
}

// Ending is how the call of a key ended.
type Ending struct {
	Result dispatch.Result
	Err    error
	// IsResultLost is set if the call is done, but its result is not stored.
	IsResultLost bool
}

// Ending returns the ending of a call that has ended.
func (u *Use) Ending() Ending {
	if u.Job != nil {
		if result, err, ok := u.Job.Result(); ok {
			return Ending{Result: result, Err: err}
		}
	}
	u.keys.mu.Lock()
	e := *u.entry
	u.keys.mu.Unlock()
	switch {
	case e.err != nil:
		return Ending{Err: e.err}
	case e.result != nil:
		return Ending{Result: *e.result}
	}
	return u.keys.recordedEnding(e.callID)
}

// recordedEnding returns the ending of a done call from the recorder.
func (k *Keys) recordedEnding(callID string) Ending {
	record, ok, err := k.records.Find(callID)
	// The record of a call whose result arrived late is that of a failed call.
	if err != nil || !ok || record.Status != wire.StatusDone || record.IsOutputIncomplete {
		return Ending{Result: dispatch.Result{CallID: callID}, IsResultLost: true}
	}
	return Ending{Result: dispatch.Result{CallID: callID, Output: record.Output, Audience: record.EndAudience}}
}

var _ dispatch.BeforeHook = (*Keys)(nil)

// Before implements dispatch.BeforeHook: it writes the key of a call that will run to the
// disk. If the key cannot be written, the call fails: after a crash, a retry would act
// again.
func (k *Keys) Before(info dispatch.CallInfo) *wire.CallError {
	e, ok := k.openCalls.Find(info.CallID)
	if !ok {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if e.hasNote {
		return nil
	}
	if err := k.records.WriteNote(noteOf(e)); err != nil {
		return &wire.CallError{Code: wire.ErrInternal, Message: "its idempotency key could not be stored on the disk, so the tool did not run"}
	}
	e.hasNote = true
	return nil
}

// ReceiveLate receives the answer of a page to a call that has ended.
func (k *Keys) ReceiveLate(callID string, answer dispatch.LateAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.load() != nil {
		return
	}
	i := slices.IndexFunc(k.order, func(e *entry) bool { return e.callID == callID })
	if i < 0 {
		return
	}
	e := k.order[i]
	k.settleIfEnded(e)
	switch callErr := answer.Err; {
	case e.state != stateUnknown || k.entries[e.subject] != e:
	case answer.IsOutputLost:
		k.finish(e, stateDone, nil, nil)
	case callErr == nil:
		k.finish(e, stateDone, &dispatch.Result{CallID: callID, Output: answer.Output}, nil)
	case isPageError(callErr.Code):
		k.finish(e, stateFailed, nil, &dispatch.Error{
			Code: callErr.Code, Message: e.tool + " failed: " + strings.TrimRight(callErr.Message, ".") + " (" + string(callErr.Code) + ").", UserText: callErr.UserText,
			CallID: callID, ToolError: callErr.Tool, Retryable: callErr.Tool != nil && callErr.Tool.Retryable, MayHaveActed: true,
		})
	}
}

// awaitEnd waits for the end of a call.
func (k *Keys) awaitEnd(e *entry, job *joblist.Job) {
	_ = job.Wait(context.Background(), nil) // a call always ends
	k.mu.Lock()
	defer k.mu.Unlock()
	k.settleIfEnded(e)
}

// settleIfEnded stores the ending of a call that has ended. The caller has locked mu.
func (k *Keys) settleIfEnded(e *entry) {
	if e.state != stateStarted || e.job == nil {
		return
	}
	result, err, hasEnded := e.job.Result()
	var callErr *dispatch.Error
	switch isCallError := errors.As(err, &callErr); {
	case !hasEnded:
		return
	case err == nil:
		k.finish(e, stateDone, &result, nil)
	case isCallError && !callErr.MayHaveActed:
		k.finish(e, stateReleased, nil, nil)
		delete(k.entries, e.subject)
	case isCallError && isPageError(callErr.Code):
		k.finish(e, stateFailed, nil, callErr)
	default:
		k.finish(e, stateUnknown, nil, callErr)
	}
	e.job, e.tickets = nil, nil // the job has the result, which dropResult must free
	k.openCalls.Forget(e.callID)
}

// isPageError reports whether an error with this code is the answer of a page whose tool has
// ended.
func isPageError(code wire.ErrorCode) bool {
	return code == wire.ErrToolError || code == wire.ErrInvalidResult || code == wire.ErrResultTooLarge
}

// finish stores the ending of a call. The caller has locked mu.
func (k *Keys) finish(e *entry, state string, result *dispatch.Result, err *dispatch.Error) {
	e.state, e.result, e.err = state, result, err
	if state != stateReleased || e.hasNote {
		k.addNote(e)
	}
	if result == nil {
		return
	}
	k.resultBytes += len(result.Output)
	for i := 0; k.resultBytes > maxResultBytes && i < len(k.order); i++ {
		k.dropResult(k.order[i])
	}
}

// dropResult removes the result of a call from the memory. The caller has locked mu.
func (k *Keys) dropResult(e *entry) {
	if e.result != nil {
		k.resultBytes -= len(e.result.Output)
		e.result = nil
	}
}

// addNote records the state of a key. The caller has locked mu.
func (k *Keys) addNote(e *entry) {
	e.hasNote = true
	k.records.AddNote(noteOf(e))
}

// noteOf returns the note about the state of a key. The caller has locked mu.
func noteOf(e *entry) recorder.Note {
	n := recorder.Note{Kind: recorder.NoteKey, Subject: e.subject, State: e.state, By: e.callID, Tool: e.tool, ArgsHash: e.argsHash}
	if e.err != nil {
		n.Code, n.Error, n.UserText = e.err.Code, e.err.Message, e.err.UserText
		n.ToolError, n.IsRetryable = e.err.ToolError, e.err.Retryable
	}
	return n
}

// addEntry adds a key. The caller has locked mu.
func (k *Keys) addEntry(e *entry) {
	k.entries[e.subject] = e
	k.order = append(k.order, e)
}

// removeExpired removes the keys that are too old or too many. A key whose call has not
// ended is kept. The caller has locked mu.
func (k *Keys) removeExpired() {
	excess := len(k.order) - maxKeys
	if excess <= 0 && (len(k.order) == 0 || !k.isExpired(k.order[0])) {
		return
	}
	k.order = slices.DeleteFunc(k.order, func(e *entry) bool {
		if e.job != nil || excess <= 0 && !k.isExpired(e) {
			return false
		}
		excess--
		k.dropResult(e)
		if k.entries[e.subject] == e {
			delete(k.entries, e.subject)
		}
		return true
	})
}

// isExpired reports whether a key is too old or released. The caller has locked mu.
func (k *Keys) isExpired(e *entry) bool {
	return time.Since(e.began) >= k.retention || k.entries[e.subject] != e
}

// load reads the keys of earlier servers from the recorder. Only the first call of load has
// an effect. The caller has locked mu.
func (k *Keys) load() error {
	if k.isLoaded {
		return nil
	}
	notes, err := k.records.ReadNotes(recorder.NoteKey, "", time.Now().Add(-k.retention))
	if err != nil {
		return err
	}
	k.isLoaded = true
	newest := map[string]*entry{}
	for _, n := range notes { // newest first
		if e := newest[n.Subject]; e != nil {
			if e.callID == n.By {
				e.began = n.Time
			}
			continue
		}
		e := &entry{subject: n.Subject, argsHash: n.ArgsHash, tool: n.Tool, callID: n.By, state: n.State, began: n.Time, hasNote: true}
		switch n.State {
		case stateStarted: // the server stopped while the call ran
			e.state, e.err = stateUnknown, &dispatch.Error{Code: wire.ErrShutdown, CallID: n.By}
		case stateFailed, stateUnknown:
			e.err = &dispatch.Error{
				Code: n.Code, Message: n.Error, UserText: n.UserText, CallID: n.By, ToolError: n.ToolError, Retryable: n.IsRetryable, MayHaveActed: true,
			}
		}
		newest[n.Subject] = e
	}
	for _, n := range slices.Backward(notes) {
		if e := newest[n.Subject]; e != nil && e.callID == n.By && e.state != stateReleased && k.entries[n.Subject] == nil {
			k.addEntry(e)
		}
	}
	return nil
}
