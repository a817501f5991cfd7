package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/mcpserver/form"
	"opentabs/wire"
)

var metaWithForms = strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{"form":{}}}`, 1)

type formsResult struct {
	Type     string `json:"resultType"`
	Requests map[string]struct {
		Method string    `json:"method"`
		Params form.Form `json:"params"`
	} `json:"inputRequests"`
	State string `json:"requestState"`
}

func newResumeCallMessage(id, args, formAnswers, state string) string {
	request := callText(id, args, metaWithForms)
	return strings.TrimSuffix(request, "}}") + fmt.Sprintf(`,"inputResponses":%s,"requestState":%q}}`, formAnswers, state)
}

type modernSender func(request string) receivedMessage

var modernSenders = map[string]func(t *testing.T, s *testServer) modernSender{
	"http": func(t *testing.T, s *testServer) modernSender {
		c := s.modernClient(t)
		return func(request string) receivedMessage {
			allMessages := c.requestAndRead(request)
			if len(allMessages) == 0 {
				t.Fatal("the server sent no answer to the request; want at least one message")
			}
			return allMessages[len(allMessages)-1]
		}
	},
	"stdio": func(t *testing.T, s *testServer) modernSender {
		p := s.dial(t)
		return func(request string) receivedMessage {
			p.sendMessage(request)
			for {
				if m := p.mustReadMessage(); m.Method == "" {
					return m
				}
			}
		}
	},
}

func eachModernSender(t *testing.T, gates []dispatch.Gate, f func(t *testing.T, g *approvalDispatcher, sendModernCall modernSender)) {
	t.Helper()
	for name, open := range modernSenders {
		t.Run(name, func(t *testing.T) {
			g := newApprovalDispatcher(t, gates...)
			s := serveTools(t, g, Options{Heartbeat: time.Hour})
			f(t, g, open(t, s))
			if n := s.approvals.resumableCalls.countStoredItems(); n != 0 {
				t.Errorf("the server still stores %d resumable calls; want 0", n)
			}
			g.Shutdown()
		})
	}
}

func (r receivedMessage) decodeQuestion(t *testing.T) (string, formsResult) {
	t.Helper()
	var a formsResult
	if r.Result == nil || json.Unmarshal(r.Result, &a) != nil || a.Type != "input_required" || len(a.Requests) != 1 || a.State == "" {
		t.Fatalf("reply = %s; want input_required with exactly one approval form", r.messageJSON)
	}
	for key := range a.Requests {
		return key, a
	}
	return "", a
}

func TestModernFormDecidesApproval(t *testing.T) {
	for name, tt := range map[string]struct {
		formAnswer  string
		wantToolRun bool
	}{
		"allow once": {newDecisionAnswer("allow once"), true},
		"deny":       {newDecisionAnswer("deny"), false},
		"decline":    {`{"action":"decline"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			eachModernSender(t, askForEveryCall, func(t *testing.T, g *approvalDispatcher, sendModernCall modernSender) {
				m := sendModernCall(callText(`1`, `{"a":1,"b":2}`, metaWithForms))
				key, q := m.decodeQuestion(t)
				if q.Requests[key].Method != "elicitation/create" || !strings.Contains(q.Requests[key].Params.Message, "May messages__echo run") {
					t.Errorf("reply = %s; want an approval form with the text \"May messages__echo run\"", m.messageJSON)
				}
				if !strings.Contains(m.messageJSON, `"io.modelcontextprotocol/serverInfo"`) {
					t.Errorf("reply = %s; want io.modelcontextprotocol/serverInfo", m.messageJSON)
				}
				// The server must accept a repeated request whose arguments are the same, but have a different order
				// and different spaces.
				m = sendModernCall(newResumeCallMessage(`2`, `{ "b":2,"a":1 }`, fmt.Sprintf(`{"other":{"action":"accept"},%q:%s}`, key, tt.formAnswer), q.State))
				r := m.toolResultOf(t)
				if r.ResultType != "complete" || r.IsError == tt.wantToolRun || (g.runCount.Load() == 1) != tt.wantToolRun {
					t.Errorf("%d runs of the tool, reply %s; want the tool to run: %t", g.runCount.Load(), m.messageJSON, tt.wantToolRun)
				}
				if m := sendModernCall(newResumeCallMessage(`3`, `{"a":1,"b":2}`, fmt.Sprintf(`{%q:%s}`, key, newDecisionAnswer("allow once")), q.State)); m.Error == nil || m.Error.Code != wire.CodeInvalidParams {
					t.Errorf("answer to a requestState that was already used = %s; want the error invalid params", m.messageJSON)
				}
			})
		})
	}
}

