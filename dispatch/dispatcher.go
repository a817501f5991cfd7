package dispatch

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch/events"
	"opentabs/dispatch/queue"
	"opentabs/wire"
)

// These constants are the default limits of a dispatcher, for fields of Options that are
// zero.
const (
	DefaultIdleLimit        = 30 * time.Second
	DefaultMaxIdleLimit     = 5 * time.Minute
	DefaultHardLimit        = 5 * time.Minute
	DefaultProgressInterval = 100 * time.Millisecond
	DefaultMaxRunningCalls  = 256
	DefaultMaxWaitingCalls  = 20000
	DefaultSuspendLimit     = 5 * time.Minute
)

// maxWaitingBytes limits the total size of the arguments of a plugin's waiting calls.
// Above maxWaitingBytes, a waiting call of the client whose arguments are largest in total
// fails with rate_limited.
const maxWaitingBytes = 256 << 20

// maxEndedCalls is the number of ended calls that a dispatcher keeps in memory for lists.
const maxEndedCalls = 200

// maxEndedActivityBytes limits the total size of the activities of all ended calls. Above
// maxEndedActivityBytes, the dispatcher drops the activities of the oldest ended calls.
const maxEndedActivityBytes = 32 << 20

// stopOutcomeTimeout is how long a failed call waits for the page to report whether the tool stopped, because the error
// text includes the report.
const stopOutcomeTimeout = 50 * time.Millisecond

// Options configure a dispatcher. The zero value of a field selects the field's default.
type Options struct {
	// IdleLimit is the longest time a running call may go without a progress report, by
	// default 30 s.
	IdleLimit time.Duration
	// MaxIdleLimit is the longest idle limit that a tool may declare, by default IdleLimit if
	// set, else 5 min.
	MaxIdleLimit time.Duration
	// HardLimit is the longest time a call may run in total, by default 5 min.
	HardLimit time.Duration
	// ProgressInterval is the shortest time between two progress notifications of one call, by
	// default 100 ms. A negative ProgressInterval, for tests, disables the rate limit and
	// keeps all reports in memory until the client has read them.
	ProgressInterval time.Duration
	// MaxRunningCalls is how many calls of one plugin may run at once, by default 256. Further
	// calls wait.
	MaxRunningCalls int
	// MaxWaitingCalls is how many calls of one plugin may wait, by default 20,000. If more
	// than MaxWaitingCalls calls wait, one call of the client that has the most waiting
	// calls fails with rate_limited.
	MaxWaitingCalls int
	// MaxResultBytes is the maximum size of a tool's result, by default
	// wire.DefaultMaxResultBytes. A call with a larger result fails with result_too_large.
	MaxResultBytes int
	// SuspendLimit is how long a call and its nested calls may wait for the user in total, by
	// default 5 min. After SuspendLimit, the call fails with approval_timeout. A call that has
	// begun ends at the latest after HardLimit plus SuspendLimit.
	SuspendLimit time.Duration
	// Gates decide, in the order of the list, which calls may run. By default, every call may run.
	Gates []Gate
	// BeforeHooks run before each allowed call, in the order of the list. By default, no
	// hook runs before a call.
	BeforeHooks []BeforeHook
	// AfterHooks run about 20 ms after each call has returned, in the order of the list
	// and for one call at a time. By default, no hook runs after a call.
	AfterHooks []AfterHook
	// ReceiveLateAnswer receives an answer that a page sent before it received the stop of its call. ReceiveLateAnswer
	// must be safe for concurrent use. By default, such answers are dropped.
	ReceiveLateAnswer func(callID string, lateAnswer LateAnswer)
	// OpenCallHook runs within 500 ms after a call arrives, unless the call has ended. By
	// default, no such hook runs.
	OpenCallHook OpenCallHook
	// OnWaitingCountChange receives the number of calls that wait for the user whenever the number
	// changes. OnWaitingCountChange must not block, and is never called concurrently. By default,
	// the dispatcher reports the number to no function.
	OnWaitingCountChange func(calls int)
	// ResolveTool finds a tool that the tool parent calls. The argument name is the tool's short name in the same
	// plugin, or <plugin>__<tool>. The arguments that ResolveTool returns are validated, in the form that the page
	// receives. By default, no tool can call another tool.
	ResolveTool func(parent Tool, name string, args json.RawMessage) (Tool, json.RawMessage, *wire.CallError)
	// MayOpenTab reports whether a call of a plugin may open a tab if no tab matches.
	// MayOpenTab must be safe for concurrent use. By default, no call opens a tab.
	MayOpenTab func(plugin string) bool
	// CurrentTab returns the browser ID and tab ID for a call of a browser tool that names no
	// tab, or zero values for no tab. CurrentTab must be safe for concurrent use. By default,
	// a call of a browser tool without tab arguments has no tab.
	CurrentTab func(Call) (browser string, tabID int)
	// ShapeOutput converts the output of a browser tool to the form that agents receive, or
	// returns the error with which the call fails. ShapeOutput must not block and must be safe
	// for concurrent use. By default, agents receive the output of browser tools unchanged.
	ShapeOutput func(CallInfo, json.RawMessage) (json.RawMessage, *wire.CallError)
	// MaskArgs returns the arguments of a browser tool as requests for approval show them,
	// for example without secrets. MaskArgs must not block and must be safe for concurrent
	// use. By default, requests for approval show all arguments.
	MaskArgs func(CallInfo) json.RawMessage
	// FailureNote returns additional sentences for the error of a failed tool: one for the
	// agent and one for the user. FailureNote must not block and must be safe for concurrent
	// use. By default, the error of a failed tool gets no additional sentences.
	FailureNote func(Tool) (agentText, userText string)
	// Log receives one line for each ended call. By default, the dispatcher logs nothing.
	Log zerolog.Logger
}

