package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"opentabs/dispatch/activity"
	"opentabs/dispatch/clock"
	"opentabs/dispatch/errtext"
	"opentabs/dispatch/events"
	"opentabs/dispatch/hops"
	"opentabs/dispatch/lazycontext"
	"opentabs/dispatch/progress"
	"opentabs/internal/humanize"
	"opentabs/wire"
)

// liveCall is one call of a tool, from its creation to its removal from the ended calls.
// The method run uses the goroutine of Dispatcher.Call; reports and results arrive on any goroutine.
type liveCall struct {
	d         *Dispatcher
	req       Call // mu guards Args; the other fields of the request never change
	id        string
	createdAt time.Time
	// argBytes is the size of the call's arguments, in bytes. argBytes is stored separately, because
	// the arguments are released once the after hooks have run.
	argBytes      int
	arrivalNumber uint64 // arrivalNumber is the call's position in the order of arrival; guarded by Dispatcher.mu
	parent, root  *liveCall
	depth         int

	// The types of clock, sender, activities, targetSearchCtx, requests and chosenTarget contain
	// their own locks.
	clock           clock.Clock
	sender          progress.Sender
	activities      activity.Set
	targetSearchCtx lazycontext.Context
	requests        toolRequests
	chosenTarget    browserToolTarget

	// retryErrors receives the error of a failed attempt if the call can be retried in another
	// document.
	retryErrors chan *wire.CallError
	done        chan struct{}

	mu               sync.Mutex // the mutex guards all fields below; the package documentation defines the lock order
	state            state
	attempts         attempts
	suspension       suspension
	reports          reportLog
	timeline         timeline
	nextStep         errtext.Step // nextStep is the advice if the call has no document to run in
	argsStart        string
	isReloadApproved bool
	hasBeenQueued    bool
	resultStart      events.ResultStart
	callFacts        *events.CallFacts
	stopReplySignal  chan struct{}
}

func newLiveCall(d *Dispatcher, req Call) *liveCall {
	c := &liveCall{
		d: d, req: req, id: newCallID(), createdAt: time.Now(), argBytes: len(req.Args),
		retryErrors: make(chan *wire.CallError, 1),
		done:        make(chan struct{}),
	}
	c.root = c
	c.sender.Init(d.opts.ProgressInterval, req.Progress)
	c.activities.Init(activityOwner{c})
	return c
}

// Cancellation describes who cancelled a call and why. Pass a Cancellation as the cause of
// the context of [Dispatcher.Call]; without a cause, the error names the client as the canceller.
type Cancellation struct {
	CancelledBy string // CancelledBy names who cancelled the call, such as "the client"
	// Reason is the reason that the client or the user gave for the cancellation, without hidden
	// characters; empty if none was given.
	Reason string
}

// Error returns the text of the cancellation, such as "cancelled by the client".
func (c *Cancellation) Error() string {
	errorMessage := "cancelled by " + c.CancelledBy
	if c.Reason != "" {
		errorMessage += ": " + c.Reason
	}
	return errorMessage
}

// CancellationFrom returns the Cancellation that is the cause of ctx. If ctx has no Cancellation as
// its cause, CancellationFrom returns a Cancellation by the client.
func CancellationFrom(ctx context.Context) Cancellation {
	var c *Cancellation
	if errors.As(context.Cause(ctx), &c) {
		return *c
	}
	return Cancellation{CancelledBy: "the client"}
}

// The method validate runs before the gates, so that the user need not decide about an
// invalid call.
func (c *liveCall) validate() bool {
	_, err := c.req.targetChoice(nil)
	if err != nil {
		c.fail(err)
	}
	return err == nil
}

func (c *liveCall) run(ctx context.Context) {
	c.req.Trace.Record(hops.CheckpointAdmitted)
	for _, hook := range c.d.opts.BeforeHooks {
		if err := hook.BeforeCall(c.gateInfo(nil)); err != nil {
			c.fail(err)
			return
		}
	}
	if !c.req.Tool.TargetKind.isChosenBeforeGates() && !c.targetSearchCtx.Begin(ctx) {
		return
	}
	targets, targetProblem := c.chooseTargets()
	if targetProblem != nil && targetProblem.reloadTab != nil && requestReload(ctx, c, *targetProblem.reloadTab) {
		targets, targetProblem = c.chooseTargets()
	}
	if targetProblem != nil {
		failWithProblem(c, targetProblem)
		return
	}
	if !c.beginRunning() {
		return
	}
	targets = c.startAttempt(ctx, targets)
	var nextSendTimer <-chan time.Time // nextSendTimer fires when the rate limit permits the next notification
	for {
		select {
		case <-c.sender.WakeChan():
			nextSendTimer = c.sender.SendDueNotifications()
		case <-nextSendTimer:
			nextSendTimer = c.sender.SendDueNotifications()
		case err := <-c.retryErrors:
			if err.Code != wire.ErrNotReady && err.Code != wire.ErrTabFrozen { // after other errors, the list of targets is outdated
				if targets, targetProblem = c.chooseTargets(); targetProblem != nil {
					failWithProblem(c, targetProblem)
					continue
				}
			}
			targets = c.startAttempt(ctx, targets)
		case <-ctx.Done():
			c.cancel(CancellationFrom(ctx))
			return
		case <-c.done:
			return
		}
	}
}

