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

	"opentabs/wire"
)

// The limits of a dispatcher whose options do not name others.
const (
	DefaultIdle             = 30 * time.Second
	DefaultMaxIdle          = 5 * time.Minute
	DefaultHard             = 5 * time.Minute
	DefaultProgressInterval = 100 * time.Millisecond
	DefaultMaxRunning       = 256
	DefaultMaxWaiting       = 20000
	DefaultMaxWaitingBytes  = 256 << 20
	DefaultSuspendLimit     = 5 * time.Minute
)

// keepEnded is how many calls that ended stay in lists.
const keepEnded = 200

// maxTries is in how many documents a call is tried at most.
const maxTries = 8

// stopWait is how long a failed call waits for the page's answer to the stop,
// so that its error can tell it. A handler that honours its signal answers in
// a few milliseconds.
const stopWait = 50 * time.Millisecond

// Options set a dispatcher up. The zero value of each field means its default.
type Options struct {
	// Idle ends a call that made no report and returned nothing for so long.
	// Default 30 s.
	Idle time.Duration
	// MaxIdle is the longest idle limit that a tool may have. Default 5 min; Idle
	// if that is set.
	MaxIdle time.Duration
	// Hard ends a call that has run for so long. Default 5 min.
	Hard time.Duration
	// ProgressInterval is the least time between two notifications of one
	// call. Default 100 ms. Negative switches the limit off, for tests: then a
	// flood of reports is kept in memory until the client has taken it.
	ProgressInterval time.Duration
	// MaxRunning is how many calls of one plugin run at once; the others wait.
	// Default 256.
	MaxRunning int
	// MaxWaiting is how many calls of one plugin wait, default 20,000. Beyond
	// that the client with the most waiting calls is refused one, with
	// rate_limited.
	MaxWaiting int
	// MaxWaitingBytes is how large the arguments of the calls of one plugin that
	// wait are together, default 256 MiB. Beyond that the client with the most
	// is refused one, with rate_limited.
	MaxWaitingBytes int
	// MaxResultBytes is the largest result, in bytes. Default
	// wire.DefaultMaxResultBytes. A larger one ends with result_too_large.
	MaxResultBytes int
	// SuspendLimit is how long a call waits for the user in all, however often it
	// is suspended and for whichever of the calls that it makes. Default 5 min; after
	// that it ends with approval_timeout. Hard and SuspendLimit together bound a call
	// that has begun.
	SuspendLimit time.Duration
	// Gates decide which calls may run, asked in this order. Default none: every
	// call may.
	Gates []Gate
	// Before runs ahead of the calls that may, in this order. Default none.
	Before []Before
	// After runs behind every call, in this order. Default none.
	After []After
	// Waiting is told how many calls wait for a person whenever that changes, in
	// order and never twice at once. It must not block. Default: nobody is told.
	Waiting func(calls int)
	// Resolve finds the tool that a tool of parent wants to call by name, which is
	// that of a tool of the same plugin or <plugin>__<tool>, and validates args. It
	// returns them as they should be sent. Default: no tool can call another.
	Resolve func(parent Tool, name string, args json.RawMessage) (Tool, json.RawMessage, *wire.CallError)
	// MayOpen reports whether calls of a plugin that find no tab may open one. It
	// is safe for concurrent use. Default: no call may.
	MayOpen func(plugin string) bool
	// FailureNote returns what else to say when a tool failed of itself: a sentence
	// for the agent and one for the user, or nothing. It does not block and is safe
	// for concurrent use. Default: nothing.
	FailureNote func(Tool) (forAgent, forUser string)
	// Log takes one line for each call that ends. Default: nothing is logged.
	Log zerolog.Logger
}

