package dispatch

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch/queue"
	"opentabs/wire"
)

// The default limits of a dispatcher.
const (
	DefaultIdle             = 30 * time.Second
	DefaultMaxIdle          = 5 * time.Minute
	DefaultHard             = 5 * time.Minute
	DefaultProgressInterval = 100 * time.Millisecond
	DefaultMaxRunning       = 256
	DefaultMaxWaiting       = 20000
	DefaultSuspendLimit     = 5 * time.Minute
)

// maxWaitingBytes bounds the arguments of all waiting calls of one plugin. Beyond
// that a call of the client with the most bytes fails with rate_limited.
const maxWaitingBytes = 256 << 20

// keepEnded is the number of ended calls in lists.
const keepEnded = 200

// maxEndedActivity bounds the activities of all ended calls together, in bytes.
// Beyond that the oldest calls lose their activities.
const maxEndedActivity = 32 << 20

// stopWait is how long a failed call waits for the page's answer to the stop, so
// that its error can include the answer. A handler that honours its signal answers
// within a few milliseconds.
const stopWait = 50 * time.Millisecond

// Options configure a dispatcher. The zero value of each field means its default.
type Options struct {
	// Idle ends a call that has made no report and returned nothing for this time.
	// Default 30 s.
	Idle time.Duration
	// MaxIdle is the longest idle limit of a tool. Default 5 min, or Idle if that is
	// set.
	MaxIdle time.Duration
	// Hard ends a call that has run for this time. Default 5 min.
	Hard time.Duration
	// ProgressInterval is the least time between two notifications of one call.
	// Default 100 ms. A negative value switches the limit off, for tests: then all
	// reports stay in memory until the client has read them.
	ProgressInterval time.Duration
	// MaxRunning is the maximum of calls of one plugin that run at once; others wait.
	// Default 256.
	MaxRunning int
	// MaxWaiting is the maximum of waiting calls of one plugin. Default 20,000. Beyond
	// that a call of the client with the most waiting calls fails with rate_limited.
	MaxWaiting int
	// MaxResultBytes is the largest result, in bytes. Default
	// wire.DefaultMaxResultBytes. A larger result fails with result_too_large.
	MaxResultBytes int
	// SuspendLimit is how long a call may wait for the user in total. The suspensions
	// of its nested calls count too. Default 5 min; after that it fails with
	// approval_timeout. Hard and SuspendLimit together bound a call that has begun.
	SuspendLimit time.Duration
	// Gates decide which calls may run, in this order. By default there are no
	// gates, and all calls run.
	Gates []Gate
	// Before are hooks that run before each allowed call, in this order. Default none.
	Before []Before
	// After are hooks that run after each call, in this order. Default none.
	After []After
	// Waiting receives the number of calls that wait for the user after each change, in
	// order and never concurrently. Waiting must not block. Default: none.
	Waiting func(calls int)
	// Resolve finds the tool that a tool of parent calls by name: that of a tool of the
	// same plugin, or <plugin>__<tool>. Resolve validates args and returns them as they
	// should be sent. Default: no tool can call another.
	Resolve func(parent Tool, name string, args json.RawMessage) (Tool, json.RawMessage, *wire.CallError)
	// MayOpen reports whether calls of a plugin may open a tab if there is none.
	// MayOpen is safe for concurrent use. By default no call may open a tab.
	MayOpen func(plugin string) bool
	// FailureNote returns additional sentences for the error of a failed tool: one for
	// the agent and one for the user. FailureNote does not block and is safe for
	// concurrent use. Default: none.
	FailureNote func(Tool) (forAgent, forUser string)
	// Log receives one line for each ended call. Default: no log.
	Log zerolog.Logger
}

// Dispatcher runs calls. New makes a Dispatcher.
type Dispatcher struct {
	bridge    Bridge
	opts      Options
	queue     *queue.Queue
	stream    stream
	suspended suspendedCount

	mu       sync.Mutex           // guards all fields below; no other lock is taken while mu is held
	live     map[string]*liveCall // by call ID
	ended    []*liveCall          // the last ended calls, oldest first
	accepted uint64               // the number of calls so far
	closed   bool

	// running counts the calls that have not returned. Only add increases running, with
	// mu locked.
	running sync.WaitGroup
}

