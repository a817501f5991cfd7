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

// The default limits of a dispatcher.
const (
	DefaultIdleLimit        = 30 * time.Second
	DefaultMaxIdleLimit     = 5 * time.Minute
	DefaultHardLimit        = 5 * time.Minute
	DefaultProgressInterval = 100 * time.Millisecond
	DefaultMaxRunning       = 256
	DefaultMaxWaiting       = 20000
	DefaultSuspendLimit     = 5 * time.Minute
)

// maxWaitingBytes bounds the arguments of all waiting calls of one plugin. Above
// maxWaitingBytes, a call of the client with the most bytes fails with rate_limited.
const maxWaitingBytes = 256 << 20

// maxEndedCalls is the number of ended calls in lists.
const maxEndedCalls = 200

// maxEndedActivityBytes bounds the activities of all ended calls together, in bytes.
// Above maxEndedActivityBytes, the oldest ended calls lose their activities.
const maxEndedActivityBytes = 32 << 20

// stopOutcomeTimeout is how long a failed call waits for the page's answer to the stop,
// so that its error can include the answer. A tool that handles the stop answers within
// a few milliseconds.
const stopOutcomeTimeout = 50 * time.Millisecond

// Options configure a dispatcher. The zero value of each field means its default.
type Options struct {
	// IdleLimit ends a call that has made no report and returned nothing for this time.
	// Default 30 s.
	IdleLimit time.Duration
	// MaxIdleLimit is the longest idle limit of a tool. By default, MaxIdleLimit is
	// IdleLimit if set, else 5 min.
	MaxIdleLimit time.Duration
	// HardLimit ends a call that has run for this time. Default 5 min.
	HardLimit time.Duration
	// ProgressInterval is the least time between two notifications of one call. Default
	// 100 ms. Tests switch the limit off with a negative ProgressInterval: all reports
	// then stay in memory until the client has read them.
	ProgressInterval time.Duration
	// MaxRunningCalls is the maximum of calls of one plugin that run at once; more
	// calls wait. Default 256.
	MaxRunningCalls int
	// MaxWaitingCalls is the maximum of waiting calls of one plugin. Default 20,000. Above
	// MaxWaitingCalls, a call of the client with the most waiting calls fails with
	// rate_limited.
	MaxWaitingCalls int
	// MaxResultBytes is the largest result, in bytes. Default
	// wire.DefaultMaxResultBytes. A larger result fails with result_too_large.
	MaxResultBytes int
	// SuspendLimit is how long a call may wait for the user in total. Suspensions of
	// nested calls count. Default 5 min. After SuspendLimit the call fails with
	// approval_timeout. HardLimit plus SuspendLimit bound a call that has begun.
	SuspendLimit time.Duration
	// Gates decide which calls may run, in the order of the list. By default there are
	// no gates, and all calls run.
	Gates []Gate
	// BeforeHooks run before each allowed call, in the order of the list. Default none.
	BeforeHooks []BeforeHook
	// AfterHooks run a few milliseconds after each call has returned, in the order of the
	// list and one call at a time. Default none.
	AfterHooks []AfterHook
	// OpenHook runs for each call that has not ended after a short time. Default none.
	OpenHook OpenHook
	// OnWaitingChange receives the number of calls that wait for the user after each
	// change, in order and never concurrently. OnWaitingChange must not block. Default:
	// none.
	OnWaitingChange func(calls int)
	// ResolveTool finds the tool that parent calls by name: a short name in the same
	// plugin, or <plugin>__<tool>. ResolveTool validates args and returns them as they
	// are sent to the page. By default, no tool can call another.
	ResolveTool func(parent Tool, name string, args json.RawMessage) (Tool, json.RawMessage, *wire.CallError)
	// MayOpenTab reports whether a call of a plugin may open a tab if no tab matches.
	// MayOpenTab is safe for concurrent use. By default no call may open a tab.
	MayOpenTab func(plugin string) bool
	// CurrentTab returns the tab in which a browser tool runs if its call names none:
	// the browser's ID and the tab's ID, zero values for none. CurrentTab is safe for
	// concurrent use. By default, there is no such tab.
	CurrentTab func(Call) (browser string, tabID int)
	// ShapeOutput returns the output of a browser tool as agents receive it, or the error
	// with which the call fails. ShapeOutput does not block and is safe for concurrent
	// use. By default, the output is unchanged.
	ShapeOutput func(CallInfo, json.RawMessage) (json.RawMessage, *wire.CallError)
	// ShownArgs returns the arguments of a browser tool in the form that requests for
	// approval show. ShownArgs does not block and is safe for concurrent use. By default,
	// requests for approval show all arguments.
	ShownArgs func(CallInfo) json.RawMessage
	// FailureNote returns additional sentences for the error of a failed tool: one for
	// the agent and one for the user. FailureNote does not block and is safe for
	// concurrent use. Default: none.
	FailureNote func(Tool) (agentText, userText string)
	// Log receives one line for each ended call. Default: no log.
	Log zerolog.Logger
}

