package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/httpjson"
	"opentabs/wire"
)

func (f *fixture) startSuspendedCall(t *testing.T) dispatch.View {
	t.Helper()
	subscription := f.calls.Subscribe(dispatch.SubscribeOptions{})
	defer subscription.Close()
	id, sink := f.call(t)
	sink.Ask(wire.ToolAskParams{DispatchID: id, Ask: 1, User: &wire.AskUser{Reason: "log in"}})
	for {
		events, _, err := subscription.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Kind == dispatch.EventSuspended {
				return e.Call
			}
		}
	}
}

func TestDecideSuspendedCall(t *testing.T) {
	f := startFixture(t)
	c := NewClient(f.port, testToken)
	yes, no := true, false
	waitingView := f.startSuspendedCall(t)
	ticketID := waitingView.Waiting.TicketID
	for _, step := range []struct {
		name     string
		decision Decision
		want     DecideResponse
	}{
		{"decision about another ticket", Decision{Allow: &yes, TicketID: "ticket_x"}, DecideResponse{Outcome: wire.DecisionNotPending}},
		{"first decision", Decision{Allow: &yes, TicketID: ticketID}, DecideResponse{wire.DecisionAccepted, "the command line", true}},
		{"second decision", Decision{Allow: &no, TicketID: ticketID}, DecideResponse{wire.DecisionAlreadyMade, "the command line", true}},
		{"decision without a ticket", Decision{Allow: &no}, DecideResponse{wire.DecisionAlreadyMade, "the command line", true}},
	} {
		if got, err := c.Calls.Decide(context.Background(), waitingView.CallID, step.decision); err != nil || got != step.want {
			t.Errorf("%s: response %+v, error %v; want %+v", step.name, got, err, step.want)
		}
	}
	f = startFixture(t)
	c = NewClient(f.port, testToken)
	id, _ := f.call(t)
	if got, err := c.Calls.Decide(context.Background(), id, Decision{Allow: &yes}); err != nil || got.Outcome != wire.DecisionNotPending {
		t.Errorf("decision about a call that is not waiting for approval: response %+v, error %v; want the outcome %s", got, err, wire.DecisionNotPending)
	}
	var refusedError *RefusedError
	if _, err := c.Calls.Decide(context.Background(), "call_none", Decision{Allow: &yes}); !errors.As(err, &refusedError) || refusedError.Status != http.StatusNotFound {
		t.Errorf("decision about an unknown call: error %v; want status 404", err)
	}
}

func TestDecideRejectsInvalidRequests(t *testing.T) {
	f := startFixture(t)
	waitingView := f.startSuspendedCall(t)
	for body, want := range map[string]string{
		``:                                     `is not the expected JSON object: EOF`,
		`{}`:                                   `the decision has no \"allow\": send {\"allow\": true or false`,
		`{"allow":1}`:                          `cannot unmarshal number`,
		`{"allow":true,"scopes":"once"}`:       `unknown field \"scopes\"`,
		`{"allow":true} {}`:                    `has more than one JSON value`,
		`{"allow":true,"scope":"always"}`:      `the scope \"always\" is not offered for this call: use one of [\"once\"]`,
		`{"allow":true,"scope":"x"}`:           `the scope \"x\" is not offered`,
		`{"allow":true,"scope":"time"}`:        `for_ms is 0: give it a number from 1 to 86400000`,
		`{"allow":true,"for_ms":5}`:            `for_ms goes with the scope \"time\" only`,
		`"` + strings.Repeat("x", 70000) + `"`: `too large`,
	} {
		resp, err := http.DefaultClient.Do(decideRequest(t, f, waitingView.CallID, body))
		if err != nil {
			t.Fatal(err)
		}
		var p httpjson.Problem
		err = json.NewDecoder(resp.Body).Decode(&p)
		_ = resp.Body.Close()
		encodedError, _ := json.Marshal(p.Error)
		if err != nil || resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(encodedError), want) {
			t.Errorf("decision %.60s: status %s, error text %s, error of decoding %v; want 400 and %q", body, resp.Status, encodedError, err, want)
		}
	}
	if v, _ := f.calls.Find(waitingView.CallID); v.Waiting == nil {
		t.Error("a rejected decision ended the wait of the call; want a call that still waits")
	}
}

func decideRequest(t *testing.T, f *fixture, id, requestBody string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, f.url+"/calls/"+id+"/decide", strings.NewReader(requestBody))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	return req
}

// TestCallResponseIsComplete checks that the response of /calls/{id} includes the
// activities and the timeline of the call, which /calls omits.
func TestCallResponseIsComplete(t *testing.T) {
	f := startFixture(t)
	id, sink := f.call(t)
	sink.Reports([]wire.Report{
		{Activity: &wire.Activity{Type: "table", Content: json.RawMessage(`[{"a":1}]`)}, Audience: "user"},
		{Activity: &wire.Activity{Type: "table", Patch: json.RawMessage(`[{"op":"add","path":"/-","value":{"a":2}}]`)}},
	}, 0)
	v, err := NewClient(f.port, testToken).Calls.Get(context.Background(), id)
	if err != nil || len(v.Activities) != 1 || string(v.Activities[0].Content) != `[{"a":1},{"a":2}]` || v.Activities[0].Audience != "user" {
		t.Fatalf("activities of the call = %+v, error %v; want one patched table for the user", v.Activities, err)
	}
	if len(v.Timeline) != 2 || v.Timeline[1].Kind != dispatch.EventRunning || time.Since(v.Timeline[0].Time) > time.Minute {
		t.Errorf("timeline of the call = %+v; want two recent moments, the second one running", v.Timeline)
	}
	calls, err := NewClient(f.port, testToken).Calls.List(context.Background())
	if err != nil || len(calls) != 1 || calls[0].Activities != nil || calls[0].Timeline != nil {
		t.Errorf("list of calls = %+v, error %v; want one call without activities and timeline", calls, err)
	}
}