func TestModernApprovalChoices(t *testing.T) {
	for name, want := range map[string]string{"http": "[allow once deny]", "stdio": "[allow once allow for this session deny]"} {
		g := newApprovalDispatcher(t, alwaysAskGate{})
		sendModernCall := modernSenders[name](t, serveTools(t, g, Options{}))
		key, q := sendModernCall(callText(`1`, `{}`, metaWithForms)).decodeQuestion(t)
		if got := fmt.Sprint(q.Requests[key].Params.Schema.Properties["decision"].Enum); got != want {
			t.Errorf("%s: choices in the approval form = %s; want %v", name, got, want)
		}
		g.Shutdown()
	}
}

func TestModernCallAsksSeveralFormsInTurn(t *testing.T) {
	eachModernSender(t, askForEveryCall, func(t *testing.T, g *approvalDispatcher, sendModernCall modernSender) {
		const args = `{"wait":2}`
		key, q := sendModernCall(callText(`1`, args, metaWithForms)).decodeQuestion(t)
		// If the repeated request contains no answer to a form, the server sends the same form
		// again, with the same ticket.
		for i, inputResponses := range []string{`{}`, `{"other":{"action":"accept"}}`, `null`} {
			k, nextResult := sendModernCall(newResumeCallMessage(fmt.Sprint(i+10), args, inputResponses, q.State)).decodeQuestion(t)
			if k != key || g.runCount.Load() != 0 {
				t.Errorf("answer to %s: ticket %s; want the same ticket %s and no run of the tool", inputResponses, k, key)
			}
			q = nextResult
		}
		formAnswer := newDecisionAnswer("allow once")
		for round := range 2 { // after the approval of the call, its tool waits for the user twice
			k, nextResult := sendModernCall(newResumeCallMessage(fmt.Sprint(round+20), args, fmt.Sprintf(`{%q:%s}`, key, formAnswer), q.State)).decodeQuestion(t)
			if k == key || !strings.Contains(nextResult.Requests[k].Params.Message, "Log in.") {
				t.Fatalf("round %d: next form = %+v; want a new form with the text \"Log in.\"", round, nextResult)
			}
			key, q, formAnswer = k, nextResult, `{"action":"accept"}`
		}
		m := sendModernCall(newResumeCallMessage(`30`, args, fmt.Sprintf(`{%q:%s}`, key, formAnswer), q.State))
		if r := m.toolResultOf(t); r.IsError || string(r.Structured) != args || g.runCount.Load() != 1 {
			t.Errorf("reply to the approved call = %s; want the tool's arguments after one run", m.messageJSON)
		}
	})
}