// Dispatcher runs calls. Make one with New.
type Dispatcher struct {
	bridge Bridge
	opts   Options
	queue  *queue
	stream stream

	mu     sync.Mutex           // guards all below
	live   map[string]*liveCall // by call id
	order  []*liveCall          // the last calls that ended, oldest first
	taken  uint64               // calls taken in so far
	closed bool

	// running counts the calls that have not returned; added to under mu.
	running sync.WaitGroup

	waitingMu    sync.Mutex // guards all below, and held while Options.Waiting runs
	waiting      int        // calls that wait for a person
	waitingBytes int        // how large their arguments are together
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
	setDefault(&o.MaxWaitingBytes, DefaultMaxWaitingBytes)
	setDefault(&o.MaxResultBytes, wire.DefaultMaxResultBytes)
	setDefault(&o.SuspendLimit, DefaultSuspendLimit)
	return &Dispatcher{
		bridge: bridge,
		opts:   o,
		queue:  newQueue(queueLimits{o.MaxRunning, o.MaxWaiting, o.MaxWaitingBytes}),
		live:   map[string]*liveCall{},
	}
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Limits returns the limits that hold for a call of t.
func (d *Dispatcher) Limits(t Tool) (idle, hard time.Duration) {
	idle, hard = d.opts.Idle, d.opts.Hard
	if t.Idle > 0 {
		idle = min(t.Idle, d.opts.MaxIdle)
	}
	if t.Hard > 0 {
		hard = min(t.Hard, hard)
	}
	return idle, hard
}

// Call runs one call to its end. The error, if any, is an *Error; its codes
// are those of wire.ErrorCode. When ctx ends, the call ends as cancelled and
// the page is told to stop.
func (d *Dispatcher) Call(ctx context.Context, req Call) (Result, error) {
	return d.call(ctx, newLiveCall(d, req))
}

// call is Call for a call that another one may have made.
func (d *Dispatcher) call(ctx context.Context, c *liveCall) (Result, error) {
	if !d.add(c) {
		return Result{}, c.refuse(wire.ErrShutdown, "the server is stopping")
	}
	defer d.running.Done()
	switch {
	case !c.sensible(), !c.pass(ctx):
	case c.parent != nil: // its parent has a place, which it would wait for
		c.run(ctx)
	default:
		d.await(ctx, c)
	}
	return c.outcome()
}

// await runs c when its turn has come.
func (d *Dispatcher) await(ctx context.Context, c *liveCall) {
	place, refused := d.queue.enter(c.req.Tool.Plugin, c.req.Client.Session, c.argBytes)
	if refused != nil {
		c.fail(refused)
		return
	}
	defer d.queue.leave(c.req.Tool.Plugin, place)
	select {
	case <-place.ready:
		if ctx.Err() != nil { // both may be ready: a client that left starts nothing
			c.cancel(CancellationOf(ctx))
			break
		}
		if refused := d.queue.refusal(place); refused != nil {
			c.fail(refused)
			break
		}
		c.run(ctx)
	case <-c.done:
	case <-ctx.Done():
		c.cancel(CancellationOf(ctx))
	}
}

// Cancel ends a call as cancelled; by says who asked, as in "the side panel", and
// reason why, cleaned, or nothing. It reports false if the call has ended or is
// not known.
func (d *Dispatcher) Cancel(callID, by, reason string) bool {
	d.mu.Lock()
	c := d.live[callID]
	d.mu.Unlock()
	return c != nil && c.cancel(Cancellation{By: by, Reason: reason})
}

// Calls returns the calls that run or wait, oldest first, and after them the
// last 200 that ended, newest first.
func (d *Dispatcher) Calls() []View {
	d.mu.Lock()
	live := make([]*liveCall, 0, len(d.live))
	for _, c := range d.live {
		live = append(live, c)
	}
	ended := slices.Clone(d.order)
	d.mu.Unlock()
	slices.SortFunc(live, func(a, b *liveCall) int {
		return cmp.Compare(a.number, b.number)
	})
	slices.Reverse(ended)
	views := make([]View, 0, len(live)+len(ended))
	for _, c := range append(live, ended...) {
		views = append(views, c.view())
	}
	return views
}

// Find returns the call with this id, if it runs, waits, or is one of the last
// 200 that ended.
//
// The view has the call's activities and timeline, which lists have not.
func (d *Dispatcher) Find(callID string) (View, bool) {
	c := d.find(callID)
	if c == nil {
		return View{}, false
	}
	return c.whole(), true
}

// find returns the call with this id, nil if it is not known (any more).
func (d *Dispatcher) find(callID string) *liveCall {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.live[callID]; c != nil {
		return c
	}
	if i := slices.IndexFunc(d.order, func(c *liveCall) bool { return c.id == callID }); i >= 0 {
		return d.order[i]
	}
	return nil
}

// Follow returns a follower of events. Close it when done.
func (d *Dispatcher) Follow(o FollowOptions) *Follower { return d.stream.follow(o) }

// Shutdown ends all calls with the code shutdown and refuses new ones. It does
// not wait for them: see Drain.
func (d *Dispatcher) Shutdown() {
	d.mu.Lock()
	d.closed = true
	live := make([]*liveCall, 0, len(d.live))
	for _, c := range d.live {
		live = append(live, c)
	}
	d.mu.Unlock()
	for _, c := range live {
		c.end(ending{status: StatusFailed, err: &wire.CallError{Code: wire.ErrShutdown, Message: "the server is stopping"}, tell: true})
	}
}

// Drain waits, after Shutdown, until all calls have returned and the hooks behind
// them have run. It returns ctx's error if ctx ends first.
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

// add takes c into the table; it reports false after Shutdown. A call that was
// cancelled before it came here (Job.Cancel) is not taken in a second time.
func (d *Dispatcher) add(c *liveCall) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.running.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status.Terminal() {
		return true
	}
	d.taken++
	c.number = d.taken
	d.live[c.id] = c
	c.publish(EventCreated, nil)
	return true
}

// remove moves c from the running calls to those that ended.
func (d *Dispatcher) remove(c *liveCall) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.live, c.id)
	if len(d.order) == keepEnded {
		d.order = append(d.order[:0], d.order[1:]...)
	}
	d.order = append(d.order, c)
	if c.activities.size() > 0 {
		d.trimActivities()
	}
}

// newCallID returns an id that nobody can guess: 130 random bits.
func newCallID() string { return "call_" + strings.ToLower(rand.Text()) }