// Dispatcher runs calls. New makes a Dispatcher.
type Dispatcher struct {
	bridge         Bridge
	opts           Options
	queue          *queue.Queue
	tabQueue       *queue.Queue // one place for each tab, for exclusive calls
	stream         events.Stream
	suspendedCalls suspendedCalls
	// hasAfterWork is set if there are after hooks or a log.
	hasAfterWork bool
	afterQueue   afterQueue

	mu            sync.Mutex           // guards all fields below; no other lock is taken while mu is held
	liveCalls     map[string]*liveCall // the calls that have not ended, by call ID
	endedCalls    []*liveCall          // the last ended calls, oldest first
	acceptedCount uint64               // the number of calls so far
	isClosed      bool
	openHookTimer openHookTimer

	// runningCalls counts the calls that have not returned. Only addCall increases
	// runningCalls, with mu locked.
	runningCalls sync.WaitGroup
}

// New returns a dispatcher that runs calls through bridge.
func New(bridge Bridge, o Options) *Dispatcher {
	setDefault(&o.MaxIdleLimit, o.IdleLimit)
	setDefault(&o.MaxIdleLimit, DefaultMaxIdleLimit)
	setDefault(&o.IdleLimit, DefaultIdleLimit)
	setDefault(&o.HardLimit, DefaultHardLimit)
	setDefault(&o.ProgressInterval, DefaultProgressInterval)
	setDefault(&o.MaxRunningCalls, DefaultMaxRunning)
	setDefault(&o.MaxWaitingCalls, DefaultMaxWaiting)
	setDefault(&o.MaxResultBytes, wire.DefaultMaxResultBytes)
	setDefault(&o.SuspendLimit, DefaultSuspendLimit)
	return &Dispatcher{
		bridge:    bridge,
		opts:      o,
		queue:     queue.New(queue.Limits{MaxRunning: o.MaxRunningCalls, MaxWaiting: o.MaxWaitingCalls, MaxBytes: maxWaitingBytes}),
		tabQueue:  queue.New(queue.Limits{MaxRunning: 1, MaxWaiting: o.MaxWaitingCalls, MaxBytes: maxWaitingBytes}),
		liveCalls: map[string]*liveCall{},

		suspendedCalls: suspendedCalls{notify: o.OnWaitingChange},
		hasAfterWork:   len(o.AfterHooks) > 0 || o.Log.Warn().Enabled(),
		afterQueue:     afterQueue{work: (*liveCall).runAfterHooks},
	}
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// timeLimits returns the idle limit and the hard limit of calls of t.
func (d *Dispatcher) timeLimits(t Tool) (idleLimit, hardLimit time.Duration) {
	idleLimit, hardLimit = d.opts.IdleLimit, d.opts.HardLimit
	if t.IdleLimit > 0 {
		idleLimit = min(t.IdleLimit, d.opts.MaxIdleLimit)
	}
	if t.HardLimit > 0 {
		hardLimit = min(t.HardLimit, hardLimit)
	}
	return idleLimit, hardLimit
}

// Call runs one call to its end. The error, if any, is an *Error with a code of
// wire.ErrorCode. When ctx ends, the call is cancelled and its page receives a stop.
func (d *Dispatcher) Call(ctx context.Context, req Call) (Result, error) {
	return d.call(ctx, newLiveCall(d, req))
}

// call runs a new liveCall, which may be nested, to its end.
func (d *Dispatcher) call(ctx context.Context, c *liveCall) (Result, error) {
	if !d.addCall(c) {
		return Result{}, explainFailure(failure{callID: c.id, tool: c.req.Tool, err: shutdownError()})
	}
	defer d.runningCalls.Done()
	switch {
	case !c.validate(), !c.place.choose(ctx, c), !c.passGates(ctx), !c.place.checkPage(c):
	case c.parent != nil && !c.req.Tool.IsExclusive: // the root call has a place in the queue; waiting for a second place could deadlock
		c.run(ctx)
	default:
		d.runInTurn(ctx, c)
	}
	return c.finalResult()
}

// runInTurn waits for a place in the queue and runs c.
func (d *Dispatcher) runInTurn(ctx context.Context, c *liveCall) {
	q, lane := d.queue, c.req.Tool.Plugin
	if c.req.Tool.IsExclusive {
		target := c.place.get()
		q, lane = d.tabQueue, fmt.Sprintf("tab %d of %s", target.TabID, target.Browser)
	}
	place, rejection := q.Enter(lane, c.req.Client.Session, c.argBytes)
	if rejection != nil {
		c.fail(rejection)
		return
	}
	defer q.Leave(lane, place)
	select {
	case <-place.Ready():
		if ctx.Err() != nil { // a call of a disconnected client must not start, even if its place is ready
			c.cancel(CancellationOf(ctx))
			break
		}
		if rejection := q.Rejection(place); rejection != nil {
			c.fail(rejection)
			break
		}
		if d.isShutDown() { // Shutdown ends calls one by one, so a waiting call may get a place first
			c.fail(shutdownError())
			break
		}
		c.run(ctx)
	case <-c.done:
	case <-ctx.Done():
		c.cancel(CancellationOf(ctx))
	}
}

// Cancel ends a call as cancelled. cancelledBy is the surface that cancels, such as
// "the side panel"; reason may be empty and has no hidden characters. Cancel returns
// false if the call has ended or is unknown.
func (d *Dispatcher) Cancel(callID, cancelledBy, reason string) bool {
	d.mu.Lock()
	c := d.liveCalls[callID]
	d.mu.Unlock()
	return c != nil && c.cancel(Cancellation{CancelledBy: cancelledBy, Reason: reason})
}

// Calls returns the calls that run or wait, oldest first, and after them the last
// 200 ended calls, newest first.
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

// snapshotCalls returns the calls that run or wait, in any order, and the last ended
// calls, oldest first.
func (d *Dispatcher) snapshotCalls() (liveCalls, endedCalls []*liveCall) {
	d.mu.Lock()
	defer d.mu.Unlock()
	liveCalls = make([]*liveCall, 0, len(d.liveCalls))
	for _, c := range d.liveCalls {
		liveCalls = append(liveCalls, c)
	}
	return liveCalls, slices.Clone(d.endedCalls)
}

// Find returns the call with this ID, if it runs, waits, or is one of the last 200
// ended calls. The view includes activities and timeline, which lists omit.
func (d *Dispatcher) Find(callID string) (View, bool) {
	c := d.find(callID)
	if c == nil {
		return View{}, false
	}
	return c.fullView(), true
}

// find returns the call with this ID; nil if it is unknown.
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

// Follow returns a follower of events. Close the Follower after use.
func (d *Dispatcher) Follow(o FollowOptions) *Follower { return d.stream.Follow(o) }

// Shutdown fails all calls with the code shutdown and rejects new calls. Drain, not
// Shutdown, waits for the calls to return.
func (d *Dispatcher) Shutdown() {
	d.mu.Lock()
	d.isClosed = true
	d.mu.Unlock()
	liveCalls, _ := d.snapshotCalls()
	for _, c := range liveCalls {
		c.end(ending{status: statusFailed, err: shutdownError(), stopPage: true})
	}
	d.stream.WakeFollowers()
}

// isShutDown reports whether Shutdown was called.
func (d *Dispatcher) isShutDown() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.isClosed
}

