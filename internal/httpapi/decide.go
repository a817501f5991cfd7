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

// CommandLine is the name, in the audit log and on other surfaces, of the surface that
// uses the administrator's token. Only the server sets CommandLine; no request can set
// the name of a surface.
const CommandLine = "the command line"

// Decision is the user's decision about a waiting call: the body of
// POST /calls/{id}/decide.
type Decision struct {
	// Allow is required.
	Allow *bool `json:"allow"`
	// Scope is the scope of an approval. The default scope is one call. ForMs is the
	// duration of ScopeTime, in milliseconds.
	Scope wire.Scope `json:"scope,omitempty"`
	ForMs int64      `json:"for_ms,omitempty"`
	// TicketID is the ID of the approval request that the user saw; absent for the
	// current request.
	TicketID string `json:"ticket_id,omitempty"`
}

// Decided is the response to a decision.
type Decided struct {
	Outcome wire.DecisionOutcome `json:"outcome"`
	// By and Allowed are the decision in effect, which may have been made earlier.
	By      string `json:"by,omitempty"`
	Allowed bool   `json:"allowed"`
}

func (c callRoutes) serveDecision(w http.ResponseWriter, r *http.Request) {
	decision, ok := bodyOf[Decision](w, r)
	if !ok {
		return
	}
	if err := decision.check(); err != nil {
		httpjson.SendError(w, http.StatusBadRequest, err.Error())
		return
	}
	id := r.PathValue("id")
	if _, ok := c.calls.Find(id); !ok {
		unknownCall(w)
		return
	}
	result, err := c.calls.Decide(id, decision.TicketID, dispatch.Resolution{
		Allow: *decision.Allow, Scope: decision.Scope,
		Duration: time.Duration(decision.ForMs) * time.Millisecond, Surface: CommandLine,
	})
	if err != nil {
		httpjson.SendError(w, http.StatusBadRequest, err.Error())
		return
	}
	httpjson.Send(w, http.StatusOK, Decided{Outcome: result.Outcome, By: result.Surface, Allowed: result.Allowed})
}

// check returns the problem of an invalid decision, or nil.
func (d Decision) check() error {
	maxMs := dispatch.MaxScopeTime.Milliseconds()
	switch {
	case d.Allow == nil:
		return errors.New(`the decision has no "allow": send {"allow": true or false, "scope": "once", "session", "time" or "always", "for_ms": a number for "time", "ticket_id": ...}`)
	case d.Scope == wire.ScopeTime && (d.ForMs <= 0 || d.ForMs > maxMs):
		return fmt.Errorf("for_ms is %d: give it a number from 1 to %d", d.ForMs, maxMs)
	case d.Scope != wire.ScopeTime && d.ForMs != 0:
		return errors.New(`for_ms goes with the scope "time" only: leave it out`)
	}
	return nil
}
