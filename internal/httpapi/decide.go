package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/httpjson"
	"opentabs/wire"
)

// CommandLine names the command line in the audit log, in the side panel and in approval
// forms. A change is attributed to CommandLine if its request was authenticated with the
// administrator token. No request can choose the name of its surface, because only the
// server sets CommandLine.
const CommandLine = "the command line"

// Decision is the body of POST /calls/{id}/decide: the user's decision about a call that
// is waiting for approval.
type Decision struct {
	// The field Allow is true to approve the call and false to deny the call. The field
	// Allow is required.
	Allow *bool `json:"allow"`
	// Scope selects which later calls an approval also allows. By default, an approval allows one call. DurationMs, required
	// for wire.ScopeTime, is the duration of the approval in milliseconds.
	Scope      wire.Scope `json:"scope,omitempty"`
	DurationMs int64      `json:"for_ms,omitempty"`
	// TicketID identifies the approval request that the user saw. If TicketID is empty,
	// the decision answers the current approval request of the call.
	TicketID string `json:"ticket_id,omitempty"`
}

// DecideResponse is the response to a decision about a call. Outcome reports whether the
// decision was accepted or the call was already decided.
type DecideResponse struct {
	Outcome wire.DecisionOutcome `json:"outcome"`
	// The field By names the surface on which the user decided, and Allowed is true if
	// the call was approved. If the call was already decided, By and Allowed describe the
	// earlier decision, which stays in effect.
	By      string `json:"by,omitempty"`
	Allowed bool   `json:"allowed"`
}

func (c callRoutes) serveDecision(w http.ResponseWriter, r *http.Request) {
	decision, ok := decodeBody[Decision](w, r)
	if !ok {
		return
	}
	if err := decision.check(); err != nil {
		httpjson.SendError(w, http.StatusBadRequest, err.Error())
		return
	}
	id := r.PathValue("id")
	if _, ok := c.calls.Find(id); !ok {
		newUnknownCallError(w)
		return
	}
	result, err := c.calls.Decide(id, decision.TicketID, dispatch.Resolution{
		Allow: *decision.Allow, Scope: decision.Scope,
		Duration: time.Duration(decision.DurationMs) * time.Millisecond, Surface: CommandLine,
	})
	if err != nil {
		httpjson.SendError(w, http.StatusBadRequest, err.Error())
		return
	}
	httpjson.Send(w, http.StatusOK, DecideResponse{Outcome: result.Outcome, By: result.Surface, Allowed: result.Allowed})
}

func (d Decision) check() error {
	maxScopeMs := dispatch.MaxTimedApproval.Milliseconds()
	switch {
	case d.Allow == nil:
		return errors.New(`the decision has no "allow": send {"allow": true or false, "scope": "once", "session", "time" or "always", "for_ms": a number for "time", "ticket_id": ...}`)
	case d.Scope == wire.ScopeTime && (d.DurationMs <= 0 || d.DurationMs > maxScopeMs):
		return fmt.Errorf("for_ms is %d: give it a number from 1 to %d", d.DurationMs, maxScopeMs)
	case d.Scope != wire.ScopeTime && d.DurationMs != 0:
		return errors.New(`for_ms goes with the scope "time" only: leave it out`)
	}
	return nil
}
