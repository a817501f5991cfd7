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

// If there are more than maxKeys idempotency keys, the keys of the oldest ended calls are dropped. If the stored
// results of calls exceed maxResultBytes, the oldest results are dropped.
const (
	maxKeys        = 10_000
	maxResultBytes = 32 << 20
	maxRetention   = 24 * time.Hour
)

const (
	stateStarted  = "started" // the call is running, or waits to run
	stateReleased = "released"
	stateDone     = "done"
	stateFailed   = "failed"
	stateUnknown  = "unknown" // the call may have acted, but no result arrived
)

// Records stores the states of idempotency keys and finds recorded calls.
// [recorder.Recorder] implements Records.
type Records interface {
	Find(callID string) (recorder.Entry, bool, error)
	AddNote(recorder.Note)
	WriteNote(recorder.Note) error
	ReadNotes(kind recorder.NoteKind, subject string, since time.Time) ([]recorder.Note, error)
}

var _ Records = (*recorder.Recorder)(nil)

// Keys maps idempotency keys to the calls that used them first. Use [New] to create a
// Keys, and call SetJobs before the first call of Start.
type Keys struct {
	records   Records
	retention time.Duration
	jobs      *joblist.List
	openCalls joblist.Tracker[*entry] // openCalls tracks the unfinished calls with an idempotency key

	mu          sync.Mutex // the mutex guards all fields below
	isLoaded    bool
	entries     map[string]*entry
	oldestFirst []*entry // the field oldestFirst lists the entries, oldest first, and may contain released entries
	resultBytes int
}

// The type entry stores one idempotency key and the call that used it first. Keys.mu
// guards all fields of an entry.
type entry struct {
	keyHash, argsHash, tool string
	callID                  string
	job                     *joblist.Job
	tickets                 *tickets // the field tickets is nil if the call ran before the server restarted
	state                   string
	startedAt               time.Time
	isNoteWritten           bool
	// waitingRequestCount is 0 after the last waiting request has left, so that a started call is being cancelled.
	waitingRequestCount int
	// earlyAnswer is the page's answer if it arrived while the call was being stopped; nil if there is none.
	earlyAnswer *dispatch.LateAnswer
	// The field result is the result of a successful call; nil if the call failed, or if its result is no longer
	// in memory.
	result *dispatch.Result
	err    *dispatch.Error
}

// New returns a Keys that stores idempotency keys in records. An idempotency key expires
// after recordDays days, but after at most 24 hours. If recordDays is 0, the recorder
// stores nothing, and the idempotency keys are lost when the server stops.
func New(records Records, recordDays int) *Keys {
	k := &Keys{records: records, retention: maxRetention, entries: map[string]*entry{}}
	if recordLifetime := time.Duration(recordDays) * 24 * time.Hour; recordLifetime > 0 {
		k.retention = min(maxRetention, recordLifetime)
	}
	return k
}

// SetJobs sets the job list that runs the calls. Call SetJobs once, before the first call
// of Start. SetJobs is not safe for concurrent use.
func (k *Keys) SetJobs(jobs *joblist.List) { k.jobs = jobs }

// Use is the result of [Keys.Start] for one request: the call that belongs to the idempotency key.
type Use struct {
	// CallID is the ID of the call that first used the idempotency key. IsReplay is true if an earlier request made the
	// call.
	CallID   string
	IsReplay bool
	// Job runs the call or has run it; nil if the call had already ended when the request
	// arrived.
	Job *joblist.Job

	keys  *Keys
	entry *entry
}

// Start starts a call with a valid idempotency key, or returns the earlier call with the
// same key. Start returns a *dispatch.Error if the earlier call had different arguments,
// or if its result is unknown although it possibly had an effect. If the earlier call is being
// cancelled, Start waits for its end. If ctx ends first, Start starts no call, and returns ctx's error.
func (k *Keys) Start(ctx context.Context, key string, c dispatch.Call) (*Use, error) {
	for {
		use, abandonedJob, err := k.startUnlessAbandoned(key, c)
		if abandonedJob == nil {
			return use, err
		}
		if err := abandonedJob.Wait(ctx, nil); err != nil {
			return nil, err
		}
	}
}

