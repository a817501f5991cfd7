package callview

import (
	"errors"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// TestDecisionNamesItsTicket checks that a decision about one ticket cannot apply to
// a later ticket of the same call.
func TestDecisionNamesItsTicket(t *testing.T) {
	w := dispatch.WaitingTicket{TicketID: "ticket_1"}
	yes := Choice{Allow: true, Scope: wire.ScopeTime, For: time.Minute}.decisionFor(w)
	if yes.TicketID != "ticket_1" || !*yes.Allow || yes.Scope != wire.ScopeTime || yes.DurationMs != 60000 {
		t.Errorf("decision of an approval for one minute = %+v; want allow, ticket_1 and 60000 ms", yes)
	}
	no := Choice{Scope: wire.ScopeOnce}.decisionFor(w)
	if no.TicketID != "ticket_1" || *no.Allow || no.Scope != "" {
		t.Errorf("decision of a denial = %+v; want no approval, ticket_1 and no scope", no)
	}
}

func TestDecisionForCallThatIsNotWaiting(t *testing.T) {
	now := time.Now()
	suspendedView := dispatch.View{Snapshot: dispatch.Snapshot{CallID: "call_1", Progression: dispatch.Progression{Status: wire.StatusRunning}}, Timeline: []dispatch.TimelineEntry{
		{Kind: dispatch.EventResumed, Resolution: &dispatch.Resolution{Allow: true, Surface: "the side panel"}},
		{Kind: dispatch.EventRunning},
	}}
	endedView := suspendedView
	endedView.Ended, endedView.Status = &now, wire.StatusDone
	for want, v := range map[string]dispatch.View{
		"call_1 was already allowed, by the side panel": suspendedView,
		"call_1 has already ended (done)":               endedView,
		"call_1 is not waiting for approval":            {Snapshot: dispatch.Snapshot{CallID: "call_1"}},
	} {
		err := explainNotWaiting(v)
		var decidedErr *AlreadyDecidedError
		if !errors.As(err, &decidedErr) || !strings.Contains(err.Error(), want) {
			t.Errorf("error for a call that is not waiting = %v, want %s", err, want)
		}
	}
}