func TestModernStateRejectsTampering(t *testing.T) {
	eachModernSender(t, askForEveryCall, func(t *testing.T, g *approvalDispatcher, sendModernCall modernSender) {
		key, q := sendModernCall(callText(`1`, `{"a":1}`, metaWithForms)).decodeQuestion(t)
		yes := fmt.Sprintf(`{%q:%s}`, key, newDecisionAnswer("allow once"))
		tamperedState := []byte(q.State)
		tamperedState[5] ^= 1
		for name, resumeMessage := range map[string]string{
			"tampered":                          newResumeCallMessage(`2`, `{"a":1}`, yes, q.State+"-TAMPERED"),
			"changed":                           newResumeCallMessage(`2`, `{"a":1}`, yes, string(tamperedState)),
			"shortened":                         newResumeCallMessage(`2`, `{"a":1}`, yes, q.State[:20]),
			"state of another call":             newResumeCallMessage(`2`, `{"a":2}`, yes, q.State),
			"state of a call with other digits": newResumeCallMessage(`2`, `{"a":1.0}`, yes, q.State),
			"answers as a list":                 newResumeCallMessage(`2`, `{"a":1}`, `[]`, q.State),
			"answer that is a number":           newResumeCallMessage(`2`, `{"a":1}`, fmt.Sprintf(`{%q:12345}`, key), q.State),
		} {
			if m := sendModernCall(resumeMessage); m.Error == nil || m.Error.Code != wire.CodeInvalidParams {
				t.Errorf("%s: answer to the repeated request = %s; want the error invalid params", name, m.messageJSON)
			}
		}
		if g.runCount.Load() != 0 {
			t.Error("the tool ran without an approval; want no run")
		}
		if m := sendModernCall(newResumeCallMessage(`3`, `{"a":1}`, yes, q.State)); m.toolResultOf(t).IsError {
			t.Error(m.messageJSON)
		}
	})
}

func TestModernStateIsBoundToItsClient(t *testing.T) {
	g := newApprovalDispatcher(t, alwaysAskGate{})
	defer g.Shutdown()
	s := serveTools(t, g, Options{})
	firstSender, secondSender := modernSenders["stdio"](t, s), modernSenders["stdio"](t, s)
	key, q := firstSender(callText(`1`, `{}`, metaWithForms)).decodeQuestion(t)
	yes := newResumeCallMessage(`2`, `{}`, fmt.Sprintf(`{%q:%s}`, key, newDecisionAnswer("allow once")), q.State)
	if m := secondSender(yes); m.Error == nil || g.runCount.Load() != 0 {
		t.Error(m.messageJSON)
	}
	if m := firstSender(yes); m.toolResultOf(t).IsError {
		t.Error(m.messageJSON)
	}
}

// TestModernDecisionOnAnotherSurface checks that a call continues when the user decides
// on another surface, even if no request is waiting for the call.
func TestModernDecisionOnAnotherSurface(t *testing.T) {
	for name, closed := range map[string]bool{"between two requests": false, "after the form was closed": true} {
		t.Run(name, func(t *testing.T) {
			eachModernSender(t, askForEveryCall, func(t *testing.T, g *approvalDispatcher, sendModernCall modernSender) {
				f := g.Subscribe(dispatch.SubscribeOptions{})
				defer f.Close()
				key, q := sendModernCall(callText(`1`, `{"a":1}`, metaWithForms)).decodeQuestion(t)
				w := g.findTicket(t)
				request := newResumeCallMessage(`2`, `{"a":1}`, fmt.Sprintf(`{%q:%s}`, key, newDecisionAnswer("deny")), q.State)
				if closed {
					request = newResumeCallMessage(`2`, `{"a":1}`, fmt.Sprintf(`{%q:{"action":"cancel"}}`, key), q.State)
				}
				decide := func() {
					if d, err := g.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true}); err != nil || d.Outcome != wire.DecisionAccepted {
						t.Errorf("Decide returned %+v, error %v; want the outcome accepted", d, err)
					}
				}
				got := make(chan receivedMessage)
				if !closed {
					decide()
					waitUntilCallEnded(t, f)
				}
				go func() { got <- sendModernCall(request) }()
				if closed {
					decide()
				}
				if m := <-got; m.toolResultOf(t).IsError || g.runCount.Load() != 1 {
					t.Errorf("reply to the approved call = %s; want a result after one run", m.messageJSON)
				}
			})
		})
	}
}

