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

// approvalDispatcher requires approval for every call; its tool waits for the user "wait" times and returns its
// arguments.
type approvalDispatcher struct {
	*dispatch.Dispatcher
	runs atomic.Int32
}

func newApprovalDispatcher(t *testing.T, gates ...dispatch.Gate) *approvalDispatcher {
	g := &approvalDispatcher{}
	type state struct {
		sink dispatch.Sink
		args json.RawMessage
		left int
	}
	states := map[string]*state{}
	var bridge dispatchtest.Bridge
	next := func(s *state) {
		if s.left == 0 {
			s.sink.Finish(s.args, nil)
			return
		}
		s.left--
		s.sink.Ask(wire.ToolAskParams{Ask: s.left + 1, User: &wire.AskUser{Reason: "Log in.", Title: "Login"}})
	}
	bridge.StartFunc = func(_ context.Context, run dispatch.Run, sink dispatch.Sink) *wire.CallError {
		g.runs.Add(1)
		var a struct {
			Wait int `json:"wait"`
		}
		if err := json.Unmarshal(run.Args, &a); err != nil {
			t.Error(err)
		}
		s := &state{sink, run.Args, a.Wait}
		states[run.ID] = s
		go next(s)
		return nil
	}
	bridge.AnswerFunc = func(id string, _ int, _ json.RawMessage, err *wire.CallError) {
		s := states[id]
		if err != nil {
			go s.sink.Finish(nil, err)
			return
		}
		go next(s)
	}
	g.Dispatcher = dispatch.New(&bridge, dispatch.Options{Gates: gates})
	return g
}

func (g *approvalDispatcher) onlyTicket(t *testing.T) dispatch.WaitingTicket {
	t.Helper()
	for _, v := range g.Calls() {
		if v.Waiting != nil {
			return *v.Waiting
		}
	}
	t.Fatal("no call waits")
	return dispatch.WaitingTicket{}
}

func waitUntilCallEnded(t *testing.T, f *dispatch.Follower) {
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
	// Over HTTP, the channel messages is closed after the answer to the call.
	messages chan receivedMessage
	// The field send returns when the server has read the message, or possibly earlier
	// for a call.
	send       func(text string)
	disconnect func()
}

func (p *sessionClient) mustRead() receivedMessage {
	p.t.Helper()
	for m := range p.messages {
		if m.Method != "notifications/progress" {
			return m
		}
	}
	p.t.Fatal("the server closed the connection")
	return receivedMessage{}
}

func (p *sessionClient) nextForm() (id string, shown form.Form) {
	p.t.Helper()
	m := p.mustRead()
	if m.Method != "elicitation/create" {
		p.t.Fatalf("the message is not a form: %s", m.text)
	}
	var all struct {
		Params form.Form `json:"params"`
	}
	if err := json.Unmarshal([]byte(m.text), &all); err != nil {
		p.t.Fatal(err)
	}
	return string(m.ID), all.Params
}

