package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/mcpserver/form"
	"opentabs/mcpserver/transport"
	"opentabs/wire"
)

type alwaysAskGate struct{ limit time.Duration }

func (alwaysAskGate) Name() string { return "ask" }

func (g alwaysAskGate) Decide(i dispatch.CallInfo) dispatch.Verdict {
	if i.Resolution != nil && i.Resolution.Allow {
		return dispatch.Verdict{}
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Reason: "Its permission is ask.", Limit: g.limit,
		Scopes: []wire.Scope{wire.ScopeOnce, wire.ScopeSession, wire.ScopeAlways},
	}}
}

// approvalDispatcher requires approval for every call. Its tool waits for the user as often as the argument "wait" states,
// and then returns its arguments.
type approvalDispatcher struct {
	*dispatch.Dispatcher
	runCount atomic.Int32
}

func newApprovalDispatcher(t *testing.T, gates ...dispatch.Gate) *approvalDispatcher {
	g := &approvalDispatcher{}
	type state struct {
		sink               dispatch.Sink
		args               json.RawMessage
		remainingFormCount int
	}
	formStates := map[string]*state{}
	var bridge dispatchtest.Bridge
	finishOrRequestForm := func(s *state) {
		if s.remainingFormCount == 0 {
			s.sink.Finish(s.args, nil)
			return
		}
		s.remainingFormCount--
		s.sink.Ask(wire.ToolAskParams{Ask: s.remainingFormCount + 1, User: &wire.AskUser{Reason: "Log in.", Title: "Login"}})
	}
	bridge.StartFunc = func(_ context.Context, toolRun dispatch.Run, sink dispatch.Sink) *wire.CallError {
		g.runCount.Add(1)
		var a struct {
			Wait int `json:"wait"`
		}
		if err := json.Unmarshal(toolRun.Args, &a); err != nil {
			t.Error(err)
		}
		s := &state{sink, toolRun.Args, a.Wait}
		formStates[toolRun.ID] = s
		go finishOrRequestForm(s)
		return nil
	}
	bridge.AnswerFunc = func(id string, _ int, _ json.RawMessage, err *wire.CallError) {
		s := formStates[id]
		if err != nil {
			go s.sink.Finish(nil, err)
			return
		}
		go finishOrRequestForm(s)
	}
	g.Dispatcher = dispatch.New(&bridge, dispatch.Options{Gates: gates})
	return g
}

func (g *approvalDispatcher) findTicket(t *testing.T) dispatch.WaitingTicket {
	t.Helper()
	for _, v := range g.Calls() {
		if v.Waiting != nil {
			return *v.Waiting
		}
	}
	t.Fatal("no call is waiting for approval; want one")
	return dispatch.WaitingTicket{}
}

func waitUntilCallEnded(t *testing.T, f *dispatch.Subscriber) {
	t.Helper()
	for {
		events, _, err := f.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Kind == dispatch.EventEnded {
				return
			}
		}
	}
}

type sessionClient struct {
	t *testing.T
	// The channel `messages` of an HTTP client is closed after the answer to the call.
	messages chan receivedMessage
	// sendMessage returns when the server has read the message; for a call, it may return earlier.
	sendMessage func(requestJSON string)
	disconnect  func()
}

func (p *sessionClient) mustReadMessage() receivedMessage {
	p.t.Helper()
	for m := range p.messages {
		if m.Method != "notifications/progress" {
			return m
		}
	}
	p.t.Fatal("the server closed the connection; want a message")
	return receivedMessage{}
}

func (p *sessionClient) readForm() (id string, shownForm form.Form) {
	p.t.Helper()
	m := p.mustReadMessage()
	if m.Method != "elicitation/create" {
		p.t.Fatalf("message = %s; want an approval form (elicitation/create)", m.messageJSON)
	}
	var formRequest struct {
		Params form.Form `json:"params"`
	}
	if err := json.Unmarshal([]byte(m.messageJSON), &formRequest); err != nil {
		p.t.Fatal(err)
	}
	return string(m.ID), formRequest.Params
}

