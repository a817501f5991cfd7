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

var formsMeta = strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{"form":{}}}`, 1)

type formsResult struct {
	Type     string `json:"resultType"`
	Requests map[string]struct {
		Method string    `json:"method"`
		Params form.Form `json:"params"`
	} `json:"inputRequests"`
	State string `json:"requestState"`
}

func repeatCallText(id, args, answers, state string) string {
	text := callText(id, args, formsMeta)
	return strings.TrimSuffix(text, "}}") + fmt.Sprintf(`,"inputResponses":%s,"requestState":%q}}`, answers, state)
}

type modernSender func(text string) receivedMessage

var modernSenders = map[string]func(t *testing.T, s *testServer) modernSender{
	"http": func(t *testing.T, s *testServer) modernSender {
		c := s.modernClient(t)
		return func(text string) receivedMessage {
			all := c.requestAndRead(text)
			if len(all) == 0 {
				t.Fatal("the request got no answer")
			}
			return all[len(all)-1]
		}
	},
	"stdio": func(t *testing.T, s *testServer) modernSender {
		p := s.dial(t)
		return func(text string) receivedMessage {
			p.send(text)
			for {
				if m := p.mustRead(); m.Method == "" {
					return m
				}
			}
		}
	},
}

func eachModernSender(t *testing.T, gates []dispatch.Gate, f func(t *testing.T, g *approvalDispatcher, ask modernSender)) {
	t.Helper()
	for name, open := range modernSenders {
		t.Run(name, func(t *testing.T) {
			g := newApprovalDispatcher(t, gates...)
			s := serveTools(t, g, Options{Heartbeat: time.Hour})
			f(t, g, open(t, s))
			if n := s.approvals.resumable.countKept(); n != 0 {
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
		t.Fatalf("the reply does not contain exactly one question: %s", r.text)
	}
	for key := range a.Requests {
		return key, a
	}
	return "", a
}

func TestModernClientDecides(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		runs   bool
	}{
		"allow once": {choiceAnswer("allow once"), true},
		"deny":       {choiceAnswer("deny"), false},
		"decline":    {`{"action":"decline"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			eachModernSender(t, askForEveryCall, func(t *testing.T, g *approvalDispatcher, ask modernSender) {
				m := ask(callText(`1`, `{"a":1,"b":2}`, formsMeta))
				key, q := m.decodeQuestion(t)
				if q.Requests[key].Method != "elicitation/create" || !strings.Contains(q.Requests[key].Params.Message, "May messages__echo run") {
					t.Errorf("the question is %s", m.text)
				}
				if !strings.Contains(m.text, `"io.modelcontextprotocol/serverInfo"`) {
					t.Errorf("the reply lacks serverInfo: %s", m.text)
				}
				// The server must accept a repeated request whose arguments are the same, but have a different order
				// and different spaces.
				m = ask(repeatCallText(`2`, `{ "b":2,"a":1 }`, fmt.Sprintf(`{"other":{"action":"accept"},%q:%s}`, key, tt.answer), q.State))
				r := m.toolResultOf(t)
				if r.ResultType != "complete" || r.IsError == tt.runs || (g.runs.Load() == 1) != tt.runs {
					t.Errorf("the tool ran %d times, and the reply is %s", g.runs.Load(), m.text)
				}
				if m := ask(repeatCallText(`3`, `{"a":1,"b":2}`, fmt.Sprintf(`{%q:%s}`, key, choiceAnswer("allow once")), q.State)); m.Error == nil || m.Error.Code != wire.CodeInvalidParams {
					t.Errorf("the server accepted the same requestState twice: %s", m.text)
				}
			})
		})
	}
}

func TestModernSessions(t *testing.T) {
	for name, want := range map[string]string{"http": "[allow once deny]", "stdio": "[allow once allow for this session deny]"} {
		g := newApprovalDispatcher(t, alwaysAskGate{})
		ask := modernSenders[name](t, serveTools(t, g, Options{}))
		key, q := ask(callText(`1`, `{}`, formsMeta)).decodeQuestion(t)
		if got := fmt.Sprint(q.Requests[key].Params.Schema.Properties["decision"].Enum); got != want {
			t.Errorf("%s: the form has the choices %s; want %v", name, got, want)
		}
		g.Shutdown()
	}
}