func (c *liveCall) chooseTargets() ([]Target, *targetProblem) {
	if c.req.Tool.TargetKind.isChosenBeforeGates() {
		return []Target{c.chosenTarget.get()}, nil
	}
	want, err := c.req.targetChoice(c.d.opts.MayOpenTab)
	if err != nil {
		return nil, &targetProblem{err: err}
	}
	c.mu.Lock()
	want.IsReloadApproved = c.isReloadApproved
	c.mu.Unlock()
	return chooseTargets(c.d.bridge.Targets(&c.targetSearchCtx, want), want, &c.req)
}

func (c *liveCall) beginRunning() bool {
	idleLimit, hardLimit := c.d.opts.timeLimits(c.req.Tool)
	c.clock.Start(idleLimit, hardLimit, c.endAtLimit)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.state.begin() {
		return false
	}
	c.publish(EventRunning, c.state.startedAt, nil)
	return true
}

func (c *liveCall) startAttempt(ctx context.Context, targets []Target) []Target {
	c.mu.Lock()
	c.attempts.begin(c.id, targets)
	isFirstAttempt, hasEnded := c.attempts.count == 1, c.state.status.isTerminal()
	toolRun := Run{
		ID: c.attempts.runID, Plugin: c.req.Tool.Plugin, Tool: c.req.Tool.Name, Prompt: c.req.Tool.Prompt, TargetKind: c.req.Tool.TargetKind,
		Decision: c.suspension.decision, Args: c.req.Args, MaxResultBytes: c.d.opts.MaxResultBytes, Target: targets[0],
		Trace: c.req.Trace,
	}
	c.mu.Unlock()
	if hasEnded {
		return nil
	}
	if toolRun.TargetKind.isChosenBeforeGates() {
		toolRun.Client = c.req.Client
	}
	if !isFirstAttempt {
		// A lost link of the previous attempt must not suspend the idle limit of a new attempt.
		c.clock.ResumeIdleLimit()
	}
	toolRun.Trace.Record(hops.CheckpointTargetChosen)
	if err := c.d.bridge.Start(ctx, toolRun, sink{c}); err != nil {
		rejection := *err
		rejection.NotStarted = true
		sink{c}.Finish(nil, &rejection)
		return targets[1:]
	}
	// If the call was cancelled before Start, the page has not received the request to stop the tool,
	// so the dispatcher sends the request again.
	c.mu.Lock()
	isStopSent, err := c.state.isStopSent, c.state.err
	c.mu.Unlock()
	if isStopSent {
		c.d.bridge.Cancel(toolRun.ID, err.Message, func(StopOutcome) {})
	}
	return targets[1:]
}

// The method fail ends a call with an error, but sends the page no request to stop the tool.
// Callers use fail only while the tool's handler is not running.
func (c *liveCall) fail(err *wire.CallError) {
	c.endCall(callOutcome{status: failureStatusOf(err), err: err})
}

func (c *liveCall) cancel(cancellation Cancellation) bool {
	err := &wire.CallError{Code: wire.ErrCancelled, Message: cancellation.Error()}
	return c.endCall(callOutcome{status: statusCancelled, err: err, mustStopPage: true, reason: cancellation.Reason})
}

func (c *liveCall) endAtLimit(code wire.ErrorCode) {
	idleLimit, hardLimit := c.d.opts.timeLimits(c.req.Tool)
	err := &wire.CallError{Code: code, Message: "no progress and no result for " + humanize.Duration(idleLimit)}
	if code == wire.ErrDeadlineExceeded {
		err.Message = "it reached the hard limit of " + humanize.Duration(hardLimit)
	} else if callError := c.d.pageProblem(c, err.Message); callError != nil {
		err = callError
	}
	c.endCall(callOutcome{status: failureStatusOf(err), err: err, mustStopPage: true})
}