func (p *sessionClient) answerForm(id, result string) {
	p.sendMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

func newDecisionAnswer(decision string) string {
	return fmt.Sprintf(`{"action":"accept","content":{"decision":%q}}`, decision)
}

const showsForms = `{"elicitation":{}}`

// sessionClients has one function per transport (HTTP and stdio), which connects a test
// client with the given MCP capabilities.
var sessionClients = map[string]func(t *testing.T, s *testServer, capabilities string) *sessionClient{
	"http": func(t *testing.T, s *testServer, capabilities string) *sessionClient {
		c := s.sessionlessClient(t)
		res := c.postRequest(context.Background(), strings.Replace(initializeText("Claude"), `"capabilities":{}`, `"capabilities":`+capabilities, 1))
		readMessages(t, res)
		c.session, c.version = res.Header.Get("Mcp-Session-Id"), "2025-11-25"
		p := &sessionClient{t: t, messages: make(chan receivedMessage, 100)}
		ctx, disconnect := context.WithCancel(t.Context())
		p.disconnect = disconnect
		p.sendMessage = func(requestJSON string) {
			if !strings.Contains(requestJSON, `"tools/call"`) {
				if res := c.postRequest(context.Background(), requestJSON); res.StatusCode != http.StatusAccepted {
					t.Errorf("POST of %s: status %s; want 202", requestJSON, res.Status)
				} else {
					res.Body.Close()
				}
				return
			}
			r := c.newRequest(ctx, http.MethodPost, requestJSON)
			go func() {
				defer close(p.messages)
				res, err := c.http.Do(r)
				if err != nil {
					return
				}
				defer res.Body.Close()
				if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
					for _, m := range readMessages(t, res) {
						p.messages <- m
					}
					return
				}
				events := newEvents(res.Body)
				for eventData, ok := events.readEventData(); ok; eventData, ok = events.readEventData() {
					p.messages <- parseMessage(t, eventData)
				}
			}()
		}
		return p
	},
	"stdio": func(t *testing.T, s *testServer, capabilities string) *sessionClient {
		peer := s.dial(t)
		peer.sendMessage(strings.Replace(initializeText("Claude"), `"capabilities":{}`, `"capabilities":`+capabilities, 1))
		peer.mustReadMessage()
		p := &sessionClient{t: t, messages: make(chan receivedMessage, 100), disconnect: func() { peer.in.Close() }}
		progressWasRead := make(chan struct{}, 1)
		p.sendMessage = func(requestJSON string) {
			if strings.Contains(requestJSON, `"tools/call"`) {
				peer.sendMessage(requestJSON)
				return
			}
			peer.sendMessage(requestJSON, `{"jsonrpc":"2.0","id":"read","method":"ping"}`)
			<-progressWasRead
		}
		go func() {
			defer close(p.messages)
			for m, ok := peer.readNext(); ok; m, ok = peer.readNext() {
				if string(m.ID) == `"read"` {
					progressWasRead <- struct{}{}
					continue
				}
				p.messages <- m
			}
		}()
		return p
	},
}

func eachSessionClient(t *testing.T, capabilities string, gates []dispatch.Gate, f func(t *testing.T, g *approvalDispatcher, p *sessionClient)) {
	t.Helper()
	for name, open := range sessionClients {
		t.Run(name, func(t *testing.T) {
			g := newApprovalDispatcher(t, gates...)
			f(t, g, open(t, serveTools(t, g, Options{}), capabilities))
			g.Shutdown()
		})
	}
}

var askForEveryCall = []dispatch.Gate{alwaysAskGate{}}

func TestClientFormDecidesApproval(t *testing.T) {
	for _, tt := range []struct {
		name, formAnswer string
		wantToolRun      bool
		scope            wire.Scope
	}{
		{"allow once", newDecisionAnswer("allow once"), true, wire.ScopeOnce},
		{"allow for the session", newDecisionAnswer("allow for this session"), true, wire.ScopeSession},
		{"deny", newDecisionAnswer("deny"), false, ""},
		{"decline", `{"action":"decline"}`, false, ""},
		{"decline with content that is no object", `{"action":"decline","content":"x"}`, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachSessionClient(t, showsForms, askForEveryCall, func(t *testing.T, g *approvalDispatcher, p *sessionClient) {
				p.sendMessage(callText(`1`, `{"text":"hi"}`, `{}`))
				id, form := p.readForm()
				if want := "May messages__echo run in your browser?\nIts permission is ask.\nArguments: {\"text\":\"hi\"}"; form.Message != want {
					t.Errorf("text of the approval form = %q\nwant %q", form.Message, want)
				}
				if got := form.Schema.Properties["decision"].Enum; fmt.Sprint(got) != "[allow once allow for this session deny]" {
					t.Errorf("the form has the choices %q; want %q", got, "[allow once allow for this session deny]")
				}
				if n := g.runCount.Load(); n != 0 {
					t.Error("the tool ran before the user's decision; want no run")
				}
				p.answerForm(id, tt.formAnswer)
				r := p.mustReadMessage().toolResultOf(t)
				if r.IsError == tt.wantToolRun || (g.runCount.Load() == 1) != tt.wantToolRun {
					t.Errorf("call failed: %v; the tool ran %d times; content %v; want the tool to run: %t", r.IsError, g.runCount.Load(), r.Content, tt.wantToolRun)
				}
				if !tt.wantToolRun && !strings.Contains(string(r.Meta[metaError]), `"code":"denied"`) {
					t.Errorf("error of the denied call = %s; want the code denied", r.Meta[metaError])
				}
			})
		})
	}
}

