package dispatch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"opentabs/wire"
)

// Waiting is what a suspended call waits for.
type Waiting struct {
	TicketID string `json:"ticket_id"`
	CallID   string `json:"call_id"`
	// Tool is the full name of the tool that would run.
	Tool   string          `json:"tool"`
	Kind   wire.TicketKind `json:"kind"`
	Reason string          `json:"reason"`
	// Caller is the tool that made the call; nil for a call of a client.
	Caller *Caller `json:"caller,omitempty"`
	// Browser and TabID are what the call names; zero values if it names none.
	Browser string `json:"browser,omitempty"`
	TabID   int    `json:"tab_id,omitempty"`
	Title   string `json:"title,omitempty"`
	// Args are the call's arguments, JSON text, cut at wire.MaxShownArgs; ArgsBytes
	// is how long they are.
	Args      string `json:"args,omitempty"`
	ArgsBytes int    `json:"args_bytes,omitempty"`
	// Since is when it began to wait, Until when it ends if nobody decides.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Scopes are those that a person may choose from.
	Scopes []wire.Scope `json:"scopes"`
}

// ticket is an open Ticket of a call.
type ticket struct {
	Waiting
	gate Gate // nil for one of the tool itself
	// decided holds the decision once there is one.
	decided chan Resolution
}

// Decision is what became of a decision.
type Decision struct {
	Outcome wire.DecideOutcome
	// By and Allowed tell the decision that holds, unless Outcome is DecideEnded.
	By      string
	Allowed bool
}

// MaxScopeTime is the longest time of a ScopeTime: who means longer means always.
const MaxScopeTime = 24 * time.Hour

// ScopeError refuses a decision whose scope the ticket does not offer.
type ScopeError struct {
	Scope   wire.Scope
	Offered []wire.Scope
}

// Error implements error.
func (e *ScopeError) Error() string {
	return fmt.Sprintf("the scope %q is not offered for this call: use one of %q", e.Scope, e.Offered)
}

