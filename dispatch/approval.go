package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"opentabs/dispatch/errtext"
	"opentabs/dispatch/hops"
	"opentabs/internal/humanize"
	"opentabs/wire"
)

// Decide applies the user's decision about a ticket to the suspended call. The first decision about
// a ticket takes effect; later callers of Decide receive the first decision. The argument ticketID
// is the ID in the [WaitingTicket] that the user saw; an empty ticketID selects the open ticket of
// the call. If the resolution has no Scope, Decide uses ScopeOnce. Decide returns a *ScopeError if
// the ticket does not offer the scope in the user's decision. Decide also returns an error if
// r.Data is not JSON, or if the duration of a ScopeTime is not in (0, MaxTimedApproval].
func (d *Dispatcher) Decide(callID, ticketID string, r Resolution) (DecisionResult, error) {
	c := d.find(callID)
	if c == nil {
		return DecisionResult{Outcome: wire.DecisionNotPending}, nil
	}
	if r.Data != nil && !json.Valid(r.Data) {
		return DecisionResult{}, fmt.Errorf("the data of the decision is not JSON: %.100q", r.Data)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.suspension.decide(ticketID, r)
}

// SendReminder sends a message for the user to the client of a suspended call, as a progress
// notification. If the suspended call is nested, the message goes to the client that made the
// top-level call. If the user has already decided about the ticket w, SendReminder does nothing.
func (d *Dispatcher) SendReminder(w WaitingTicket, reportMessage string) {
	c := d.find(w.CallID)
	if c == nil {
		return
	}
	c.mu.Lock()
	isOpen := c.suspension.ticket != nil && c.suspension.ticket.TicketID == w.TicketID
	c.mu.Unlock()
	if isOpen {
		c.root.sender.SendReminder(reportMessage)
	}
}

// permissionChange is the name of the surface for decisions that follow from a changed
// permission, unless an [ApprovalNamer] has a name.
const permissionChange = "a change of its permission"

// RecheckGates runs the gates again for each call that waits for an approval. Call RecheckGates after permissions have
// changed: suspended calls continue if now allowed, and fail with the gate's error if now blocked.
func (d *Dispatcher) RecheckGates() {
	liveCalls, _ := d.snapshotCalls()
	for _, c := range liveCalls {
		c.mu.Lock()
		openTicket := c.suspension.ticket
		c.mu.Unlock()
		if openTicket != nil && openTicket.gate != nil {
			openTicket.recheckGates()
		}
	}
}

func (t *ticket) recheckGates() {
	c := t.call
	v, gate := c.d.runGates(c)
	_, isReload := t.gate.(reloadGate)
	switch {
	case v.BlockError != nil:
		if t.closeIfOpen() {
			c.fail(v.BlockError)
		}
		return
	case isReload, v.Suspend != nil && gate.Name() == t.gate.Name():
		return
	}
	surface := permissionChange
	if approvalNamer, ok := t.gate.(ApprovalNamer); ok {
		surface = cmp.Or(approvalNamer.ApprovalName(c.gateInfo(nil)), surface)
	}
	_, _ = c.d.Decide(c.id, t.TicketID, Resolution{Allow: true, Scope: wire.ScopeOnce, Surface: surface, IsFromRecheck: true})
}

// passGates runs the call's gates until all of them allow the call.
func (c *liveCall) passGates(ctx context.Context) bool {
	for {
		v, gate := c.d.runGates(c)
		switch {
		case v.BlockError != nil:
			c.fail(v.BlockError)
			return false
		case v.Suspend != nil:
			// While the user decides, the call's tab can navigate to another site, so the
			// gates must decide again.
			request := *v.Suspend
			if !previewTarget(ctx, c, &request) || !c.requestApproval(ctx, request, gate) || !c.chosenTarget.choose(ctx, c) {
				return false
			}
		case v.Wait != nil:
			if !waitForGate(ctx, c, *v.Wait) || !c.chosenTarget.choose(ctx, c) {
				return false
			}
		case v.Result != nil:
			c.endCall(callOutcome{status: statusSucceeded, output: v.Result.Output})
			return false
		default:
			if ctx.Err() != nil {
				c.cancel(CancellationFrom(ctx))
			}
			c.req.Trace.Record(hops.CheckpointAllowed)
			c.mu.Lock()
			hasEnded := c.state.status.isTerminal()
			c.mu.Unlock()
			return !hasEnded
		}
	}
}

// isStillAllowed runs the gates again for a call that has waited in the queue.
func isStillAllowed(c *liveCall) bool {
	c.mu.Lock()
	c.hasBeenQueued = true
	c.mu.Unlock()
	_, gate := c.d.runGates(c)
	return gate == nil
}

func waitForGate(ctx context.Context, c *liveCall, w Wait) bool {
	defer c.sender.SendInBackground()()
	c.root.sender.SendReminder(w.Message)
	select {
	case <-time.After(w.Duration):
		return true
	case <-w.Done:
		return true
	case <-c.done:
	case <-ctx.Done():
		c.cancel(CancellationFrom(ctx))
	}
	return false
}

func (c *liveCall) requestApproval(ctx context.Context, request Ticket, gate Gate) bool {
	openTicket, rejection := c.suspend(request, gate)
	switch {
	case rejection != nil:
		c.fail(rejection)
		return false
	case openTicket == nil:
		return false
	}
	defer c.sender.SendInBackground()()
	defer openTicket.pauseTimers()()
	// The permissions may have changed between the gate's verdict and the suspension of the call.
	openTicket.recheckGates()
	r, isDecided := openTicket.awaitDecision(ctx)
	if !isDecided {
		return false
	}
	// The gate must receive the approval even if the call has ended, because an approval can cover later calls.
	if g, ok := gate.(DecisionObserver); ok {
		g.ObserveDecision(c.gateInfo(nil), request, r)
	}
	if !openTicket.resume(r) {
		return false
	}
	if !r.Allow {
		c.fail(newDeniedError(r.Surface))
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.status.isTerminal() {
		return false
	}
	if request.reloadsTab && !r.IsFromRecheck { // only the user's own decision about this ticket approves the reload
		c.isReloadApproved = true
	}
	if request.PassesDecision {
		c.suspension.decision = r.EncodeForTool()
	}
	c.root.sender.SendReminder("approved: the call is running")
	return true
}

func newDeniedError(surface string) *wire.CallError {
	return &wire.CallError{Code: wire.ErrDenied, Message: "the user denied it (" + surface + ")", UserText: "You denied the call."}
}

func (c *liveCall) suspend(request Ticket, gate Gate) (*ticket, *wire.CallError) {
	limit := remainingApprovalTime(c, request)
	if limit <= 0 {
		limitText := humanize.Duration(c.d.opts.SuspendLimit)
		return nil, &wire.CallError{
			Code: wire.ErrApprovalTimeout, Message: fmt.Sprintf("it has waited for the user for %s in total, the limit of one call", limitText),
			UserText: errtext.AppendNextUserStep(wire.ErrApprovalTimeout, "The call has waited for you for "+limitText+" in total, the limit of one call."),
		}
	}
	t := newTicket(c, request, gate, limit)
	if !c.d.suspendedCalls.add(t.ArgsBytes) {
		return nil, &wire.CallError{Code: wire.ErrRateLimited, Message: fmt.Sprintf(
			"too many calls are waiting for approval (the limit is %d calls, or %s of arguments)", maxSuspended, humanize.Bytes(maxSuspendedBytes))}
	}
	c.mu.Lock()
	if c.suspension.ticket != nil || !c.state.changeStatus(statusSuspended) {
		c.mu.Unlock()
		c.d.suspendedCalls.remove(t.ArgsBytes)
		return nil, nil
	}
	defer c.mu.Unlock()
	c.suspension.ticket = t
	c.publish(EventSuspended, time.Now(), nil)
	return t, nil
}

// The time that the call and its parent calls have already waited is subtracted from the limit.
func remainingApprovalTime(c *liveCall, request Ticket) time.Duration {
	limit := c.d.opts.SuspendLimit
	if request.Limit > 0 {
		limit = min(limit, request.Limit)
	}
	for ancestor := c; ancestor != nil; ancestor = ancestor.parent {
		limit = min(limit, c.d.opts.SuspendLimit-ancestor.clock.Paused())
	}
	return limit
}

func (t *ticket) pauseTimers() (resumeTimers func()) {
	c := t.call
	for ancestor := c; ancestor != nil; ancestor = ancestor.parent {
		ancestor.clock.Pause()
	}
	c.root.sender.KeepQueuedNotifications()
	ctx, cancelOnTicket := context.WithCancel(context.Background())
	if c.req.OnTicket != nil {
		go c.req.OnTicket(ctx, t.WaitingTicket)
	}
	return func() {
		cancelOnTicket()
		for ancestor := c; ancestor != nil; ancestor = ancestor.parent {
			ancestor.clock.Resume()
		}
		c.d.suspendedCalls.remove(t.ArgsBytes)
	}
}

// awaitDecision returns the user's decision even if the call ended before the user decided.
func (t *ticket) awaitDecision(ctx context.Context) (Resolution, bool) {
	c := t.call
	limitTimer := time.NewTimer(time.Until(t.ExpiresAt))
	defer limitTimer.Stop()
	select {
	case r := <-t.decisions:
		return r, true
	case <-c.done:
	case <-ctx.Done():
		if t.gate != nil {
			c.cancel(CancellationFrom(ctx))
		}
	case <-limitTimer.C:
		if !t.withdraw() {
			return <-t.decisions, true
		}
		if t.gate != nil {
			c.fail(&wire.CallError{
				Code: wire.ErrApprovalTimeout, Message: "no approval within " + humanize.Duration(t.ExpiresAt.Sub(t.StartedAt)),
			})
		}
	}
	if !t.withdraw() {
		return <-t.decisions, true
	}
	return Resolution{}, false
}

func (t *ticket) withdraw() bool {
	t.call.mu.Lock()
	defer t.call.mu.Unlock()
	return t.call.suspension.withdraw(t)
}

// closeIfOpen closes the ticket if the user has not decided. If the ticket was not open, closeIfOpen returns false.
func (t *ticket) closeIfOpen() bool {
	s := &t.call.suspension
	t.call.mu.Lock()
	defer t.call.mu.Unlock()
	return s.ticket == t && s.withdraw(t)
}

func (t *ticket) resume(r Resolution) bool {
	c := t.call
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.state.changeStatus(statusResuming) {
		return false
	}
	c.publish(EventResumed, time.Now(), &r)
	return true
}