// Dispatcher runs calls of tools. Use New to create a Dispatcher.
type Dispatcher struct {
	bridge         Bridge
	opts           Options
	queue          *queue.Queue
	tabQueue       *queue.Queue
	stream         events.Stream
	suspendedCalls suspendedCalls
	// hasAfterHookWork is true if ended calls need AfterHooks or a log line.
	hasAfterHookWork bool
	afterHookQueue   afterHookQueue

	mu                sync.Mutex // the mutex guards all fields below; no other lock is acquired while mu is held
	liveCalls         map[string]*liveCall
	endedCalls        []*liveCall
	acceptedCallCount uint64
	isClosed          bool
	openCallHookTimer openCallHookTimer

	// runningCalls counts the executions of Dispatcher.Call that have not returned. Only
	// addCall increases runningCalls, with Dispatcher.mu locked.
	runningCalls sync.WaitGroup
}

// New returns a dispatcher that runs calls through bridge.
func New(bridge Bridge, o Options) *Dispatcher {
	setIfZero(&o.MaxIdleLimit, o.IdleLimit)
	setIfZero(&o.MaxIdleLimit, DefaultMaxIdleLimit)
	setIfZero(&o.IdleLimit, DefaultIdleLimit)
	setIfZero(&o.HardLimit, DefaultHardLimit)
	setIfZero(&o.ProgressInterval, DefaultProgressInterval)
	setIfZero(&o.MaxRunningCalls, DefaultMaxRunningCalls)
	setIfZero(&o.MaxWaitingCalls, DefaultMaxWaitingCalls)
	setIfZero(&o.MaxResultBytes, wire.DefaultMaxResultBytes)
	setIfZero(&o.SuspendLimit, DefaultSuspendLimit)
	return &Dispatcher{
		bridge:    bridge,
		opts:      o,
		queue:     queue.New(queue.Limits{MaxRunning: o.MaxRunningCalls, MaxWaiting: o.MaxWaitingCalls, MaxBytes: maxWaitingBytes}),
		tabQueue:  queue.New(queue.Limits{MaxRunning: 1, MaxWaiting: o.MaxWaitingCalls, MaxBytes: maxWaitingBytes}),
		liveCalls: map[string]*liveCall{},

		suspendedCalls:   suspendedCalls{notify: o.OnWaitingCountChange},
		hasAfterHookWork: len(o.AfterHooks) > 0 || o.Log.Warn().Enabled(),
		afterHookQueue:   afterHookQueue{processEndedCall: (*liveCall).runAfterHooks},
	}
}

func setIfZero[T comparable](v *T, d T) {
	var zeroValue T
	if *v == zeroValue {
		*v = d
	}
}