// startUnlessAbandoned returns the job of the earlier call if the call is being cancelled.
func (k *Keys) startUnlessAbandoned(key string, c dispatch.Call) (use *Use, abandonedJob *joblist.Job, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(); err != nil {
		return nil, nil, err
	}
	keyHash, argsHash := hashKey(key, c), hashArgs(c)
	if e := k.entries[keyHash]; e != nil {
		k.finishIfEnded(e)
	}
	k.removeExpired()
	e := k.entries[keyHash]
	switch {
	case e == nil:
		e = &entry{keyHash: keyHash, argsHash: argsHash, tool: c.Tool.FullName(), state: stateStarted, startedAt: time.Now(), waitingRequestCount: 1, tickets: &tickets{}}
		e.tickets.addListener(c.OnTicket)
		c.OnTicket = e.tickets.show
		e.job = k.openCalls.Start(k.jobs, c, e)
		e.callID = e.job.ID()
		k.addEntry(e)
		go k.finishAfterJob(e, e.job)
		return &Use{CallID: e.callID, Job: e.job, keys: k, entry: e}, nil, nil
	case e.argsHash != argsHash:
		return nil, nil, newArgumentsMismatchError(e)
	case e.state == stateUnknown:
		return nil, nil, newUnknownOutcomeError(e)
	case e.state == stateStarted && e.waitingRequestCount == 0:
		return nil, e.job, nil
	}
	e.waitingRequestCount++
	use = &Use{CallID: e.callID, IsReplay: true, keys: k, entry: e}
	if e.state == stateStarted {
		use.Job = e.job
		e.tickets.addListener(c.OnTicket)
	}
	return use, nil, nil
}

// Call Leave when a request no longer waits for its call. If no other request waits for the call, Leave cancels the
// call and returns true.
func (u *Use) Leave(cancellation dispatch.Cancellation) bool {
	u.keys.mu.Lock()
	u.entry.waitingRequestCount--
	isLast := u.entry.waitingRequestCount == 0
	u.keys.mu.Unlock()
	if isLast && u.Job != nil {
		u.Job.Cancel(cancellation)
	}
	return isLast
}

// CallResult is the result or the error of a call with an idempotency key.
type CallResult struct {
	Result dispatch.Result
	Err    error
	// IsResultLost is true if the call succeeded, but its result is no longer stored.
	IsResultLost bool
}

// CallResult returns the result or the error of the call. If an earlier request made the
// call, the error text begins with a note that the tool was not called again. Do not call
// CallResult before the call has ended.
func (u *Use) CallResult() CallResult {
	callResult := u.loadResult()
	if u.IsReplay && callResult.Err != nil {
		callResult.Err = describeReplayedError(callResult.Err, u.CallID)
	}
	return callResult
}

func (u *Use) loadResult() CallResult {
	if u.Job != nil {
		if callResult, err, ok := u.Job.Result(); ok {
			return CallResult{Result: callResult, Err: err}
		}
	}
	u.keys.mu.Lock()
	e := *u.entry
	u.keys.mu.Unlock()
	switch {
	case e.err != nil:
		return CallResult{Err: e.err}
	case e.result != nil:
		return CallResult{Result: *e.result}
	}
	return u.keys.recordedResult(e.callID)
}

func (k *Keys) recordedResult(callID string) CallResult {
	record, ok, err := k.records.Find(callID)
	// If a call's result arrived after the call had failed, the recorder still lists the call as failed.
	if err != nil || !ok || record.Status != wire.StatusDone || record.IsOutputIncomplete {
		return CallResult{Result: dispatch.Result{CallID: callID}, IsResultLost: true}
	}
	return CallResult{Result: dispatch.Result{CallID: callID, Output: record.Output, Audience: record.EndAudience}}
}

var _ dispatch.BeforeHook = (*Keys)(nil)

