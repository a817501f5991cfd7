package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"opentabs/wire"
)

// liveCall is one call from its creation on. Its run method runs on the
// goroutine of Dispatcher.Call; reports and endings come from anywhere.
type liveCall struct {
	d       *Dispatcher
	req     Call
	id      string
	created time.Time
	// argBytes is the length of the arguments, which the end of the call drops.
	argBytes int
	number   uint64 // calls are numbered as they come in; guarded by d.mu
	clock    clock
	// wake holds a token when the meter has something new.
	wake chan struct{}
	// retry takes the error of a target in which the handler did not run, when
	// another one may be tried.
	retry chan *wire.CallError
	// parent is the call whose tool made this one; nil for one of a client.
	parent *liveCall
	depth  int // how many calls are above it
	nested nested
	// activities is safe for concurrent use by itself.
	activities activities
	// done is closed when the call has ended, answered when the page has
	// answered the stop.
	done     chan struct{}
	answered chan struct{}

	mu     sync.Mutex // guards all below; taken before stream.mu
	status Status
	target Target
	runID  string // of the run in target: the call's id, then with ".2" ...
	tries  int    // targets tried
	more   bool   // another target may be tried
	// interrupt ends the wait for a target; nil before it begins.
	interrupt context.CancelFunc
	begun     time.Time
	ended     time.Time
	took      time.Duration // from begun to ended, without the time it was suspended
	output    json.RawMessage
	err       *wire.CallError
	refusal   Verdict // the last Block of a gate
	// errNote is Options.FailureNote for the error, for the agent and for the user.
	errNote [2]string
	reason  string // why it was cancelled
	told    bool   // the page was told to stop
	stopped Stopped
	// ticket is what the call waits for; nil while it does not.
	ticket      *ticket
	resolutions []Resolution
	moments     []Moment
	decision    json.RawMessage // what the tool gets as context.decision

	reports    int
	invalid    int
	lastReport time.Time
	shown      numbers // the last valid numbers
	message    string  // the last message
	// userShown and userMessage are those of reports for people.
	userShown   numbers
	userMessage string
	// statusWord and userStatusWord came with message and userMessage.
	statusWord, userStatusWord string
	// resultText is the beginning of the result, once the call has succeeded.
	resultText  string
	endAudience string
	said        []LastMessage // the last messages
	meter       meter
}

func newLiveCall(d *Dispatcher, req Call) *liveCall {
	c := &liveCall{
		d: d, req: req, id: newCallID(), created: time.Now(), argBytes: len(req.Args),
		wake:     make(chan struct{}, 1),
		retry:    make(chan *wire.CallError, 1),
		done:     make(chan struct{}),
		answered: make(chan struct{}),
		meter:    meter{interval: d.opts.ProgressInterval},
	}
	c.activities.call = c
	return c
}

// Cancellation says who cancelled a call and why. As the cause of the context of
// [Dispatcher.Call] it ends the call so; any other cause stands for the client.
type Cancellation struct {
	By string // as in "the client"
	// Reason is what was given as the reason, cleaned by the caller; empty for none.
	Reason string
}

// Error implements error.
func (c *Cancellation) Error() string {
	text := "cancelled by " + c.By
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return text
}

// CancellationOf says who ended ctx and why.
func CancellationOf(ctx context.Context) Cancellation {
	var c *Cancellation
	if errors.As(context.Cause(ctx), &c) {
		return *c
	}
	return Cancellation{By: "the client"}
}

// sensible ends a call that names an instance which does not exist, before a
// person is asked about it. It reports whether it has not.
func (c *liveCall) sensible() bool {
	_, err := c.req.want(nil)
	if err != nil {
		c.fail(err)
	}
	return err == nil
}