func shutdownError() *wire.CallError {
	return &wire.CallError{Code: wire.ErrShutdown, Message: "the server is stopping"}
}

// Drain waits, after Shutdown, until all calls have returned and their hooks have run,
// and returns ctx's error if ctx ends first.
func (d *Dispatcher) Drain(ctx context.Context) error {
	allReturned := make(chan struct{})
	go func() {
		d.runningCalls.Wait()
		d.afterQueue.flush()
		close(allReturned)
	}()
	select {
	case <-allReturned:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// addCall adds c to the calls that Find and Calls return. addCall returns false after
// Shutdown. A call that Job.Cancel has already cancelled is not added.
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
		d.acceptedCount++
		c.arrivalNumber = d.acceptedCount
		d.liveCalls[c.id] = c
		d.openHookTimer.set(d)
	}
	d.mu.Unlock()
	if !hasEnded {
		c.publish(EventCreated, time.Now(), nil) // c.mu is locked, so that EventCreated is the first event of the call
	}
	return true
}

// removeCall moves c from the live calls to the ended calls.
func (d *Dispatcher) removeCall(c *liveCall) {
	d.mu.Lock()
	delete(d.liveCalls, c.id)
	if len(d.endedCalls) == maxEndedCalls {
		d.endedCalls[0] = nil
		d.endedCalls = d.endedCalls[1:] // append copies endedCalls once in a few hundred calls
	}
	d.endedCalls = append(d.endedCalls, c)
	d.mu.Unlock()
	if c.activities.Size() > 0 {
		d.trimActivities()
	}
}

// trimActivities drops the activities of ended calls beyond maxEndedActivityBytes.
func (d *Dispatcher) trimActivities() {
	_, endedCalls := d.snapshotCalls()
	totalBytes := 0
	for _, c := range slices.Backward(endedCalls) {
		if totalBytes += c.activities.Size(); totalBytes > maxEndedActivityBytes {
			c.activities.Clear()
		}
	}
}

// newCallID returns an ID that can't be guessed: 130 random bits.
func newCallID() string {
	const prefix, letters = "call_", "abcdefghijklmnopqrstuvwxyz234567"
	var id [len(prefix) + 26]byte
	copy(id[:], prefix)
	random := id[len(prefix):]
	_, _ = rand.Read(random) // never fails
	for i, b := range random {
		random[i] = letters[b%byte(len(letters))]
	}
	return string(id[:])
}
