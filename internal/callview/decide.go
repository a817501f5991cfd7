package callview

import (
	"context"
	"fmt"
	"slices"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/internal/usererr"
	"opentabs/wire"
)

// Choice is the user's decision to allow or deny a call that waits for the user.
type Choice struct {
	Allow bool
	// Scope determines to which further calls an approval applies, such as wire.ScopeSession. The
	// field For is how long the approval is valid if Scope is wire.ScopeTime.
	Scope wire.Scope
	For   time.Duration
}

// AlreadyDecidedError is the error for a decision about a call that no longer waits for
// the user. The text of an AlreadyDecidedError is a sentence for the user.
type AlreadyDecidedError struct{ message string }

// Error returns a sentence for the user, such as "call_1 is not waiting for approval".
func (e *AlreadyDecidedError) Error() string { return e.message }

func newAlreadyDecidedError(format string, args ...any) error {
	return &AlreadyDecidedError{fmt.Sprintf(format, args...)}
}

// Decide sends the user's decision about a call to the server, and returns a sentence
// about its effect. If the call does not wait for the user, Decide returns an
// [*AlreadyDecidedError]. If the call cannot be allowed in the chosen scope, Decide
// returns a [usererr.Error].
func Decide(ctx context.Context, calls httpapi.CallsClient, id string, c Choice) (string, error) {
	v, err := calls.Get(ctx, id)
	switch {
	case err != nil:
		return "", err
	case v.Waiting == nil:
		return "", explainNotWaiting(v.View)
	case c.Allow && !slices.Contains(v.Waiting.Scopes, c.Scope):
		return "", usererr.Errorf("%s can be allowed %s: use one of these", v.CallID, scopeFlags(v.Waiting.Scopes))
	}
	result, err := calls.Decide(ctx, v.CallID, c.decisionFor(*v.Waiting))
	switch {
	case err != nil:
		return "", err
	case result.Outcome == wire.DecisionAlreadyMade:
		return "", alreadyDecidedError(v.CallID, result.Allowed, result.By)
	case result.Outcome != wire.DecisionAccepted:
		return "", newAlreadyDecidedError("%s is no longer waiting: it has ended, or the request was withdrawn", v.CallID)
	}
	return c.describeChoice(v.View), nil
}

// The decision contains the ID of the ticket w, so that the decision cannot apply to a later ticket of the call.
func (c Choice) decisionFor(w dispatch.WaitingTicket) httpapi.Decision {
	d := httpapi.Decision{Allow: &c.Allow, TicketID: w.TicketID}
	if c.Allow {
		d.Scope, d.DurationMs = c.Scope, c.For.Milliseconds()
	}
	return d
}

func (c Choice) describeChoice(v dispatch.View) string {
	tool := terminal.SafeLine(v.ToolName)
	switch {
	case !c.Allow:
		return "denied " + tool
	case v.Waiting.Kind == wire.TicketUser:
		return tool + " continues"
	}
	return "allowed " + tool + " " + ScopeText(c.Scope, c.For)
}

func explainNotWaiting(v dispatch.View) error {
	if v.Ended != nil {
		return newAlreadyDecidedError("%s has already ended (%s)", v.CallID, statusText(v))
	}
	for _, m := range slices.Backward(v.Timeline) {
		if m.Kind == dispatch.EventResumed && m.Resolution != nil {
			return alreadyDecidedError(v.CallID, m.Resolution.Allow, m.Resolution.Surface)
		}
	}
	return newAlreadyDecidedError("%s is not waiting for approval", v.CallID)
}

func alreadyDecidedError(id string, isAllowed bool, by string) error {
	decision := "denied"
	if isAllowed {
		decision = "allowed"
	}
	return newAlreadyDecidedError("%s was already %s, by %s", id, decision, terminal.SafeLine(by))
}