// run starts the call in the best target and stays with it until it has ended,
// handing progress to the client meanwhile.
func (c *liveCall) run(ctx context.Context) {
	for _, hook := range c.d.opts.Before {
		if err := hook.Before(c.info(nil)); err != nil {
			c.fail(err)
			return
		}
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	c.mu.Lock()
	c.interrupt = stop
	over := c.status.Terminal()
	c.mu.Unlock()
	if over {
		return
	}
	targets, err := c.choose(waiting)
	if err != nil {
		c.fail(err)
		return
	}
	if !c.begin() {
		return
	}
	targets = c.start(ctx, targets)
	var due <-chan time.Time // when the next notification may be sent
	for {
		select {
		case <-c.wake:
			due = c.notify()
		case <-due:
			due = c.notify()
		case err := <-c.retry:
			if err.Code != wire.ErrNotReady && err.Code != wire.ErrTabFrozen { // what was known of the tabs is stale
				if targets, err = c.choose(waiting); err != nil {
					c.fail(err)
					continue
				}
			}
			targets = c.start(ctx, targets)
		case <-ctx.Done():
			c.cancel(CancellationOf(ctx))
			return
		case <-c.done:
			return
		}
	}
}

// choose returns the documents the call may run in, best first.
func (c *liveCall) choose(ctx context.Context) ([]Target, *wire.CallError) {
	want, err := c.req.want(c.d.opts.MayOpen)
	if err != nil {
		return nil, err
	}
	return chooseTargets(c.d.bridge.Targets(ctx, want), want, &c.req)
}

// begin makes the call Running and starts its clock. It reports false if the
// call has ended while it waited.
func (c *liveCall) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.status.CanBecome(StatusRunning) {
		return false
	}
	c.status, c.begun = StatusRunning, time.Now()
	idle, hard := c.d.Limits(c.req.Tool)
	c.clock.busy = func() bool { return c.nested.calling.Load() > 0 }
	c.clock.begin(idle, hard, c.expire)
	c.publish(EventRunning, nil)
	return true
}

// start hands the call to the first target and returns those that are left.
func (c *liveCall) start(ctx context.Context, targets []Target) []Target {
	target, rest := targets[0], targets[1:]
	c.mu.Lock()
	c.target, c.more = target, len(rest) > 0
	c.runID = c.id
	if c.tries++; c.tries > 1 {
		c.runID = fmt.Sprintf("%s.%d", c.id, c.tries)
	}
	id, over := c.runID, c.status.Terminal()
	args, decision := c.req.Args, c.decision
	c.mu.Unlock()
	if over {
		return nil
	}
	// A link that the try before waited for is none of this one's. Start tells of
	// its own.
	c.clock.release()
	err := c.d.bridge.Start(ctx, Run{
		ID: id, Plugin: c.req.Tool.Plugin, Tool: c.req.Tool.Name,
		Prompt: c.req.Tool.Prompt, Decision: decision,
		Args: args, MaxResultBytes: c.d.opts.MaxResultBytes, Target: target,
	}, c)
	if err == nil {
		c.stopIfOver()
		return rest
	}
	refused := *err
	refused.NotStarted = true
	c.Finish(nil, &refused)
	return rest
}

// stopIfOver tells the page to stop if the call ended before the bridge knew
// of it, so that the stop sent at the ending reached nobody.
func (c *liveCall) stopIfOver() {
	c.mu.Lock()
	id, over, err := c.runID, c.status.Terminal() && c.told, c.err
	c.mu.Unlock()
	if over {
		c.d.bridge.Cancel(id, err.Message, func(Stopped) {})
	}
}

// LinkLost implements Sink.
func (c *liveCall) LinkLost() { c.clock.hold() }

// LinkBack implements Sink.
func (c *liveCall) LinkBack() { c.clock.release() }

// Finish implements Sink.
func (c *liveCall) Finish(output json.RawMessage, err *wire.CallError) {
	if err == nil {
		c.end(ending{status: StatusSucceeded, output: output})
		return
	}
	c.mu.Lock()
	again := c.status == StatusRunning && c.tries < maxTries && c.elsewhere(err) && !c.nested.began()
	if again {
		c.more = false
	}
	c.mu.Unlock()
	if again {
		c.retry <- err
		return
	}
	c.fail(err)
}

// elsewhere reports whether the call may be tried in another document: the
// handler did not run in this one. A browser that says so of a call which has
// reported is not believed. The caller holds mu.
func (c *liveCall) elsewhere(err *wire.CallError) bool {
	if c.reports > 0 {
		return false
	}
	switch err.Code {
	case wire.ErrNotReady:
		return c.more
	case wire.ErrTabFrozen:
		return c.more && err.NotStarted
	case wire.ErrNavigated, wire.ErrTabClosed, wire.ErrPageCrashed, wire.ErrPageUnresponsive, wire.ErrTabDiscarded, wire.ErrBrowserLost, wire.ErrLinkLost:
		return err.NotStarted
	default:
		return false
	}
}

// fail ends the call with an error that did not come from its limits; the
// handler is not running, so nobody is told to stop.
func (c *liveCall) fail(err *wire.CallError) {
	c.end(ending{status: StatusFailed, err: err})
}

// cancel ends the call as cancelled.
func (c *liveCall) cancel(why Cancellation) bool {
	err := &wire.CallError{Code: wire.ErrCancelled, Message: why.Error()}
	return c.end(ending{status: StatusCancelled, err: err, tell: true, reason: why.Reason})
}