func (p *sessionClient) answerForm(id, result string) {
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

func choiceAnswer(decision string) string {
	return fmt.Sprintf(`{"action":"accept","content":{"decision":%q}}`, decision)
}

const showsForms = `{"elicitation":{}}`

// sessionClients has one function per transport (HTTP and stdio), which connects a test
// client with the given MCP capabilities.
var sessionClients = map[string]func(t *testing.T, s *testServer, capabilities string) *sessionClient{
	"http": func(t *testing.T, s *testServer, capabilities string) *sessionClient {
		c := s.sessionlessClient(t)
		res := c.post(context.Background(), strings.Replace(initializeText("Claude"), `"capabilities":{}`, `"capabilities":`+capabilities, 1))
		readMessages(t, res)
		c.session, c.version = res.Header.Get("Mcp-Session-Id"), "2025-11-25"
		p := &sessionClient{t: t, messages: make(chan receivedMessage, 100)}
		ctx, disconnect := context.WithCancel(t.Context())
		p.disconnect = disconnect
		p.send = func(text string) {
			if !strings.Contains(text, `"tools/call"`) {
				if res := c.post(context.Background(), text); res.StatusCode != http.StatusAccepted {
					t.Errorf("%s got the status %s", text, res.Status)
				} else {
					res.Body.Close()
				}
				return
			}
			r := c.request(ctx, http.MethodPost, text)
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
				for data, ok := events.nextData(); ok; data, ok = events.nextData() {
					p.messages <- parseReceived(t, data)
				}
			}()
		}
		return p
	},
	"stdio": func(t *testing.T, s *testServer, capabilities string) *sessionClient {
		peer := s.dial(t)
		peer.send(strings.Replace(initializeText("Claude"), `"capabilities":{}`, `"capabilities":`+capabilities, 1))
		peer.mustRead()
		p := &sessionClient{t: t, messages: make(chan receivedMessage, 100), disconnect: func() { peer.in.Close() }}
		progressRead := make(chan struct{}, 1)
		p.send = func(text string) {
			if strings.Contains(text, `"tools/call"`) {
				peer.send(text)
				return
			}
			peer.send(text, `{"jsonrpc":"2.0","id":"read","method":"ping"}`)
			<-progressRead
		}
		go func() {
			defer close(p.messages)
			for m, ok := peer.readNext(); ok; m, ok = peer.readNext() {
				if string(m.ID) == `"read"` {
					progressRead <- struct{}{}
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

func TestClientDecides(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		runs         bool
		scope        wire.Scope
	}{
		{"allow once", choiceAnswer("allow once"), true, wire.ScopeOnce},
		{"allow for the session", choiceAnswer("allow for this session"), true, wire.ScopeSession},
		{"deny", choiceAnswer("deny"), false, ""},
		{"decline", `{"action":"decline"}`, false, ""},
		{"decline with odd content", `{"action":"decline","content":"x"}`, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachSessionClient(t, showsForms, askForEveryCall, func(t *testing.T, g *approvalDispatcher, p *sessionClient) {
				p.send(callText(`1`, `{"text":"hi"}`, `{}`))
				id, form := p.nextForm()
				if want := "May messages__echo run in your browser?\nIts permission is ask.\nArguments: {\"text\":\"hi\"}"; form.Message != want {
					t.Errorf("the form contains %q\nwant %q", form.Message, want)
				}
				if got := form.Schema.Properties["decision"].Enum; fmt.Sprint(got) != "[allow once allow for this session deny]" {
					t.Errorf("the form has the choices %q; want %q", got, "[allow once allow for this session deny]")
				}
				if n := g.runs.Load(); n != 0 {
					t.Error("the tool ran before the decision")
				}
				p.answerForm(id, tt.answer)
				r := p.mustRead().toolResultOf(t)
				if r.IsError == tt.runs || (g.runs.Load() == 1) != tt.runs {
					t.Errorf("the call failed: %v; the tool ran %d times; the content is %v", r.IsError, g.runs.Load(), r.Content)
				}
				if !tt.runs && !strings.Contains(string(r.Meta[metaError]), `"code":"denied"`) {
					t.Errorf("the denied call has the error %s", r.Meta[metaError])
				}
			})
		})
	}
}

func TestAnswersWithoutADecision(t *testing.T) {
	for name, answer := range map[string]string{
		"cancel":            `{"jsonrpc":"2.0","id":%s,"result":{"action":"cancel"}}`,
		"accept unseen":     `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{}}}`,
		"no content":        `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`,
		"another choice":    `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"decision":"allow always"}}}`,
		"a wrong type":      `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"decision":true}}}`,
		"an unknown action": `{"jsonrpc":"2.0","id":%s,"result":{"action":"allow"}}`,
		"no object":         `{"jsonrpc":"2.0","id":%s,"result":5}`,
		"an error":          `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			eachSessionClient(t, showsForms, askForEveryCall, func(t *testing.T, g *approvalDispatcher, p *sessionClient) {
				p.send(callText(`1`, `{}`, `{}`))
				id, _ := p.nextForm()
				p.send(fmt.Sprintf(answer, id))
				p.answerForm(id, choiceAnswer("allow once")) // a second answer to the same form is ignored
				w := g.onlyTicket(t)
				if g.runs.Load() != 0 {
					t.Error("the tool ran before the decision")
				}
				d, err := g.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true, Surface: "the side panel"})
				if err != nil || d.Outcome != wire.DecisionAccepted {
					t.Errorf("Decide returned %+v, %v", d, err)
				}
				if m := p.mustRead(); m.toolResultOf(t).IsError || g.runs.Load() != 1 {
					t.Error(m.text)
				}
			})
		})
	}
}

func TestAnotherSurfaceDecidesFirst(t *testing.T) {
	eachSessionClient(t, showsForms, askForEveryCall, func(t *testing.T, g *approvalDispatcher, p *sessionClient) {
		p.send(callText(`1`, `{}`, `{}`))
		id, _ := p.nextForm()
		w := g.onlyTicket(t)
		if _, err := g.Decide(w.CallID, w.TicketID, dispatch.Resolution{Surface: "the side panel"}); err != nil {
			t.Fatal(err)
		}
		// The server cancels its approval form before it answers the call.
		if m := p.mustRead(); m.Method != "notifications/cancelled" || !strings.Contains(m.text, `"requestId":`+id) {
			t.Errorf("the server did not withdraw the form, but sent %s", m.text)
		}
		if m := p.mustRead(); !m.toolResultOf(t).IsError {
			t.Error(m.text)
		}
		p.answerForm(id, choiceAnswer("allow once")) // an answer to a cancelled form is ignored
		if g.runs.Load() != 0 {
			t.Error("the denied tool ran")
		}
	})
}

func TestALateApprovalRunsNothing(t *testing.T) {
	for name, end := range map[string]func(p *sessionClient){
		"cancelled": func(p *sessionClient) { p.send(cancelText(`1`)) },
		"left":      func(p *sessionClient) { p.disconnect() },
	} {
		t.Run(name, func(t *testing.T) {
			eachSessionClient(t, showsForms, askForEveryCall, func(t *testing.T, g *approvalDispatcher, p *sessionClient) {
				f := g.Follow(dispatch.FollowOptions{})
				defer f.Close()
				p.send(callText(`1`, `{}`, `{}`))
				id, _ := p.nextForm()
				w := g.onlyTicket(t)
				end(p)
				waitUntilCallEnded(t, f)
				if name == "cancelled" {
					if m := p.mustRead(); m.Method != "notifications/cancelled" || !strings.Contains(m.text, id) {
						t.Errorf("the server did not withdraw the form, but sent %s", m.text)
					}
					p.answerForm(id, choiceAnswer("allow once"))
				}
				d, err := g.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true})
				if err != nil || d.Outcome != wire.DecisionNotPending || g.runs.Load() != 0 {
					t.Errorf("Decide after the end returned %+v, %v, and the tool ran %d times", d, err, g.runs.Load())
				}
			})
		})
	}
}

func TestAToolWaitsForTheUser(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		failed bool
	}{"done": {`{"action":"accept","content":{}}`, false}, "accept alone": {`{"action":"accept"}`, false}, "given up": {`{"action":"decline"}`, true}} {
		t.Run(name, func(t *testing.T) {
			eachSessionClient(t, showsForms, nil, func(t *testing.T, _ *approvalDispatcher, p *sessionClient) {
				p.send(callText(`1`, `{"wait":1}`, `{}`))
				id, form := p.nextForm()
				if want := "messages__echo is waiting for you (Login): Log in.\nAccept when it is done. Decline to give up."; form.Message != want || len(form.Schema.Properties) != 0 {
					t.Errorf("the form is %+v", form)
				}
				p.answerForm(id, tt.answer)
				if m := p.mustRead(); m.toolResultOf(t).IsError != tt.failed {
					t.Error(m.text)
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
				p.send(callText(`1`, `{}`, `{"progressToken":"p"}`))
				m := <-p.messages
				if want := "waiting for approval: may messages__echo run?"; m.Method != "notifications/progress" || !strings.HasPrefix(m.Params.Message, want) {
					t.Fatalf("the client received %s", m.text)
				}
				if m.Params.Meta["opentabs/audience"] != "user" {
					t.Errorf("the notification has another audience: %s", m.text)
				}
				w := g.onlyTicket(t)
				if _, err := g.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true}); err != nil {
					t.Fatal(err)
				}
				if m := p.mustRead(); m.Method != "" || m.toolResultOf(t).IsError {
					t.Error(m.text)
				}
			})
		})
	}
}

// TestNoFormAfterTheAnswer checks that a ticket created after the answer to its request
// is not shown to the client.
func TestNoFormAfterTheAnswer(t *testing.T) {
	s := newServer(t, callerFunc(echoArguments), Options{})
	p, err := paramsOf(json.RawMessage(`{"_meta":{"progressToken":5}}`))
	if err != nil {
		t.Fatal(err)
	}
	send := func([]byte) error {
		t.Error("the client received a message")
		return nil
	}
	f := s.approvals.newForms(t.Context(), request{Request: transport.Request{Params: &p, Send: send, Ask: func(context.Context, string, any) (json.RawMessage, error) {
		t.Error("the client received a form")
		return nil, nil
	}}})
	f.close()
	f.showForm(t.Context(), dispatch.WaitingTicket{})
}

// TestNoForms checks that no client receives a form if Options.DisableForms is set, in
// any protocol version.
func TestNoForms(t *testing.T) {
	for name, open := range sessionClients {
		t.Run(name, func(t *testing.T) {
			g := newApprovalDispatcher(t, alwaysAskGate{})
			s := serveTools(t, g, Options{DisableForms: true})
			p := open(t, s, showsForms)
			p.send(callText(`1`, `{}`, `{"progressToken":1}`))
			if m := <-p.messages; m.Method != "notifications/progress" {
				t.Error(m.text)
			}
			g.Shutdown()
			if m := p.mustRead(); !m.toolResultOf(t).IsError {
				t.Error(m.text)
			}
		})
	}
	g := newApprovalDispatcher(t, alwaysAskGate{})
	c := serveTools(t, g, Options{DisableForms: true}).modernClient(t)
	res := c.post(t.Context(), callText(`1`, `{}`, formsMeta))
	if data, _ := newEvents(res.Body).nextData(); !strings.Contains(data, "waiting for approval") {
		t.Error(data)
	}
	g.Shutdown()
}

func TestFormIsBoundToItsSession(t *testing.T) {
	g := newApprovalDispatcher(t, alwaysAskGate{})
	s := serveTools(t, g, Options{})
	defer g.Shutdown()
	a, b := sessionClients["http"](t, s, showsForms), sessionClients["stdio"](t, s, showsForms)
	a.send(callText(`1`, `{}`, `{}`))
	id, _ := a.nextForm()
	b.answerForm(id, choiceAnswer("allow once"))
	g.onlyTicket(t)
	a.answerForm(id, choiceAnswer("allow once"))
	if m := a.mustRead(); m.toolResultOf(t).IsError {
		t.Error(m.text)
	}
}

func TestApprovalTimesOut(t *testing.T) {
	// The limit is long, because the client must receive the form within the limit.
	eachSessionClient(t, showsForms, []dispatch.Gate{alwaysAskGate{limit: 5 * time.Second}}, func(t *testing.T, g *approvalDispatcher, p *sessionClient) {
		p.send(callText(`1`, `{}`, `{}`))
		id, _ := p.nextForm()
		if m := p.mustRead(); m.Method != "notifications/cancelled" || !strings.Contains(m.text, id) {
			t.Errorf("the server did not withdraw the form, but sent %s", m.text)
		}
		r := p.mustRead().toolResultOf(t)
		if !strings.Contains(string(r.Meta[metaError]), `"code":"approval_timeout"`) || !strings.Contains(r.Content[0].Text, "side panel") {
			t.Errorf("the call has the error %s and the content %v", r.Meta[metaError], r.Content)
		}
		if g.runs.Load() != 0 {
			t.Error("the tool ran")
		}
	})
}

// TestNoProgressAfterTheAnswer checks that no progress message of a suspended call
// follows the answer to its request.
func TestNoProgressAfterTheAnswer(t *testing.T) {
	p, err := paramsOf(json.RawMessage(`{"_meta":{"progressToken":5}}`))
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	sender := newProgressSender(t.Context(), &p, func([]byte) error { sent++; return nil })
	sender.send(dispatch.Progress{Progress: 1})
	sender.close()
	sender.send(dispatch.Progress{Progress: 2})
	if sent != 1 {
		t.Errorf("the server sent %d forms; want 1", sent)
	}
}

// TestRemindersDoNotChangeProgressNumbers checks that reminders of a suspended call do
// not change the tool's progress numbers.
func TestRemindersDoNotChangeProgressNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bridge := &dispatchtest.Bridge{StartFunc: func(_ context.Context, _ dispatch.Run, sink dispatch.Sink) *wire.CallError {
			go func() {
				for i := 1.0; i <= 3; i++ {
					total := 3.0
					<-time.After(time.Second)
					sink.Reports([]wire.Report{{Progress: &i, Total: &total}}, 0)
				}
				sink.Finish(json.RawMessage(`{}`), nil)
			}()
			return nil
		}}
		d := dispatch.New(bridge, dispatch.Options{Gates: askForEveryCall})
		s := newServer(t, d, Options{Heartbeat: 10 * time.Second})
		p, err := paramsOf(json.RawMessage(`{"name":"messages__echo","arguments":{},"_meta":{"progressToken":5}}`))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		send := func(m []byte) error {
			r := parseReceived(t, string(m)).Params
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
		if r := serveRequest(t, s.Server, transport.Request{Method: transport.MethodCall, Params: &p, Send: send}); r.isError {
			t.Error(r.text)
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