func (o *Options) timeLimits(t Tool) (idleLimit, hardLimit time.Duration) {
	idleLimit, hardLimit = o.IdleLimit, o.HardLimit
	if t.IdleLimit > 0 {
		idleLimit = min(t.IdleLimit, o.MaxIdleLimit)
	}
	if t.HardLimit > 0 {
		hardLimit = min(t.HardLimit, hardLimit)
	}
	return idleLimit, hardLimit
}

// Call runs one call and returns when the call has ended. If the call fails, Call returns an
// *Error. If ctx ends, the call is cancelled, and the page receives a request to stop the tool.
func (d *Dispatcher) Call(ctx context.Context, req Call) (Result, error) {
	return d.call(ctx, newLiveCall(d, req))
}

func (d *Dispatcher) call(ctx context.Context, c *liveCall) (Result, error) {
	if !d.addCall(c) {
		return Result{}, explainFailure(failure{callID: c.id, tool: c.req.Tool, err: shutdownError()})
	}
	defer d.runningCalls.Done()
	switch {
	case !c.validate(), !c.chosenTarget.choose(ctx, c), !c.passGates(ctx), !c.chosenTarget.checkPage(c):
	case c.parent != nil && !c.req.Tool.IsExclusive:
		c.run(ctx)
	default:
		d.waitAndRun(ctx, c)
	}
	return c.finalResult()
}

// waitAndRun runs the call when the queue has a place for it. If the call then needs an approval, it leaves the queue
// until the user has decided.
func (d *Dispatcher) waitAndRun(ctx context.Context, c *liveCall) {
	for !enterQueueAndRun(ctx, c) {
		if !c.passGates(ctx) || !c.chosenTarget.checkPage(c) {
			return
		}
	}
}

// enterQueueAndRun waits for a place in the queue and runs the call. While the call waits, the user can change
// permissions. If the gates then no longer allow the call, enterQueueAndRun leaves the queue and returns false.
func enterQueueAndRun(ctx context.Context, c *liveCall) bool {
	d := c.d
	q, queueName := d.queue, c.req.Tool.Plugin
	if c.req.Tool.IsExclusive {
		target := c.chosenTarget.get()
		q, queueName = d.tabQueue, fmt.Sprintf("tab %d of %s", target.TabID, target.Browser)
	}
	queuePlace, rejection := q.Enter(queueName, c.req.Client.Session, c.argBytes)
	if rejection != nil {
		c.fail(rejection)
		return true
	}
	defer q.Leave(queueName, queuePlace)
	select {
	case <-queuePlace.Granted():
		if ctx.Err() != nil { // a disconnected client's call must not start, even if the queue has a place for it
			c.cancel(CancellationFrom(ctx))
			break
		}
		if rejection := q.Rejection(queuePlace); rejection != nil {
			c.fail(rejection)
			break
		}
		if d.isShutDown() { // Shutdown ends calls one by one, so a waiting call may get a place before Shutdown reaches it
			c.fail(shutdownError())
			break
		}
		if queuePlace.HasWaited() && !isStillAllowed(c) {
			return false
		}
		c.run(ctx)
	case <-c.done:
	case <-ctx.Done():
		c.cancel(CancellationFrom(ctx))
	}
	return true
}

// Cancel cancels a call, and returns false if the call has ended or is unknown.
// cancelledBy names the surface on which the call is cancelled, such as "the side panel".
// The caller must remove hidden characters from reason, which may be empty.
func (d *Dispatcher) Cancel(callID, cancelledBy, cancelReason string) bool {
	d.mu.Lock()
	c := d.liveCalls[callID]
	d.mu.Unlock()
	return c != nil && c.cancel(Cancellation{CancelledBy: cancelledBy, Reason: cancelReason})
}

// Calls returns all calls that run or wait, oldest first, followed by the last 200 ended
// calls, newest first.
func (d *Dispatcher) Calls() []View {
	liveCalls, endedCalls := d.snapshotCalls()
	slices.SortFunc(liveCalls, func(a, b *liveCall) int {
		return cmp.Compare(a.arrivalNumber, b.arrivalNumber)
	})
	slices.Reverse(endedCalls)
	views := make([]View, 0, len(liveCalls)+len(endedCalls))
	for _, c := range append(liveCalls, endedCalls...) {
		views = append(views, c.listView())
	}
	return views
}