// expire ends the call because a limit was reached.
func (c *liveCall) expire(code wire.ErrorCode) {
	idle, hard := c.d.Limits(c.req.Tool)
	message := "no progress and no result for " + spell(idle)
	if code == wire.ErrDeadlineExceeded {
		message = "it reached the limit of " + spell(hard) + " that holds for every call"
	}
	err := &wire.CallError{Code: code, Message: message}
	if code == wire.ErrIdleTimeout {
		if stopped := c.stoppedPage(message); stopped != nil {
			err = stopped
		}
	}
	c.end(ending{status: StatusFailed, err: err, tell: true})
}

// ending is how a call ends.
type ending struct {
	status Status
	output json.RawMessage
	err    *wire.CallError
	tell   bool   // the page is told to stop, if the call was running
	reason string // why it was cancelled; empty if no reason was given
}

// end ends the call, once: it reports false if it had ended before.
func (c *liveCall) end(e ending) bool {
	note := c.failureNote(e.err)
	c.mu.Lock()
	if !c.status.CanBecome(e.status) {
		c.mu.Unlock()
		return false
	}
	c.told = e.tell && !c.begun.IsZero()
	told, runID, interrupt := c.told, c.runID, c.interrupt
	c.clock.stop()
	c.took = c.ran()
	c.status, c.ended, c.output, c.err, c.reason = e.status, time.Now(), e.output, e.err, e.reason
	c.req.Args, c.ticket, c.decision, c.errNote = nil, nil, nil, note
	c.publish(EventEnded, nil)
	c.mu.Unlock()

	c.nested.end(e.reason)
	c.d.remove(c)
	if interrupt != nil {
		interrupt()
	}
	if told {
		// done is closed first: a link that takes no more bytes may hold up the
		// stop, but not the client's error.
		close(c.done)
		c.d.bridge.Cancel(runID, e.err.Message, c.answer)
		return true
	}
	close(c.done)
	return true
}

// answer takes the page's answer to the stop.
func (c *liveCall) answer(s Stopped) {
	c.mu.Lock()
	c.stopped = s
	c.publish(EventStopped, nil)
	c.mu.Unlock()
	close(c.answered)
}

// outcome returns what Dispatcher.Call returns, after the last notification.
// It is called once, after the call has ended.
func (c *liveCall) outcome() (Result, error) {
	c.mu.Lock()
	status, told, err := c.status, c.told, c.err
	c.mu.Unlock()
	if status != StatusCancelled {
		c.flush()
	}
	if told && err.Code != wire.ErrCancelled {
		wait := time.NewTimer(stopWait)
		defer wait.Stop()
		select {
		case <-c.answered:
		case <-wait.C:
		}
	}
	c.after()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		e := c.explain()
		c.log(e)
		return Result{}, e
	}
	r := Result{
		CallID: c.id, Output: c.output, Target: c.target, Ran: c.ran(), Reports: c.reports, Audience: c.endAudience,
	}
	c.output = nil
	c.log(nil)
	return r, nil
}

// after runs the hooks that follow the end of the call.
func (c *liveCall) after() {
	if len(c.d.opts.After) == 0 {
		return
	}
	info := c.info(nil)
	c.mu.Lock()
	ended := Ended{View: c.viewLocked(), Target: c.target, Output: c.output, Resolutions: c.resolutions, LastMessages: c.said}
	c.mu.Unlock()
	for _, hook := range c.d.opts.After {
		hook.After(info, ended)
	}
}

// refuse returns the error of a call that was never taken in.
func (c *liveCall) refuse(code wire.ErrorCode, message string) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = &wire.CallError{Code: code, Message: message}
	c.status = StatusFailed
	return c.explain()
}

// ran is how long the call has run, or ran, without the time it was suspended.
// The caller holds mu.
func (c *liveCall) ran() time.Duration {
	switch {
	case c.begun.IsZero():
		return 0
	case c.ended.IsZero():
		return time.Duration(c.clock.elapsed())
	default:
		return c.took
	}
}

// log writes the call's line. The caller holds mu.
func (c *liveCall) log(e *Error) {
	line := c.d.opts.Log.Info()
	if e != nil {
		line = c.d.opts.Log.Warn().Str("code", string(e.Code)).Str("stopped", string(e.Stopped))
		if c.reason != "" {
			line.Str("reason", c.reason)
		}
	}
	line.Str("call", c.id).Str("tool", c.req.Tool.FullName()).Str("client", c.req.Client.String()).
		Str("browser", c.target.Browser).Int("tab", c.target.TabID).Str("status", c.status.String()).
		Dur("ran_ms", c.ran()).Int("reports", c.reports).Msg("call ended")
}