// New returns a dispatcher that runs calls through bridge.
func New(bridge Bridge, o Options) *Dispatcher {
	setDefault(&o.MaxIdle, o.Idle)
	setDefault(&o.MaxIdle, DefaultMaxIdle)
	setDefault(&o.Idle, DefaultIdle)
	setDefault(&o.Hard, DefaultHard)
	setDefault(&o.ProgressInterval, DefaultProgressInterval)
	setDefault(&o.MaxRunning, DefaultMaxRunning)
	setDefault(&o.MaxWaiting, DefaultMaxWaiting)
	setDefault(&o.MaxResultBytes, wire.DefaultMaxResultBytes)
	setDefault(&o.SuspendLimit, DefaultSuspendLimit)
	return &Dispatcher{
		bridge: bridge,
		opts:   o,
		queue:  queue.New(queue.Limits{Running: o.MaxRunning, Waiting: o.MaxWaiting, Bytes: maxWaitingBytes}),
		live:   map[string]*liveCall{},

		suspended: suspendedCount{notify: o.Waiting},
	}
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// timeLimits returns the idle limit and the hard limit of calls of t.
func (d *Dispatcher) timeLimits(t Tool) (idle, hard time.Duration) {
	idle, hard = d.opts.Idle, d.opts.Hard
	if t.Idle > 0 {
		idle = min(t.Idle, d.opts.MaxIdle)
	}
	if t.Hard > 0 {
		hard = min(t.Hard, hard)
	}
	return idle, hard
}

// Call runs one call to its end. The error, if any, is an *Error with a code of
// wire.ErrorCode. When ctx ends, the call ends as cancelled and the page gets
// a stop.
func (d *Dispatcher) Call(ctx context.Context, req Call) (Result, error) {
	return d.call(ctx, newLiveCall(d, req))
}

// call is Call for a new liveCall, which may be nested.
func (d *Dispatcher) call(ctx context.Context, c *liveCall) (Result, error) {
	if !d.add(c) {
		return Result{}, explainFailure(failure{callID: c.id, tool: c.req.Tool, err: shutdownError()})
	}
	defer d.running.Done()
	switch {
	case !c.validate(), !c.passGates(ctx):
	case c.parent != nil: // the root call has a place in the queue; waiting for a second place could deadlock
		c.run(ctx)
	default:
		d.runInTurn(ctx, c)
	}
	return c.finalResult()
}

// runInTurn waits for a place in the queue and runs c.
func (d *Dispatcher) runInTurn(ctx context.Context, c *liveCall) {
	place, rejected := d.queue.Enter(c.req.Tool.Plugin, c.req.Client.Session, c.argBytes)
	if rejected != nil {
		c.fail(rejected)
		return
	}
	defer d.queue.Leave(c.req.Tool.Plugin, place)
	select {
	case <-place.Ready():
		if ctx.Err() != nil { // place and context may be ready at once: a call of a disconnected client must not start
			c.cancel(CancellationOf(ctx))
			break
		}
		if rejected := d.queue.Rejection(place); rejected != nil {
			c.fail(rejected)
			break
		}
		c.run(ctx)
	case <-c.done:
	case <-ctx.Done():
		c.cancel(CancellationOf(ctx))
	}
}

// Cancel ends a call as cancelled. by is the surface that cancels, such as "the side
// panel"; reason may be empty and has no hidden characters. Cancel returns false if the
// call has ended or is unknown.
func (d *Dispatcher) Cancel(callID, by, reason string) bool {
	d.mu.Lock()
	c := d.live[callID]
	d.mu.Unlock()
	return c != nil && c.cancel(Cancellation{By: by, Reason: reason})
}

// Calls returns the calls that run or wait, oldest first, and after them the last
// 200 ended calls, newest first.
func (d *Dispatcher) Calls() []View {
	live, ended := d.snapshotCalls()
	slices.SortFunc(live, func(a, b *liveCall) int {
		return cmp.Compare(a.number, b.number)
	})
	slices.Reverse(ended)
	views := make([]View, 0, len(live)+len(ended))
	for _, c := range append(live, ended...) {
		views = append(views, c.listView())
	}
	return views
}

// snapshotCalls returns the calls that run or wait, in any order, and the last ended
// calls, oldest first.
func (d *Dispatcher) snapshotCalls() (live, ended []*liveCall) {
	d.mu.Lock()
	defer d.mu.Unlock()
	live = make([]*liveCall, 0, len(d.live))
	for _, c := range d.live {
		live = append(live, c)
	}
	return live, slices.Clone(d.ended)
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
	if c := d.live[callID]; c != nil {
		return c
	}
	if i := slices.IndexFunc(d.ended, func(c *liveCall) bool { return c.id == callID }); i >= 0 {
		return d.ended[i]
	}
	return nil
}

// Follow returns a follower of events. Close the Follower after use.
func (d *Dispatcher) Follow(o FollowOptions) *Follower { return d.stream.follow(o) }

// Shutdown fails all calls with the code shutdown, and rejects new ones. Shutdown does
// not wait for them: see Drain.
func (d *Dispatcher) Shutdown() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	live, _ := d.snapshotCalls()
	for _, c := range live {
		c.end(ending{status: statusFailed, err: shutdownError(), stopPage: true})
	}
}

func shutdownError() *wire.CallError {
	return &wire.CallError{Code: wire.ErrShutdown, Message: "the server is stopping"}
}

// Drain waits, after Shutdown, until all calls have returned and their hooks have run.
// Drain returns ctx's error if ctx ends first.
func (d *Dispatcher) Drain(ctx context.Context) error {
	drained := make(chan struct{})
	go func() {
		d.running.Wait()
		close(drained)
	}()
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// add makes c known to Find and Calls. add returns false after Shutdown. A call that
// was cancelled before (Job.Cancel) is not added.
func (d *Dispatcher) add(c *liveCall) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return false
	}
	d.running.Add(1)
	ended := c.state.status.isTerminal()
	if !ended {
		d.accepted++
		c.number = d.accepted
		d.live[c.id] = c
	}
	d.mu.Unlock()
	if !ended {
		c.publish(EventCreated, nil) // published with c.mu locked, so that no other event of the call comes first
	}
	return true
}

// remove moves c from the live calls to the ended calls.
func (d *Dispatcher) remove(c *liveCall) {
	d.mu.Lock()
	delete(d.live, c.id)
	if len(d.ended) == keepEnded {
		d.ended = append(d.ended[:0], d.ended[1:]...)
	}
	d.ended = append(d.ended, c)
	d.mu.Unlock()
	if c.activities.Size() > 0 {
		d.trimActivities()
	}
}

// trimActivities drops the activities of ended calls beyond maxEndedActivity.
func (d *Dispatcher) trimActivities() {
	_, ended := d.snapshotCalls()
	total := 0
	for _, c := range slices.Backward(ended) {
		if total += c.activities.Size(); total > maxEndedActivity {
			c.activities.Clear()
		}
	}
}

// newCallID returns an ID that can't be guessed: 130 random bits.
func newCallID() string { return "call_" + strings.ToLower(rand.Text()) }