// TestModernApprovalTimesOut checks that a client receives an error if it repeats its
// request after the approval timed out.
func TestModernApprovalTimesOut(t *testing.T) {
	// The limit is long, because the client must receive the form within the limit.
	eachModernSender(t, []dispatch.Gate{alwaysAskGate{limit: 5 * time.Second}}, func(t *testing.T, g *approvalDispatcher, sendModernCall modernSender) {
		f := g.Subscribe(dispatch.SubscribeOptions{})
		defer f.Close()
		key, q := sendModernCall(callText(`1`, `{}`, metaWithForms)).decodeQuestion(t)
		waitUntilCallEnded(t, f)
		m := sendModernCall(newResumeCallMessage(`2`, `{}`, fmt.Sprintf(`{%q:%s}`, key, newDecisionAnswer("allow once")), q.State))
		if r := m.toolResultOf(t); !strings.Contains(string(r.Meta[metaError]), `"code":"approval_timeout"`) || g.runCount.Load() != 0 {
			t.Error(m.messageJSON)
		}
	})
}

func TestModernClientDisconnectsDuringApproval(t *testing.T) {
	g := newApprovalDispatcher(t, alwaysAskGate{})
	defer g.Shutdown()
	s := serveTools(t, g, Options{})
	f := g.Subscribe(dispatch.SubscribeOptions{})
	defer f.Close()
	awaitCallEnd := func() {
		t.Helper()
		waitUntilCallEnded(t, f)
	}
	yes := func(key string) string { return fmt.Sprintf(`{%q:%s}`, key, newDecisionAnswer("allow once")) }

	// A client that closes the response cancels the call.
	c := s.modernClient(t)
	key, q := c.call(callText(`1`, `{}`, metaWithForms)).decodeQuestion(t)
	ctx, disconnect := context.WithCancel(t.Context())
	res := c.postRequest(ctx, newResumeCallMessage(`2`, `{}`, fmt.Sprintf(`{%q:{"action":"cancel"}}`, key), q.State))
	if eventData, ok := newEvents(res.Body).readEventData(); !ok || !strings.Contains(eventData, "waiting for approval") {
		t.Errorf("event = %q; want the text \"waiting for approval\"", eventData)
	}
	// While one request waits for the call's answer, the server rejects another request that
	// continues the same call.
	if m := c.call(newResumeCallMessage(`3`, `{}`, yes(key), q.State)); m.Error == nil || m.Error.Code != wire.CodeInvalidRequest {
		t.Error(m.messageJSON)
	}
	disconnect()
	awaitCallEnd()
	if m := c.call(newResumeCallMessage(`4`, `{}`, yes(key), q.State)); m.Error == nil {
		t.Error(m.messageJSON)
	}

	// A stdio client that disconnects between two requests cancels its suspended call.
	p := s.dial(t)
	p.sendMessage(callText(`1`, `{}`, metaWithForms))
	p.mustReadMessage().decodeQuestion(t)
	p.in.Close()
	awaitCallEnd()
	if g.runCount.Load() != 0 {
		t.Error("the tool ran without an approval; want no run")
	}
}

func TestModernClientsWithoutForms(t *testing.T) {
	eachModernSender(t, askForEveryCall, func(t *testing.T, g *approvalDispatcher, sendModernCall modernSender) {
		f := g.Subscribe(dispatch.SubscribeOptions{})
		defer f.Close()
		got := make(chan receivedMessage)
		go func() { got <- sendModernCall(callText(`1`, `{}`, modernMeta)) }()
		for {
			events, _, err := f.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if lastEvent := events[len(events)-1]; lastEvent.Kind == dispatch.EventSuspended {
				w := lastEvent.Call.Waiting
				if _, err := g.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true}); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		if m := <-got; m.toolResultOf(t).IsError || m.toolResultOf(t).ResultType != "complete" {
			t.Error(m.messageJSON)
		}
	})
}

func (c *resumableCalls) countStoredItems() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.endedCalls) + len(c.callsByID) + c.answerBytes
}

func (c *resumableCalls) addAnsweredCall(id string, size int) *resumableCall {
	h := &resumableCall{id: id, done: make(chan struct{}), reply: reply{members: make([]byte, size)}}
	close(h.done)
	c.callsByID[id] = h
	c.storeAnswer(h)
	return h
}