func (d *Dispatcher) snapshotCalls() (liveCalls, endedCalls []*liveCall) {
	d.mu.Lock()
	defer d.mu.Unlock()
	liveCalls = make([]*liveCall, 0, len(d.liveCalls))
	for _, c := range d.liveCalls {
		liveCalls = append(liveCalls, c)
	}
	return liveCalls, slices.Clone(d.endedCalls)
}

// Find returns a call by its ID if the call runs, waits, or is one of the last 200 ended
// calls. The View that Find returns includes the call's activities and timeline, which the
// Views that Calls returns omit.
func (d *Dispatcher) Find(callID string) (View, bool) {
	c := d.find(callID)
	if c == nil {
		return View{}, false
	}
	return c.fullView(), true
}

func (d *Dispatcher) find(callID string) *liveCall {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.liveCalls[callID]; c != nil {
		return c
	}
	if i := slices.IndexFunc(d.endedCalls, func(c *liveCall) bool { return c.id == callID }); i >= 0 {
		return d.endedCalls[i]
	}
	return nil
}

// Subscribe returns a Subscriber, which reads the events of calls. The caller must close the Subscriber.
func (d *Dispatcher) Subscribe(o SubscribeOptions) *Subscriber { return d.stream.Subscribe(o) }

// Shutdown fails all calls with the code shutdown and rejects new calls. Shutdown does not
// wait for the calls to return; see WaitForHooks.
func (d *Dispatcher) Shutdown() {
	d.mu.Lock()
	d.isClosed = true
	d.mu.Unlock()
	liveCalls, _ := d.snapshotCalls()
	for _, c := range liveCalls {
		c.endCall(callOutcome{status: statusFailed, err: shutdownError(), mustStopPage: true})
	}
	d.stream.WakeSubscribers()
}

func (d *Dispatcher) isShutDown() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.isClosed
}

func shutdownError() *wire.CallError {
	return &wire.CallError{Code: wire.ErrShutdown, Message: "the server is stopping"}
}

// WaitForHooks blocks until all calls have returned and their hooks have run. Call WaitForHooks only
// after Shutdown. If ctx ends first, WaitForHooks returns the error of ctx.
func (d *Dispatcher) WaitForHooks(ctx context.Context) error {
	hooksReturned := make(chan struct{})
	go func() {
		d.runningCalls.Wait()
		d.afterHookQueue.flush()
		close(hooksReturned)
	}()
	select {
	case <-hooksReturned:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// RunAfterHooks runs the AfterHooks of all calls that have returned, without their usual delay.
func (d *Dispatcher) RunAfterHooks() { d.afterHookQueue.flush() }

func (d *Dispatcher) addCall(c *liveCall) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	d.mu.Lock()
	if d.isClosed {
		d.mu.Unlock()
		return false
	}
	d.runningCalls.Add(1)
	hasEnded := c.state.status.isTerminal()
	if !hasEnded {
		d.acceptedCallCount++
		c.arrivalNumber = d.acceptedCallCount
		d.liveCalls[c.id] = c
		d.openCallHookTimer.startTimer(d)
	}
	d.mu.Unlock()
	if !hasEnded {
		c.publish(EventCreated, time.Now(), nil) // c.mu is locked, so EventCreated is the call's first event
	}
	return true
}

func (d *Dispatcher) removeCall(c *liveCall) {
	d.mu.Lock()
	delete(d.liveCalls, c.id)
	if len(d.endedCalls) == maxEndedCalls {
		d.endedCalls[0] = nil
		d.endedCalls = d.endedCalls[1:]
	}
	d.endedCalls = append(d.endedCalls, c)
	d.mu.Unlock()
	if c.activities.Size() > 0 {
		d.trimActivities()
	}
}

func (d *Dispatcher) trimActivities() {
	_, endedCalls := d.snapshotCalls()
	totalBytes := 0
	for _, c := range slices.Backward(endedCalls) {
		if totalBytes += c.activities.Size(); totalBytes > maxEndedActivityBytes {
			c.activities.Clear()
		}
	}
}

func newCallID() string {
	const prefix, idAlphabet = "call_", "abcdefghijklmnopqrstuvwxyz234567"
	var id [len(prefix) + 26]byte
	copy(id[:], prefix)
	randomPart := id[len(prefix):]
	_, _ = rand.Read(randomPart)
	for i, b := range randomPart {
		randomPart[i] = idAlphabet[b%byte(len(idAlphabet))]
	}
	return string(id[:])
}
