package dispatch

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"opentabs/dispatch/events"
	"opentabs/wire"
)

// The type ticket describes which decision of the user a suspended call waits for.
type ticket struct {
	WaitingTicket
	call      *liveCall
	gate      Gate
	decisions chan Resolution
}

func newTicket(c *liveCall, t Ticket, gate Gate, limit time.Duration) *ticket {
	now := time.Now()
	args := maskArgs(c)
	browser, tabID := c.req.Browser, c.req.TabID
	target := c.chosenTarget.get()
	if target.TabID != 0 {
		browser, tabID = target.Browser, target.TabID
	} else if target.Browser == "" {
		target = t.runTarget
	}
	toolSummary := c.req.Tool.Summary
	toolSummary.IsReadOnly = toolSummary.IsReadOnly || t.IsReadOnly
	return &ticket{
		WaitingTicket: WaitingTicket{
			TicketID: "ticket_" + strings.ToLower(rand.Text()), CallID: c.id, Tool: c.req.Tool.FullName(),
			Kind: t.Kind, Reason: t.Reason, Title: t.Title, Caller: c.req.Caller, Browser: browser, TabID: tabID,
			Args: events.TruncateText(args, wire.MaxShownArgsBytes), ArgsBytes: len(args),
			StartedAt: now, ExpiresAt: now.Add(limit), Scopes: t.offeredScopes(c.req.Client),
			Summary: toolSummary, Page: events.NewTicketPage(target.Browser, target.BrowserName, target.TabID, target.Title, target.URL),
		},
		call: c, gate: gate,
		decisions: make(chan Resolution, 1),
	}
}

// DecisionResult reports which decision about a ticket took effect.
type DecisionResult struct {
	Outcome wire.DecisionOutcome
	// Surface and Allowed describe the decision that took effect. If Outcome is
	// DecisionNotPending, Surface and Allowed have no meaning.
	Surface string
	Allowed bool
}

// MaxTimedApproval is the longest time for which an approval with ScopeTime can be valid. To
// approve calls for longer than MaxTimedApproval, the user must choose ScopeAlways.
const MaxTimedApproval = 24 * time.Hour

// ScopeError is the error of a decision whose scope the ticket does not offer.
type ScopeError struct {
	Scope         wire.Scope
	OfferedScopes []wire.Scope
}

// Error names the rejected scope and the scopes that the ticket offers.
func (e *ScopeError) Error() string {
	return fmt.Sprintf("the scope %q is not offered for this call: use one of %q", e.Scope, e.OfferedScopes)
}

// The type suspension is the open ticket of a call and the user's decisions so far.
// liveCall.mu guards all fields of suspension.
type suspension struct {
	ticket      *ticket
	resolutions []Resolution
	decision    json.RawMessage // the field decision is the user's decision that the tool receives as context.decision
}

// Only the first decision about a ticket takes effect.
func (s *suspension) decide(ticketID string, r Resolution) (DecisionResult, error) {
	t := s.ticket
	if t == nil || ticketID != "" && t.TicketID != ticketID {
		for _, resolution := range slices.Backward(s.resolutions) {
			if resolution.TicketID == ticketID || ticketID == "" {
				return DecisionResult{Outcome: wire.DecisionAlreadyMade, Surface: resolution.Surface, Allowed: resolution.Allow}, nil
			}
		}
		return DecisionResult{Outcome: wire.DecisionNotPending}, nil
	}
	if r.Allow && r.Scope == "" {
		r.Scope = wire.ScopeOnce
	}
	if r.Allow && !slices.Contains(t.Scopes, r.Scope) {
		return DecisionResult{}, &ScopeError{Scope: r.Scope, OfferedScopes: t.Scopes}
	}
	if r.Scope == wire.ScopeTime && (r.Duration <= 0 || r.Duration > MaxTimedApproval) {
		return DecisionResult{}, fmt.Errorf("a permission can last for up to %v, not for %v: choose a time in between, or always", MaxTimedApproval, r.Duration)
	}
	r.TicketID, r.DecidedAt = t.TicketID, time.Now()
	if t.gate != nil {
		r.Gate = t.gate.Name()
	}
	s.ticket = nil
	s.resolutions = append(s.resolutions, r)
	t.decisions <- r
	return DecisionResult{Outcome: wire.DecisionAccepted, Surface: r.Surface, Allowed: r.Allow}, nil
}

func (s *suspension) withdraw(t *ticket) bool {
	if s.ticket != t {
		return len(t.decisions) == 0
	}
	s.ticket = nil
	return true
}

func (s *suspension) clearTicket() { s.ticket, s.decision = nil, nil }

func (s *suspension) lastResolution(gate string) *Resolution {
	for _, r := range slices.Backward(s.resolutions) {
		if r.Gate == gate {
			return &r
		}
	}
	return nil
}

// These constants limit the number of suspended calls and the total size of their arguments. The queue's limits do
// not count suspended calls, because a call is suspended before it enters the queue.
const (
	maxSuspended      = 1000
	maxSuspendedBytes = maxWaitingBytes
)

// suspendedCalls counts the calls that wait for the user, and the bytes of their arguments.
type suspendedCalls struct {
	mu       sync.Mutex // the mutex guards all fields below; held while notify runs
	count    int
	argBytes int
	notify   func(calls int) // the field notify is Options.OnWaitingCountChange, which may be nil
}

func (s *suspendedCalls) add(argBytes int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count >= maxSuspended || s.argBytes+argBytes > maxSuspendedBytes {
		return false
	}
	s.addAndNotify(1, argBytes)
	return true
}

func (s *suspendedCalls) remove(argBytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addAndNotify(-1, -argBytes)
}

func (s *suspendedCalls) addAndNotify(calls, argBytes int) {
	s.count += calls
	s.argBytes += argBytes
	if s.notify != nil {
		s.notify(s.count)
	}
}