func TestModernCallWithSeveralForms(t *testing.T) {
	eachModernSender(t, askForEveryCall, func(t *testing.T, g *approvalDispatcher, ask modernSender) {
		const args = `{"wait":2}`
		key, q := ask(callText(`1`, args, formsMeta)).decodeQuestion(t)
		// If the repeated request contains no answer to a form, the server sends the same form
		// again, with the same ticket.
		for i, inputResponses := range []string{`{}`, `{"other":{"action":"accept"}}`, `null`} {
			k, next := ask(repeatCallText(fmt.Sprint(i+10), args, inputResponses, q.State)).decodeQuestion(t)
			if k != key || g.runs.Load() != 0 {
				t.Errorf("%s: the form asks for %s, not %s", inputResponses, k, key)
			}
			q = next
		}
		answer := choiceAnswer("allow once")
		for round := range 2 { // after the approval of the call, its tool waits for the user twice
			k, next := ask(repeatCallText(fmt.Sprint(round+20), args, fmt.Sprintf(`{%q:%s}`, key, answer), q.State)).decodeQuestion(t)
			if k == key || !strings.Contains(next.Requests[k].Params.Message, "Log in.") {
				t.Fatalf("round %d: the next question is %+v", round, next)
			}
			key, q, answer = k, next, `{"action":"accept"}`
		}
		m := ask(repeatCallText(`30`, args, fmt.Sprintf(`{%q:%s}`, key, answer), q.State))
		if r := m.toolResultOf(t); r.IsError || string(r.Structured) != args || g.runs.Load() != 1 {
			t.Errorf("the reply to the approved call is %s", m.text)
		}
	})
}

func TestModernStateIsSealed(t *testing.T) {
	eachModernSender(t, askForEveryCall, func(t *testing.T, g *approvalDispatcher, ask modernSender) {
		key, q := ask(callText(`1`, `{"a":1}`, formsMeta)).decodeQuestion(t)
		yes := fmt.Sprintf(`{%q:%s}`, key, choiceAnswer("allow once"))
		flipped := []byte(q.State)
		flipped[5] ^= 1
		for name, text := range map[string]string{
			"tampered":        repeatCallText(`2`, `{"a":1}`, yes, q.State+"-TAMPERED"),
			"changed":         repeatCallText(`2`, `{"a":1}`, yes, string(flipped)),
			"shortened":       repeatCallText(`2`, `{"a":1}`, yes, q.State[:20]),
			"of another call": repeatCallText(`2`, `{"a":2}`, yes, q.State),
			"of other digits": repeatCallText(`2`, `{"a":1.0}`, yes, q.State),
			"a list":          repeatCallText(`2`, `{"a":1}`, `[]`, q.State),
			"a number":        repeatCallText(`2`, `{"a":1}`, fmt.Sprintf(`{%q:12345}`, key), q.State),
		} {
			if m := ask(text); m.Error == nil || m.Error.Code != wire.CodeInvalidParams {
				t.Errorf("%s: the repeated request got %s", name, m.text)
			}
		}
		if g.runs.Load() != 0 {
			t.Error("the tool ran")
		}
		if m := ask(repeatCallText(`3`, `{"a":1}`, yes, q.State)); m.toolResultOf(t).IsError {
			t.Error(m.text)
		}
	})
}

func TestModernStateIsBoundToItsClient(t *testing.T) {
	g := newApprovalDispatcher(t, alwaysAskGate{})
	defer g.Shutdown()
	s := serveTools(t, g, Options{})
	first, second := modernSenders["stdio"](t, s), modernSenders["stdio"](t, s)
	key, q := first(callText(`1`, `{}`, formsMeta)).decodeQuestion(t)
	yes := repeatCallText(`2`, `{}`, fmt.Sprintf(`{%q:%s}`, key, choiceAnswer("allow once")), q.State)
	if m := second(yes); m.Error == nil || g.runs.Load() != 0 {
		t.Error(m.text)
	}
	if m := first(yes); m.toolResultOf(t).IsError {
		t.Error(m.text)
	}
}