// BeforeCall implements [dispatch.BeforeHook]: it writes the call's idempotency key to the
// disk before the call runs. If BeforeCall cannot write the idempotency key, the call fails.
// If BeforeCall did not store the key, a retry after a crash would run the tool a second
// time.
func (k *Keys) BeforeCall(callInfo dispatch.CallInfo) *wire.CallError {
	e, ok := k.openCalls.Find(callInfo.CallID)
	if !ok {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if e.isNoteWritten {
		return nil
	}
	if err := k.records.WriteNote(makeNote(e)); err != nil {
		return &wire.CallError{Code: wire.ErrInternal, Message: "its idempotency key could not be stored on the disk, so the tool did not run"}
	}
	e.isNoteWritten = true
	return nil
}

// ReceiveLateAnswer stores a tool's result that arrives from a page after the call has ended.
// ReceiveLateAnswer ignores the result unless the call's result is still unknown.
func (k *Keys) ReceiveLateAnswer(callID string, lateAnswer dispatch.LateAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.load() != nil {
		return
	}
	i := slices.IndexFunc(k.oldestFirst, func(e *entry) bool { return e.callID == callID })
	if i < 0 {
		return
	}
	e := k.oldestFirst[i]
	k.finishIfEnded(e)
	switch {
	case k.entries[e.keyHash] != e || lateAnswer.Err != nil && !isPageError(lateAnswer.Err.Code):
	case e.state == stateUnknown:
		k.applyLateAnswer(e, lateAnswer)
	case e.state == stateStarted && e.job != nil:
		e.earlyAnswer = &lateAnswer
	}
}

// The caller of applyLateAnswer must hold Keys.mu.
func (k *Keys) applyLateAnswer(e *entry, lateAnswer dispatch.LateAnswer) {
	switch callErr := lateAnswer.Err; {
	case lateAnswer.IsOutputLost:
		k.finish(e, stateDone, nil, nil)
	case callErr == nil:
		k.finish(e, stateDone, &dispatch.Result{CallID: e.callID, Output: lateAnswer.Output}, nil)
	default:
		k.finish(e, stateFailed, nil, &dispatch.Error{
			Code: callErr.Code, Message: e.tool + " failed: " + strings.TrimRight(callErr.Message, ".") + " (" + string(callErr.Code) + ").", UserText: callErr.UserText,
			CallID: e.callID, ToolError: callErr.Tool, Retryable: callErr.Tool != nil && callErr.Tool.Retryable, MayHaveActed: true,
		})
	}
}

func (k *Keys) finishAfterJob(e *entry, job *joblist.Job) {
	_ = job.Wait(context.Background(), nil)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.finishIfEnded(e)
}

// The caller of finishIfEnded must hold Keys.mu.
func (k *Keys) finishIfEnded(e *entry) {
	if e.state != stateStarted || e.job == nil {
		return
	}
	callResult, err, hasEnded := e.job.Result()
	var callErr *dispatch.Error
	switch isCallError := errors.As(err, &callErr); {
	case !hasEnded:
		return
	case err == nil:
		k.finish(e, stateDone, &callResult, nil)
	case isCallError && !callErr.MayHaveActed:
		k.finish(e, stateReleased, nil, nil)
		delete(k.entries, e.keyHash)
	case isCallError && isPageError(callErr.Code):
		k.finish(e, stateFailed, nil, callErr)
	default:
		k.finish(e, stateUnknown, nil, callErr)
	}
	if e.state == stateUnknown && e.earlyAnswer != nil {
		k.applyLateAnswer(e, *e.earlyAnswer)
	}
	e.job, e.tickets, e.earlyAnswer = nil, nil, nil // the job refers to the result, which dropResult must be able to free
	k.openCalls.Forget(e.callID)
}

func isPageError(code wire.ErrorCode) bool {
	return code == wire.ErrToolError || code == wire.ErrInvalidResult || code == wire.ErrResultTooLarge
}

// The caller of finish must hold Keys.mu.
func (k *Keys) finish(e *entry, state string, result *dispatch.Result, err *dispatch.Error) {
	e.state, e.result, e.err = state, result, err
	if state != stateReleased || e.isNoteWritten {
		k.addNote(e)
	}
	if result == nil {
		return
	}
	k.resultBytes += len(result.Output)
	for i := 0; k.resultBytes > maxResultBytes && i < len(k.oldestFirst); i++ {
		k.dropResult(k.oldestFirst[i])
	}
}

// The caller of dropResult must hold Keys.mu.
func (k *Keys) dropResult(e *entry) {
	if e.result != nil {
		k.resultBytes -= len(e.result.Output)
		e.result = nil
	}
}

// The caller of addNote must hold Keys.mu.
func (k *Keys) addNote(e *entry) {
	e.isNoteWritten = true
	k.records.AddNote(makeNote(e))
}

// The caller of makeNote must hold Keys.mu.
func makeNote(e *entry) recorder.Note {
	n := recorder.Note{Kind: recorder.NoteKindIdempotencyKey, Subject: e.keyHash, State: e.state, By: e.callID, Tool: e.tool, ArgsHash: e.argsHash}
	if e.err != nil {
		n.Code, n.Error, n.UserText = e.err.Code, e.err.Message, e.err.UserText
		n.ToolError, n.IsRetryable = e.err.ToolError, e.err.Retryable
	}
	return n
}

// The caller of addEntry must hold Keys.mu.
func (k *Keys) addEntry(e *entry) {
	k.entries[e.keyHash] = e
	k.oldestFirst = append(k.oldestFirst, e)
}

// An unfinished call keeps its idempotency key. The caller of removeExpired must hold Keys.mu.
func (k *Keys) removeExpired() {
	excessKeyCount := len(k.oldestFirst) - maxKeys
	if excessKeyCount <= 0 && (len(k.oldestFirst) == 0 || !k.isExpired(k.oldestFirst[0])) {
		return
	}
	k.oldestFirst = slices.DeleteFunc(k.oldestFirst, func(e *entry) bool {
		if e.job != nil || excessKeyCount <= 0 && !k.isExpired(e) {
			return false
		}
		excessKeyCount--
		k.dropResult(e)
		if k.entries[e.keyHash] == e {
			delete(k.entries, e.keyHash)
		}
		return true
	})
}

// The caller of isExpired must hold Keys.mu.
func (k *Keys) isExpired(e *entry) bool {
	return time.Since(e.startedAt) >= k.retention || k.entries[e.keyHash] != e
}

// The caller of load must hold Keys.mu.
func (k *Keys) load() error {
	if k.isLoaded {
		return nil
	}
	notes, err := k.records.ReadNotes(recorder.NoteKindIdempotencyKey, "", time.Now().Add(-k.retention))
	if err != nil {
		return err
	}
	k.isLoaded = true
	latestStateByKey := map[string]*entry{}
	for _, n := range notes {
		if e := latestStateByKey[n.Subject]; e != nil {
			if e.callID == n.By {
				e.startedAt = n.Time
			}
			continue
		}
		e := &entry{keyHash: n.Subject, argsHash: n.ArgsHash, tool: n.Tool, callID: n.By, state: n.State, startedAt: n.Time, isNoteWritten: true}
		switch n.State {
		case stateStarted: // the server stopped during the call
			e.state, e.err = stateUnknown, &dispatch.Error{Code: wire.ErrShutdown, CallID: n.By}
		case stateFailed, stateUnknown:
			e.err = &dispatch.Error{
				Code: n.Code, Message: n.Error, UserText: n.UserText, CallID: n.By, ToolError: n.ToolError, Retryable: n.IsRetryable, MayHaveActed: true,
			}
		}
		latestStateByKey[n.Subject] = e
	}
	for _, n := range slices.Backward(notes) {
		if e := latestStateByKey[n.Subject]; e != nil && e.callID == n.By && e.state != stateReleased && k.entries[n.Subject] == nil {
			k.addEntry(e)
		}
	}
	return nil
}