// A request whose call ends while its approval is still listed returns the call's answer, not a form.
func TestEndedCallReturnsNoForm(t *testing.T) {
	calls := newResumableCalls()
	c := &resumableCall{approvals: &approvals{resumableCalls: calls}, id: "a", done: make(chan struct{}), tickets: []*openTicket{{}}, hasWaitingRequest: true}
	if r, isDetached := c.detachUnlessFormOpen(); !isDetached || !r.requiresInput {
		t.Errorf("reply of the open call = %+v, detached %v; want a form", r, isDetached)
	}
	close(c.done)
	if r, isDetached := c.detachUnlessFormOpen(); isDetached {
		t.Errorf("reply of the ended call = %+v, want no form", r)
	}
}

func TestStoredAnswersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newResumableCalls()
		for i := range 5 {
			c.addAnsweredCall(fmt.Sprint(i), maxStoredAnswerBytes/3)
		}
		if len(c.endedCalls) != 3 || len(c.callsByID) != 3 || c.callsByID["1"] != nil || c.answerBytes != maxStoredAnswerBytes/3*3 {
			t.Errorf("stored ended calls = %d, %d bytes; want 3, without the oldest", len(c.endedCalls), c.answerBytes)
		}
		c.addAnsweredCall("large", maxStoredAnswerBytes+1)
		if len(c.endedCalls) != 1 || c.callsByID["large"] == nil {
			t.Errorf("stored ended calls = %d, %d bytes; want only the call large", len(c.endedCalls), c.answerBytes)
		}
		c.removeAnsweredCall(c.callsByID["large"])
		lostAnswerCount := 0
		c.addAnsweredCall("last", 5).reply.onUndelivered = func() { lostAnswerCount++ }
		<-time.After(storedAnswerLifetime - time.Second)
		if c.countStoredItems() != 1+1+5 {
			t.Error("the server dropped an ended call before its lifetime was over; want it stored")
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		if c.countStoredItems() != 0 {
			t.Error("the server stores an ended call after its lifetime; want it dropped")
		}
		if lostAnswerCount != 1 {
			t.Errorf("the server reported the lost answer %d times; want 1", lostAnswerCount)
		}

		h := c.addAnsweredCall("fetched", maxStoredAnswerBytes)
		h.reply.onUndelivered = func() { lostAnswerCount++ }
		h.attachRequest(nil)
		c.addAnsweredCall("next", maxStoredAnswerBytes)
		synctest.Wait()
		if lostAnswerCount != 1 || c.callsByID["fetched"] != nil {
			t.Error("the server reported a fetched answer as lost; want no report")
		}
	})
}

// TestResumableCallsAreBounded checks that a call keeps its request open if
// maxResumableCalls calls are already waiting.
func TestResumableCallsAreBounded(t *testing.T) {
	g := newApprovalDispatcher(t, alwaysAskGate{})
	defer g.Shutdown()
	s := serveTools(t, g, Options{})
	for i := range maxResumableCalls {
		s.approvals.resumableCalls.callsByID[fmt.Sprint(i)] = &resumableCall{}
	}
	c := s.modernClient(t)
	res := c.postRequest(t.Context(), callText(`1`, `{}`, metaWithForms))
	events := newEvents(res.Body)
	if eventData, _ := events.readEventData(); !strings.Contains(eventData, "waiting for approval") {
		t.Errorf("the client received %s; want a text that contains %q", eventData, "waiting for approval")
	}
	w := g.findTicket(t)
	if _, err := g.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true}); err != nil {
		t.Fatal(err)
	}
	eventData, _ := events.readEventData()
	for strings.Contains(eventData, "notifications/progress") { // the reminders of the suspended call
		eventData, _ = events.readEventData()
	}
	if m := parseMessage(t, eventData); m.toolResultOf(t).IsError {
		t.Error(m.messageJSON)
	}
}

func TestModernRejectedStateStatus(t *testing.T) {
	g := newApprovalDispatcher(t, alwaysAskGate{})
	defer g.Shutdown()
	c := serveTools(t, g, Options{}).modernClient(t)
	res := c.postRequest(t.Context(), newResumeCallMessage(`1`, `{}`, `{}`, "x"))
	res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Error(res.Status)
	}
}