// TestModernDecisionOnAnotherSurface checks that a call continues when the user decides
// on another surface, even if no request is waiting for the call.
func TestModernDecisionOnAnotherSurface(t *testing.T) {
	for name, closed := range map[string]bool{"between two requests": false, "after the form was closed": true} {
		t.Run(name, func(t *testing.T) {
			eachModernSender(t, askForEveryCall, func(t *testing.T, g *approvalDispatcher, ask modernSender) {
				f := g.Follow(dispatch.FollowOptions{})
				defer f.Close()
				key, q := ask(callText(`1`, `{"a":1}`, formsMeta)).decodeQuestion(t)
				w := g.onlyTicket(t)
				text := repeatCallText(`2`, `{"a":1}`, fmt.Sprintf(`{%q:%s}`, key, choiceAnswer("deny")), q.State)
				if closed {
					text = repeatCallText(`2`, `{"a":1}`, fmt.Sprintf(`{%q:{"action":"cancel"}}`, key), q.State)
				}
				decide := func() {
					if d, err := g.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true}); err != nil || d.Outcome != wire.DecisionAccepted {
						t.Errorf("Decide returned %+v, %v", d, err)
					}
				}
				got := make(chan receivedMessage)
				if !closed {
					decide()
					waitUntilCallEnded(t, f)
				}
				go func() { got <- ask(text) }()
				if closed {
					decide()
				}
				if m := <-got; m.toolResultOf(t).IsError || g.runs.Load() != 1 {
					t.Errorf("the reply to the approved call is %s", m.text)
				}
			})
		})
	}
}

// TestModernApprovalTimesOut checks that a client receives an error if it repeats its
// request after the approval timed out.
func TestModernApprovalTimesOut(t *testing.T) {
	// The limit is long, because the client must receive the form within the limit.
	eachModernSender(t, []dispatch.Gate{alwaysAskGate{limit: 5 * time.Second}}, func(t *testing.T, g *approvalDispatcher, ask modernSender) {
		f := g.Follow(dispatch.FollowOptions{})
		defer f.Close()
		key, q := ask(callText(`1`, `{}`, formsMeta)).decodeQuestion(t)
		waitUntilCallEnded(t, f)
		m := ask(repeatCallText(`2`, `{}`, fmt.Sprintf(`{%q:%s}`, key, choiceAnswer("allow once")), q.State))
		if r := m.toolResultOf(t); !strings.Contains(string(r.Meta[metaError]), `"code":"approval_timeout"`) || g.runs.Load() != 0 {
			t.Error(m.text)
		}
	})
}

func TestModernClientDisconnectsDuringApproval(t *testing.T) {
	g := newApprovalDispatcher(t, alwaysAskGate{})
	defer g.Shutdown()
	s := serveTools(t, g, Options{})
	f := g.Follow(dispatch.FollowOptions{})
	defer f.Close()
	awaitCallEnd := func() {
		t.Helper()
		waitUntilCallEnded(t, f)
	}
	yes := func(key string) string { return fmt.Sprintf(`{%q:%s}`, key, choiceAnswer("allow once")) }

	// A client that closes the response cancels the call.
	c := s.modernClient(t)
	key, q := c.answer(callText(`1`, `{}`, formsMeta)).decodeQuestion(t)
	ctx, disconnect := context.WithCancel(t.Context())
	res := c.post(ctx, repeatCallText(`2`, `{}`, fmt.Sprintf(`{%q:{"action":"cancel"}}`, key), q.State))
	if data, ok := newEvents(res.Body).nextData(); !ok || !strings.Contains(data, "waiting for approval") {
		t.Errorf("the client received %q", data)
	}
	// While one request waits for the call's answer, the server rejects another request that
	// continues the same call.
	if m := c.answer(repeatCallText(`3`, `{}`, yes(key), q.State)); m.Error == nil || m.Error.Code != wire.CodeInvalidRequest {
		t.Error(m.text)
	}
	disconnect()
	awaitCallEnd()
	if m := c.answer(repeatCallText(`4`, `{}`, yes(key), q.State)); m.Error == nil {
		t.Error(m.text)
	}

	// A stdio client that disconnects between two requests cancels its suspended call.
	p := s.dial(t)
	p.send(callText(`1`, `{}`, formsMeta))
	p.mustRead().decodeQuestion(t)
	p.in.Close()
	awaitCallEnd()
	if g.runs.Load() != 0 {
		t.Error("the tool ran")
	}
}

