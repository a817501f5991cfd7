package dispatch

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
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
	// Browser and TabID are the call's own choice; zero values if it made none.
	Browser string `json:"browser,omitempty"`
	TabID   int    `json:"tab_id,omitempty"`
	Title   string `json:"title,omitempty"`
	// Args are the call's arguments, JSON text, truncated to wire.MaxShownArgsBytes bytes;
	// ArgsBytes is their full size.
	Args      string `json:"args,omitempty"`
	ArgsBytes int    `json:"args_bytes,omitempty"`
	// Since is the start of the wait, Until its end without a decision.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Scopes are the scopes that the user may choose for an approval.
	Scopes []wire.Scope `json:"scopes"`
}

// ticket is one suspension of a call.
type ticket struct {
	Waiting
	call    *liveCall
	gate    Gate // nil for a request of the tool
	request Ticket
	// decided receives the decision.
	decided chan Resolution
}

// newTicket returns a ticket of c that ends after limit.
func newTicket(c *liveCall, t Ticket, gate Gate, limit time.Duration) *ticket {
	now := time.Now()
	args := c.arguments()
	return &ticket{
		Waiting: Waiting{
			TicketID: "ticket_" + strings.ToLower(rand.Text()), CallID: c.id, Tool: c.req.Tool.FullName(),
			Kind: t.Kind, Reason: t.Reason, Title: t.Title, Caller: c.req.Caller, Browser: c.req.Browser, TabID: c.req.TabID,
			Args: cutText(args, wire.MaxShownArgsBytes), ArgsBytes: len(args),
			Since: now, Until: now.Add(limit), Scopes: t.scopesFor(c.req.Client),
		},
		call: c, gate: gate, request: t,
		decided: make(chan Resolution, 1),
	}
}

// Decision is the effect of a decision.
type Decision struct {
	Outcome wire.DecisionOutcome
	// By and Allowed describe the decision that counts, unless Outcome is DecisionNotPending.
	By      string
	Allowed bool
}

// MaxScopeTime is the longest time of a ScopeTime. ScopeAlways has no limit.
const MaxScopeTime = 24 * time.Hour

// ScopeError rejects a decision whose scope the ticket does not offer.
type ScopeError struct {
	Scope   wire.Scope
	Offered []wire.Scope
}

// Error implements error.
func (e *ScopeError) Error() string {
	return fmt.Sprintf("the scope %q is not offered for this call: use one of %q", e.Scope, e.Offered)
}

// suspension is the open ticket of a call and the decisions so far. suspension has no
// lock: liveCall.mu guards it.
type suspension struct {
	ticket      *ticket // nil if the call does not wait
	resolutions []Resolution
	decision    json.RawMessage // the decision that the tool receives as context.decision
}

// decide applies a decision to the open ticket. Of several decisions the first
// counts.
func (s *suspension) decide(ticketID string, r Resolution) (Decision, error) {
	t := s.ticket
	if t == nil || ticketID != "" && t.TicketID != ticketID {
		for _, past := range slices.Backward(s.resolutions) {
			if past.TicketID == ticketID || ticketID == "" {
				return Decision{Outcome: wire.DecisionAlreadyMade, By: past.By, Allowed: past.Allow}, nil
			}
		}
		return Decision{Outcome: wire.DecisionNotPending}, nil
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
	s.ticket = nil
	s.resolutions = append(s.resolutions, r)
	t.decided <- r
	return Decision{Outcome: wire.DecisionAccepted, By: r.By, Allowed: r.Allow}, nil
}

// withdraw closes a ticket without a decision. withdraw returns false if a decision
// came first.
func (s *suspension) withdraw(t *ticket) bool {
	if s.ticket != t {
		return len(t.decided) == 0
	}
	s.ticket = nil
	return true
}

// end closes the open ticket at the end of the call.
func (s *suspension) end() { s.ticket, s.decision = nil, nil }

// lastOf returns the last decision about a ticket of a gate; nil if there is none.
func (s *suspension) lastOf(gate string) *Resolution {
	for _, r := range slices.Backward(s.resolutions) {
		if r.Gate == gate {
			return &r
		}
	}
	return nil
}

// The limits of all suspended calls together. Calls are suspended before they enter the
// queue, so the limits of the queue do not bound suspended calls. The size is the
// length of the arguments, in bytes.
const (
	maxSuspended      = 1000
	maxSuspendedBytes = maxWaitingBytes
)

// suspendedCount counts the calls that wait for the user, and their arguments.
type suspendedCount struct {
	mu     sync.Mutex // guards all fields below; locked while notify runs
	calls  int
	bytes  int
	notify func(calls int) // Options.Waiting; may be nil
}

// add counts one more call. add returns false, and counts nothing, at the limit.
func (s *suspendedCount) add(bytes int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls >= maxSuspended || s.bytes+bytes > maxSuspendedBytes {
		return false
	}
	s.adjust(1, bytes)
	return true
}

// remove undoes one add.
func (s *suspendedCount) remove(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.adjust(-1, -bytes)
}

func (s *suspendedCount) adjust(calls, bytes int) {
	s.calls += calls
	s.bytes += bytes
	if s.notify != nil {
		s.notify(s.calls)
	}
}

// cutText returns the beginning of a text: at most limit bytes, whole characters.
func cutText(text []byte, limit int) string {
	if len(text) <= limit {
		return string(text)
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return string(text[:limit])
}