func TestFormAnswersWithoutDecision(t *testing.T) {
	for name, formAnswer := range map[string]string{
		"cancel":                    `{"jsonrpc":"2.0","id":%s,"result":{"action":"cancel"}}`,
		"accept without a decision": `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{}}}`,
		"no content":                `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`,
		"another choice":            `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"decision":"allow always"}}}`,
		"a wrong type":              `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"decision":true}}}`,
		"an unknown action":         `{"jsonrpc":"2.0","id":%s,"result":{"action":"allow"}}`,
		"result that is no object":  `{"jsonrpc":"2.0","id":%s,"result":5}`,
		"an error":                  `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			eachSessionClient(t, showsForms, askForEveryCall, func(t *testing.T, g *approvalDispatcher, p *sessionClient) {
				p.sendMessage(callText(`1`, `{}`, `{}`))
				id, _ := p.readForm()
				p.sendMessage(fmt.Sprintf(formAnswer, id))
				p.answerForm(id, newDecisionAnswer("allow once")) // a second answer to the same form is ignored
				w := g.findTicket(t)
				if g.runCount.Load() != 0 {
					t.Error("the tool ran before the user's decision; want no run")
				}
				d, err := g.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true, Surface: "the side panel"})
				if err != nil || d.Outcome != wire.DecisionAccepted {
					t.Errorf("Decide returned %+v, error %v; want the outcome accepted", d, err)
				}
				if m := p.mustReadMessage(); m.toolResultOf(t).IsError || g.runCount.Load() != 1 {
					t.Error(m.messageJSON)
				}
			})
		})
	}
}

func TestDecisionOnOtherSurfaceClosesForm(t *testing.T) {
	eachSessionClient(t, showsForms, askForEveryCall, func(t *testing.T, g *approvalDispatcher, p *sessionClient) {
		p.sendMessage(callText(`1`, `{}`, `{}`))
		id, _ := p.readForm()
		w := g.findTicket(t)
		if _, err := g.Decide(w.CallID, w.TicketID, dispatch.Resolution{Surface: "the side panel"}); err != nil {
			t.Fatal(err)
		}
		// The server cancels its approval form before it answers the call.
		if m := p.mustReadMessage(); m.Method != "notifications/cancelled" || !strings.Contains(m.messageJSON, `"requestId":`+id) {
			t.Errorf("message = %s; want the cancellation of the approval form", m.messageJSON)
		}
		if m := p.mustReadMessage(); !m.toolResultOf(t).IsError {
			t.Error(m.messageJSON)
		}
		p.answerForm(id, newDecisionAnswer("allow once")) // an answer to a cancelled form is ignored
		if g.runCount.Load() != 0 {
			t.Error("the denied tool ran; want no run")
		}
	})
}

func TestLateApprovalIsIgnored(t *testing.T) {
	for name, endSession := range map[string]func(p *sessionClient){
		"cancelled": func(p *sessionClient) { p.sendMessage(newCancelMessage(`1`)) },
		"left":      func(p *sessionClient) { p.disconnect() },
	} {
		t.Run(name, func(t *testing.T) {
			eachSessionClient(t, showsForms, askForEveryCall, func(t *testing.T, g *approvalDispatcher, p *sessionClient) {
				f := g.Subscribe(dispatch.SubscribeOptions{})
				defer f.Close()
				p.sendMessage(callText(`1`, `{}`, `{}`))
				id, _ := p.readForm()
				w := g.findTicket(t)
				endSession(p)
				waitUntilCallEnded(t, f)
				if name == "cancelled" {
					if m := p.mustReadMessage(); m.Method != "notifications/cancelled" || !strings.Contains(m.messageJSON, id) {
						t.Errorf("message = %s; want the cancellation of the approval form", m.messageJSON)
					}
					p.answerForm(id, newDecisionAnswer("allow once"))
				}
				d, err := g.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true})
				if err != nil || d.Outcome != wire.DecisionNotPending || g.runCount.Load() != 0 {
					t.Errorf("Decide after the end of the call = %+v, error %v, %d runs of the tool; want the outcome not pending and no run", d, err, g.runCount.Load())
				}
			})
		})
	}
}

func TestToolAsksUser(t *testing.T) {
	for name, tt := range map[string]struct {
		formAnswer string
		isFailed   bool
	}{"done": {`{"action":"accept","content":{}}`, false}, "accept alone": {`{"action":"accept"}`, false}, "given up": {`{"action":"decline"}`, true}} {
		t.Run(name, func(t *testing.T) {
			eachSessionClient(t, showsForms, nil, func(t *testing.T, _ *approvalDispatcher, p *sessionClient) {
				p.sendMessage(callText(`1`, `{"wait":1}`, `{}`))
				id, form := p.readForm()
				if want := "messages__echo is waiting for you (Login): Log in.\nAccept when it is done. Decline to give up."; form.Message != want || len(form.Schema.Properties) != 0 {
					t.Errorf("form = %+v; want the text %q and no fields", form, want)
				}
				p.answerForm(id, tt.formAnswer)
				if m := p.mustReadMessage(); m.toolResultOf(t).IsError != tt.isFailed {
					t.Error(m.messageJSON)
				}
			})
		})
	}
}

// TestClientsWithoutForms checks that a client without support for forms receives the
// reason why its call waits.
func TestClientsWithoutForms(t *testing.T) {
	for name, capabilities := range map[string]string{"none": `{}`, "other modes": `{"elicitation":{"url":{}}}`} {
		t.Run(name, func(t *testing.T) {
			eachSessionClient(t, capabilities, askForEveryCall, func(t *testing.T, g *approvalDispatcher, p *sessionClient) {
				p.sendMessage(callText(`1`, `{}`, `{"progressToken":"p"}`))
				m := <-p.messages
				if want := "waiting for approval: may messages__echo run?"; m.Method != "notifications/progress" || !strings.HasPrefix(m.Params.Message, want) {
					t.Fatalf("message = %s; want a progress notification that begins with %q", m.messageJSON, want)
				}
				if m.Params.Meta["opentabs/audience"] != "user" {
					t.Errorf("notification = %s; want the audience user", m.messageJSON)
				}
				w := g.findTicket(t)
				if _, err := g.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true}); err != nil {
					t.Fatal(err)
				}
				if m := p.mustReadMessage(); m.Method != "" || m.toolResultOf(t).IsError {
					t.Error(m.messageJSON)
				}
			})
		})
	}
}

// TestNoFormAfterTheAnswer checks that a ticket created after the answer to its request
// is not shown to the client.
func TestNoFormAfterTheAnswer(t *testing.T) {
	s := newServer(t, callerFunc(echoArguments), Options{})
	p, err := decodeParams(json.RawMessage(`{"_meta":{"progressToken":5}}`))
	if err != nil {
		t.Fatal(err)
	}
	sendMessage := func([]byte) error {
		t.Error("the client received a message after the answer to its request; want none")
		return nil
	}
	f := s.approvals.newForms(t.Context(), request{Request: transport.Request{Params: &p, Send: sendMessage, Ask: func(context.Context, string, any) (json.RawMessage, error) {
		t.Error("the client received a form after the answer to its request; want none")
		return nil, nil
	}}})
	f.close()
	f.showForm(t.Context(), dispatch.WaitingTicket{})
}

// TestDisabledFormsAreNotSent checks that no client receives a form if Options.DisableForms is set, in
// any protocol version.
func TestDisabledFormsAreNotSent(t *testing.T) {
	for name, open := range sessionClients {
		t.Run(name, func(t *testing.T) {
			g := newApprovalDispatcher(t, alwaysAskGate{})
			s := serveTools(t, g, Options{DisableForms: true})
			p := open(t, s, showsForms)
			p.sendMessage(callText(`1`, `{}`, `{"progressToken":1}`))
			if m := <-p.messages; m.Method != "notifications/progress" {
				t.Error(m.messageJSON)
			}
			g.Shutdown()
			if m := p.mustReadMessage(); !m.toolResultOf(t).IsError {
				t.Error(m.messageJSON)
			}
		})
	}
	g := newApprovalDispatcher(t, alwaysAskGate{})
	c := serveTools(t, g, Options{DisableForms: true}).modernClient(t)
	res := c.postRequest(t.Context(), callText(`1`, `{}`, metaWithForms))
	if eventData, _ := newEvents(res.Body).readEventData(); !strings.Contains(eventData, "waiting for approval") {
		t.Error(eventData)
	}
	g.Shutdown()
}

func TestFormIsBoundToItsSession(t *testing.T) {
	g := newApprovalDispatcher(t, alwaysAskGate{})
	s := serveTools(t, g, Options{})
	defer g.Shutdown()
	a, b := sessionClients["http"](t, s, showsForms), sessionClients["stdio"](t, s, showsForms)
	a.sendMessage(callText(`1`, `{}`, `{}`))
	id, _ := a.readForm()
	b.answerForm(id, newDecisionAnswer("allow once"))
	g.findTicket(t)
	a.answerForm(id, newDecisionAnswer("allow once"))
	if m := a.mustReadMessage(); m.toolResultOf(t).IsError {
		t.Error(m.messageJSON)
	}
}

func TestApprovalTimesOut(t *testing.T) {
	// The limit is long, because the client must receive the form within the limit.
	eachSessionClient(t, showsForms, []dispatch.Gate{alwaysAskGate{limit: 5 * time.Second}}, func(t *testing.T, g *approvalDispatcher, p *sessionClient) {
		p.sendMessage(callText(`1`, `{}`, `{}`))
		id, _ := p.readForm()
		if m := p.mustReadMessage(); m.Method != "notifications/cancelled" || !strings.Contains(m.messageJSON, id) {
			t.Errorf("message = %s; want the cancellation of the approval form", m.messageJSON)
		}
		r := p.mustReadMessage().toolResultOf(t)
		if !strings.Contains(string(r.Meta[metaError]), `"code":"approval_timeout"`) || !strings.Contains(r.Content[0].Text, "side panel") {
			t.Errorf("the call has the error %s and the content %v; want approval_timeout and a reference to the side panel", r.Meta[metaError], r.Content)
		}
		if g.runCount.Load() != 0 {
			t.Error("the tool ran before an approval; want no run")
		}
	})
}

// TestNoProgressAfterTheAnswer checks that no progress message of a suspended call
// follows the answer to its request.
func TestNoProgressAfterTheAnswer(t *testing.T) {
	p, err := decodeParams(json.RawMessage(`{"_meta":{"progressToken":5}}`))
	if err != nil {
		t.Fatal(err)
	}
	sentReports := 0
	sender := newProgressSender(t.Context(), &p, func([]byte) error { sentReports++; return nil })
	sender.send(dispatch.Progress{Progress: 1})
	sender.close()
	sender.send(dispatch.Progress{Progress: 2})
	if sentReports != 1 {
		t.Errorf("the server sent %d progress messages; want 1", sentReports)
	}
}

// TestRemindersDoNotChangeProgressNumbers checks that reminders of a suspended call do
// not change the tool's progress numbers.
func TestRemindersDoNotChangeProgressNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bridge := &dispatchtest.Bridge{StartFunc: func(_ context.Context, _ dispatch.Run, sink dispatch.Sink) *wire.CallError {
			go func() {
				for i := 1.0; i <= 3; i++ {
					totalProgress := 3.0
					<-time.After(time.Second)
					sink.Reports([]wire.Report{{Progress: &i, Total: &totalProgress}}, 0)
				}
				sink.Finish(json.RawMessage(`{}`), nil)
			}()
			return nil
		}}
		d := dispatch.New(bridge, dispatch.Options{Gates: askForEveryCall})
		s := newServer(t, d, Options{Heartbeat: 10 * time.Second})
		p, err := decodeParams(json.RawMessage(`{"name":"messages__echo","arguments":{},"_meta":{"progressToken":5}}`))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		sendMessage := func(m []byte) error {
			r := parseMessage(t, string(m)).Params
			line := string(appendNumber(nil, r.Progress))
			if r.Total != nil {
				line += " of " + string(appendNumber(nil, *r.Total))
			}
			if r.Message != "" {
				word, _, _ := strings.Cut(r.Message, " ")
				line += " " + word + " for the " + fmt.Sprint(r.Meta["opentabs/audience"])
			}
			got = append(got, line)
			return nil
		}
		go func() {
			<-time.After(25 * time.Second)
			for _, v := range d.Calls() {
				if _, err := d.Decide(v.CallID, "", dispatch.Resolution{Allow: true}); err != nil {
					t.Error(err)
				}
			}
		}()
		if r := serveRequest(t, s.Server, transport.Request{Method: transport.MethodCall, Params: &p, Send: sendMessage}); r.isError {
			t.Error(r.replyText)
		}
		want := []string{
			"0.000001 waiting for the user", "0.000002 waiting for the user", "0.000003 waiting for the user",
			"0.000004 approved: for the user", "1 of 3", "2 of 3", "3 of 3",
		}
		if !slices.Equal(got, want) {
			t.Errorf("the client received %q, want %q", got, want)
		}
	})
}