// Decide settles what a suspended call waits for. Of several decisions the first
// counts; the others are told who came first. ticketID is that of the [Waiting]
// which the person saw; empty means the one that is open. The zero Scope means
// ScopeOnce. The error, if any, is a *ScopeError, or one that says that r.Data is
// not JSON, or that r.For is not in (0, MaxScopeTime] for a ScopeTime.
func (d *Dispatcher) Decide(callID, ticketID string, r Resolution) (Decision, error) {
	c := d.find(callID)
	if c == nil {
		return Decision{Outcome: wire.DecideEnded}, nil
	}
	if r.Data != nil && !json.Valid(r.Data) {
		return Decision{}, fmt.Errorf("what was decided is not JSON: %.100q", r.Data)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.ticket
	if t == nil || ticketID != "" && t.TicketID != ticketID {
		for _, past := range slices.Backward(c.resolutions) {
			if past.TicketID == ticketID || ticketID == "" {
				return Decision{Outcome: wire.DecideAlready, By: past.By, Allowed: past.Allow}, nil
			}
		}
		return Decision{Outcome: wire.DecideEnded}, nil
	}
	if r.Allow && r.Scope == "" {
		r.Scope = wire.ScopeOnce
	}
	if r.Allow && !slices.Contains(t.Scopes, r.Scope) {
		return Decision{}, &ScopeError{Scope: r.Scope, Offered: t.Scopes}
	}
	if r.Scope == wire.ScopeTime && (r.For <= 0 || r.For > MaxScopeTime) {
		return Decision{}, fmt.Errorf("a permission can last for up to %v, not for %v: choose a time in between, or always", MaxScopeTime, r.For)
	}
	r.TicketID, r.At = t.TicketID, time.Now()
	if t.gate != nil {
		r.Gate = t.gate.Name()
	}
	c.ticket = nil
	c.resolutions = append(c.resolutions, r)
	t.decided <- r
	return Decision{Outcome: wire.DecideTaken, By: r.By, Allowed: r.Allow}, nil
}

// pass asks the gates until they let the call run. It reports false if the call
// has ended.
func (c *liveCall) pass(ctx context.Context) bool {
	for {
		v, gate := c.d.judge(c)
		switch {
		case v.Block != nil:
			c.mu.Lock()
			c.refusal = v
			c.mu.Unlock()
			c.fail(v.Block)
			return false
		case v.Suspend != nil:
			if !c.ask(ctx, *v.Suspend, gate) {
				return false
			}
		case v.Result != nil:
			c.end(ending{status: StatusSucceeded, output: v.Result.Output})
			return false
		default:
			return c.settled(ctx)
		}
	}
}

// settled reports whether the call is still there once the gates allow it.
func (c *liveCall) settled(ctx context.Context) bool {
	if ctx.Err() != nil {
		c.cancel(CancellationOf(ctx))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.status.Terminal()
}

// ask suspends a call that does not run yet until a person has decided about t.
// It reports false if the call has ended.
func (c *liveCall) ask(ctx context.Context, t Ticket, gate Gate) bool {
	open, refused := c.suspend(t, gate)
	switch {
	case refused != nil:
		c.fail(refused)
		return false
	case open == nil:
		return false
	}
	defer c.sendMeanwhile()()
	defer c.hush(open)()
	if c.moot(open, gate) {
		return true
	}
	r, decided := c.await(ctx, open, t)
	if !decided {
		return false
	}
	if g, ok := gate.(Decider); ok {
		g.Decided(c.info(nil), t, r)
	}
	switch {
	case !r.Allow:
		c.fail(&wire.CallError{Code: wire.ErrDenied, Message: "the person said no (" + r.By + ")"})
		return false
	case t.Resume == ResumeUseDecision:
		c.end(ending{status: StatusSucceeded, output: r.Data})
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status.Terminal() {
		return false
	}
	if t.Resume == ResumePassDecision {
		c.decision = r.forTool()
	}
	return true
}

// moot reports whether the gate that asked lets the call go on by now, and takes
// the ticket back then: who looked through the calls that wait, because something
// was allowed, may have done so before this one waited.
func (c *liveCall) moot(open *ticket, gate Gate) bool {
	if gate.Decide(c.info(gate)).Suspend != nil || !c.shut(open) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status == StatusSuspended {
		c.status = StatusResuming
	}
	return true
}

// suspendLimit is how long the call may wait for the user now. What it, and each
// call that it was made by, has waited before counts.
func (c *liveCall) suspendLimit(t Ticket) time.Duration {
	limit := c.d.opts.SuspendLimit
	if t.Limit > 0 {
		limit = min(limit, t.Limit)
	}
	for up := c; up != nil; up = up.parent {
		limit = min(limit, c.d.opts.SuspendLimit-up.clock.pausedFor())
	}
	return limit
}

// suspend makes the call wait with a ticket. It returns nil if the call has
// ended, or waits already, and an error if it may not wait any more or too many
// others do.
func (c *liveCall) suspend(t Ticket, gate Gate) (*ticket, *wire.CallError) {
	limit := c.suspendLimit(t)
	if limit <= 0 {
		return nil, &wire.CallError{Code: wire.ErrApprovalTimeout, Message: fmt.Sprintf(
			"it has waited for the user for %s in all, as long as one call may", spell(c.d.opts.SuspendLimit))}
	}
	now := time.Now()
	args := c.info(nil).Args
	open := &ticket{
		Waiting: Waiting{
			TicketID: "ticket_" + strings.ToLower(rand.Text()), CallID: c.id, Tool: c.req.Tool.FullName(),
			Kind: t.Kind, Reason: t.Reason, Title: t.Title, Caller: c.req.Caller, Browser: c.req.Browser, TabID: c.req.TabID,
			Args: cutText(args, wire.MaxShownArgs), ArgsBytes: len(args),
			Since: now, Until: now.Add(limit), Scopes: t.scopes(c.req.Client),
		},
		gate:    gate,
		decided: make(chan Resolution, 1),
	}
	if !c.d.waits(1, open.ArgsBytes) {
		return nil, &wire.CallError{Code: wire.ErrRateLimited, Message: fmt.Sprintf(
			"so many calls wait for the person already (%d, or %d MiB of arguments) that no other may", maxSuspended, maxSuspendedBytes>>20)}
	}
	c.mu.Lock()
	if c.ticket != nil || !c.status.CanBecome(StatusSuspended) {
		c.mu.Unlock()
		c.d.waits(-1, -open.ArgsBytes)
		return nil, nil
	}
	defer c.mu.Unlock()
	c.ticket, c.status = open, StatusSuspended
	c.publish(EventSuspended, nil)
	return open, nil
}

// hush stops the clocks of the call and of those that made it, and lets the
// client and the surfaces ask a person. The function it returns undoes all.
func (c *liveCall) hush(open *ticket) (undo func()) {
	for up := c; up != nil; up = up.parent {
		up.clock.pause()
	}
	c.root().toMeter((*meter).keep)
	asked, stop := context.WithCancel(context.Background())
	if c.req.Asked != nil {
		go c.req.Asked(asked, open.Waiting)
	}
	return func() {
		stop()
		for up := c; up != nil; up = up.parent {
			up.clock.resume()
		}
		c.d.waits(-1, -open.ArgsBytes)
	}
}

// sendMeanwhile sends the client its notifications while the call waits for a
// decision. The function it returns ends that; nothing is being sent when it
// returns.
func (c *liveCall) sendMeanwhile() (stop func()) {
	if c.req.Progress == nil {
		return func() {}
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		var due <-chan time.Time
		for {
			select {
			case <-c.wake:
				due = c.notify()
			case <-due:
				due = c.notify()
			case <-over:
				return
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

// Remind sends the client of a suspended call, or of the call that made it, a
// message for the user, among its progress. It does nothing once w is settled.
func (d *Dispatcher) Remind(w Waiting, message string) {
	c := d.find(w.CallID)
	if c == nil {
		return
	}
	c.mu.Lock()
	open := c.ticket != nil && c.ticket.TicketID == w.TicketID
	c.mu.Unlock()
	if open {
		c.root().toMeter(func(m *meter) { m.remind(time.Now(), message) })
	}
}

// tell sends the client of the call a message and no numbers, if it wants any.
func (c *liveCall) tell(message, audience string) {
	c.toMeter(func(m *meter) { m.accept(time.Now(), numbers{}, said{message: message, audience: audience}) })
}

// toMeter changes what the client of the call is sent, if it wants any progress
// and the call has not ended.
func (c *liveCall) toMeter(change func(*meter)) {
	if c.req.Progress == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.status.Terminal() {
		change(&c.meter)
		poke(c.wake)
	}
}

// How many calls wait for a person at once, and how large their arguments are
// together, in bytes. They wait before they queue, so the queue does not bound
// them.
const (
	maxSuspended      = 1000
	maxSuspendedBytes = DefaultMaxWaitingBytes
)

// waits counts the calls that wait for a person, and their arguments. It reports
// false, and counts nothing, if more would be too much.
func (d *Dispatcher) waits(more, bytes int) bool {
	d.waitingMu.Lock()
	defer d.waitingMu.Unlock()
	if more > 0 && (d.waiting >= maxSuspended || d.waitingBytes+bytes > maxSuspendedBytes) {
		return false
	}
	d.waiting += more
	d.waitingBytes += bytes
	if d.opts.Waiting != nil {
		d.opts.Waiting(d.waiting)
	}
	return true
}

// await waits for the decision. It reports false if the call has ended; without
// a decision in time it ends a call that does not run yet.
func (c *liveCall) await(ctx context.Context, open *ticket, t Ticket) (Resolution, bool) {
	limit := time.NewTimer(time.Until(open.Until))
	defer limit.Stop()
	select {
	case r := <-open.decided:
		return r, c.resume(r)
	case <-c.done:
	case <-ctx.Done():
		if open.gate != nil { // else it is the tool that waits no more
			c.cancel(CancellationOf(ctx))
		}
	case <-limit.C:
		if !c.shut(open) { // decided at this very instant
			r := <-open.decided
			return r, c.resume(r)
		}
		if open.gate != nil { // a tool is told, and goes on
			c.fail(&wire.CallError{Code: wire.ErrApprovalTimeout, Message: fmt.Sprintf(
				"nobody decided for %s whether it may run", spell(open.Until.Sub(open.Since)))})
		}
	}
	c.shut(open)
	return Resolution{}, false
}

// shut closes a ticket to decisions. It reports false if there was one.
func (c *liveCall) shut(open *ticket) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ticket != open {
		return len(open.decided) == 0
	}
	c.ticket = nil
	return true
}

// resume notes a decision. It reports false if the call has ended.
func (c *liveCall) resume(r Resolution) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.status.CanBecome(StatusResuming) {
		return false
	}
	c.status = StatusResuming
	c.publishDecision(&r)
	return true
}

// cutText is text as a string of at most limit bytes, whole characters only.
func cutText(text []byte, limit int) string {
	if len(text) <= limit {
		return string(text)
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return string(text[:limit])
}