func TestModernClientsWithoutForms(t *testing.T) {
	eachModernSender(t, askForEveryCall, func(t *testing.T, g *approvalDispatcher, ask modernSender) {
		f := g.Follow(dispatch.FollowOptions{})
		defer f.Close()
		got := make(chan receivedMessage)
		go func() { got <- ask(callText(`1`, `{}`, modernMeta)) }()
		for {
			events, _, err := f.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if last := events[len(events)-1]; last.Kind == dispatch.EventSuspended {
				w := last.Call.Waiting
				if _, err := g.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true}); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		if m := <-got; m.toolResultOf(t).IsError || m.toolResultOf(t).ResultType != "complete" {
			t.Error(m.text)
		}
	})
}

func (c *resumableCalls) countKept() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.endedCalls) + len(c.callsByID) + c.answerBytes
}

func (c *resumableCalls) putEnded(id string, size int) *resumableCall {
	h := &resumableCall{id: id, done: make(chan struct{}), reply: reply{members: make([]byte, size)}}
	close(h.done)
	c.callsByID[id] = h
	c.storeAnswer(h)
	return h
}

func TestKeptAnswersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newResumableCalls()
		for i := range 5 {
			c.putEnded(fmt.Sprint(i), maxKeptAnswerBytes/3)
		}
		if len(c.endedCalls) != 3 || len(c.callsByID) != 3 || c.callsByID["1"] != nil || c.answerBytes != maxKeptAnswerBytes/3*3 {
			t.Errorf("the server stores %d ended calls with %d bytes", len(c.endedCalls), c.answerBytes)
		}
		c.putEnded("large", maxKeptAnswerBytes+1)
		if len(c.endedCalls) != 1 || c.callsByID["large"] == nil {
			t.Errorf("the server stores %d ended calls with %d bytes", len(c.endedCalls), c.answerBytes)
		}
		c.removeAnswered(c.callsByID["large"])
		lost := 0
		c.putEnded("last", 5).reply.onUndelivered = func() { lost++ }
		<-time.After(keptAnswerLifetime - time.Second)
		if c.countKept() != 1+1+5 {
			t.Error("an ended call was dropped too early")
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		if c.countKept() != 0 {
			t.Error("an ended call was stored too long")
		}
		if lost != 1 {
			t.Errorf("the loss was reported %d times; want 1", lost)
		}

		h := c.putEnded("fetched", maxKeptAnswerBytes)
		h.reply.onUndelivered = func() { lost++ }
		h.attach(nil)
		c.putEnded("next", maxKeptAnswerBytes)
		synctest.Wait()
		if lost != 1 || c.callsByID["fetched"] != nil {
			t.Errorf("a fetched answer is reported as lost")
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
		s.approvals.resumable.callsByID[fmt.Sprint(i)] = &resumableCall{}
	}
	c := s.modernClient(t)
	res := c.post(t.Context(), callText(`1`, `{}`, formsMeta))
	events := newEvents(res.Body)
	if data, _ := events.nextData(); !strings.Contains(data, "waiting for approval") {
		t.Errorf("the client received %s; want a text that contains %q", data, "waiting for approval")
	}
	w := g.onlyTicket(t)
	if _, err := g.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true}); err != nil {
		t.Fatal(err)
	}
	data, _ := events.nextData()
	for strings.Contains(data, "notifications/progress") { // skip the reminders of the suspended call
		data, _ = events.nextData()
	}
	if m := parseReceived(t, data); m.toolResultOf(t).IsError {
		t.Error(m.text)
	}
}

func TestModernStatusOfARefusedState(t *testing.T) {
	g := newApprovalDispatcher(t, alwaysAskGate{})
	defer g.Shutdown()
	c := serveTools(t, g, Options{}).modernClient(t)
	res := c.post(t.Context(), repeatCallText(`1`, `{}`, `{}`, "x"))
	res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Error(res.Status)
	}
}