func (c *liveCall) endCall(e callOutcome) bool {
	note := c.d.buildFailureNote(c.req.Tool, e.err)
	c.clock.Stop()
	c.mu.Lock()
	if !c.state.setEnding(e, note, &c.clock) {
		c.mu.Unlock()
		return false
	}
	isStopSent, runID := c.state.isStopSent, c.attempts.runID
	c.sender.Close()
	if !c.d.hasAfterHookWork {
		c.req.Args = nil
	}
	c.suspension.clearTicket()
	if e.status == statusSucceeded {
		c.resultStart = events.NewResultStart(e.output)
	}
	if isStopSent {
		c.stopReplySignal = make(chan struct{})
	}
	c.publish(EventEnded, c.state.endedAt, nil)
	c.mu.Unlock()

	c.requests.rejectRequests(e.reason)
	c.d.removeCall(c)
	c.targetSearchCtx.End()
	close(c.done)
	if isStopSent {
		// The channel done must be closed before Cancel runs, because Cancel blocks if the link's buffer
		// is full.
		c.d.bridge.Cancel(runID, e.err.Message, c.recordStopped)
	}
	return true
}

func (c *liveCall) recordStopped(s StopOutcome) {
	c.mu.Lock()
	c.state.stopOutcome = s
	c.publish(EventStopped, time.Now(), nil)
	close(c.stopReplySignal)
	c.mu.Unlock()
}

// finalResult sends the last progress notifications and returns the result of Dispatcher.Call.
func (c *liveCall) finalResult() (Result, error) {
	c.mu.Lock()
	status, err, stopReplySignal := c.state.status, c.state.err, c.stopReplySignal
	c.mu.Unlock()
	if status != statusCancelled {
		c.sender.Flush()
	}
	if stopReplySignal != nil && err.Code != wire.ErrCancelled {
		timer := time.NewTimer(stopOutcomeTimeout)
		defer timer.Stop()
		select {
		case <-stopReplySignal:
		case <-timer.C:
		}
	}
	callResult, failure := c.resultAndError()
	if c.d.hasAfterHookWork {
		c.d.afterHookQueue.add(c, len(callResult.Output)+c.argBytes)
	}
	if failure != nil {
		return Result{}, failure
	}
	return callResult, nil
}

func (c *liveCall) resultAndError() (Result, *Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.err != nil {
		return Result{}, explainFailure(c.describeFailure())
	}
	r := Result{
		CallID: c.id, Output: c.state.output, Target: c.attempts.runTarget,
		RunTime: c.state.finalRunTime, ReportCount: c.reports.Count, Audience: c.reports.resultAudience,
	}
	if !c.d.hasAfterHookWork {
		c.state.output = nil
	}
	return r, nil
}

// runAfterHooks runs the AfterHooks of an ended call, logs its end, and releases its
// arguments and result.
func (c *liveCall) runAfterHooks() {
	if len(c.d.opts.AfterHooks) > 0 {
		callInfo, endedCall := describeOpenCall(c)
		for _, hook := range c.d.opts.AfterHooks {
			hook.AfterCall(callInfo, endedCall)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	logCallEnd(c)
	c.state.output, c.req.Args = nil, nil
}

func (c *liveCall) gateInfo(g Gate) CallInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := CallInfo{
		CallID: c.id, Tool: c.req.Tool, Args: c.req.Args, Client: c.req.Client,
		Caller: c.req.Caller, ParentCallID: c.req.ParentCallID, RootCallID: c.root.id, TraceParent: c.root.req.Trace.ParentSpan(), Browser: c.req.Browser, TabID: c.req.TabID, Target: c.chosenTarget.get(),
		HasBeenQueued: c.hasBeenQueued,
	}
	if g != nil {
		i.Resolution = c.suspension.lastResolution(g.Name())
	}
	return i
}

func (c *liveCall) arguments() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.req.Args
}

// The caller of logCallEnd holds liveCall.mu.
func logCallEnd(c *liveCall) {
	logEvent := c.d.opts.Log.Info()
	if err := c.state.err; err != nil {
		logEvent = c.d.opts.Log.Warn().Str("code", string(err.Code)).Str("stopped", string(c.state.stopOutcome))
		if c.state.reason != "" {
			logEvent.Str("reason", c.state.reason)
		}
	}
	logEvent.Str("call", c.id).Str("tool", c.req.Tool.FullName()).Str("client", c.req.Client.String()).
		Str("browser", c.attempts.runTarget.Browser).Int("tab", c.attempts.runTarget.TabID).Str("status", c.state.status.String()).
		Dur("ran_ms", c.state.finalRunTime).Int("reports", c.reports.Count).Msg("call ended")
}
