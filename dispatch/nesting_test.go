package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

type recordedAnswers struct {
	mu              sync.Mutex
	got             map[string]string
	recordedAnswers []string
	tool            wire.ToolErrorInfo
}

func (a *recordedAnswers) record(id string, askIndex int, toolOutput json.RawMessage, err *wire.CallError) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.got == nil {
		a.got = map[string]string{}
	}
	outputText := string(toolOutput)
	if err != nil {
		outputText = string(err.Code) + ": " + err.Message
		if a.tool = (wire.ToolErrorInfo{}); err.Tool != nil {
			a.tool = *err.Tool
		}
	}
	a.got[fmt.Sprint(askIndex)] = outputText
	a.recordedAnswers = append(a.recordedAnswers, outputText)
}

func newToolDispatcher(t *testing.T, o dispatch.Options, tools map[string]func(toolRun dispatch.Run, sink dispatch.Sink)) (*dispatch.Dispatcher, *fakePage, *recordedAnswers) {
	t.Helper()
	p := &fakePage{}
	p.handler = func(toolRun dispatch.Run, s dispatch.Sink) { tools[toolRun.Tool](toolRun, s) }
	b := p.bridge()
	a := &recordedAnswers{}
	b.AnswerFunc = a.record
	o.ResolveTool = func(parent dispatch.Tool, name string, args json.RawMessage) (dispatch.Tool, json.RawMessage, *wire.CallError) {
		if tools[name] == nil {
			return dispatch.Tool{}, nil, &wire.CallError{Code: wire.ErrUnknownTool, Message: "there is no tool " + name}
		}
		return dispatch.Tool{Plugin: parent.Plugin, Name: name}, args, nil
	}
	return dispatch.New(b, o), p, a
}

func newToolAsk(n int, tool, args string) wire.ToolAskParams {
	return wire.ToolAskParams{Ask: n, Call: &wire.AskCall{Tool: tool, Args: json.RawMessage(args)}}
}

func TestToolCallsAnotherTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notifications []dispatch.Progress
		d, p, got := newToolDispatcher(t, dispatch.Options{}, map[string]func(dispatch.Run, dispatch.Sink){
			"parent": func(_ dispatch.Run, s dispatch.Sink) {
				s.Ask(newToolAsk(1, "child", `{"n":1}`))
				s.Ask(newToolAsk(1, "child", `{"n":1}`)) // the browser sends the request again after a reconnection
				sleepVirtual(80 * time.Second)
				s.Finish(json.RawMessage(`"parent"`), nil)
			},
			"child": func(_ dispatch.Run, s dispatch.Sink) {
				for i := range 3 {
					sleepVirtual(20 * time.Second)
					s.Reports([]wire.Report{{Message: fmt.Sprint("page ", i), Audience: "user"}}, 0)
				}
				s.Finish(json.RawMessage(`"child"`), nil)
			},
		})
		r, err := d.Call(t.Context(), dispatch.Call{
			Tool: dispatch.Tool{Plugin: "m", Name: "parent"}, Client: dispatch.Client{Name: "Claude"},
			Progress: func(p dispatch.Progress) { notifications = append(notifications, p) },
		})
		p.wg.Wait()
		if err != nil || string(r.Output) != `"parent"` || got.got["1"] != `"child"` {
			t.Fatalf("the call returned %s, its nested call returned %q, error %v; want parent, child and no error", r.Output, got.got["1"], err)
		}
		if len(notifications) != 3 || notifications[2].Message != "m__child: page 2" || notifications[2].Audience != "user" {
			t.Errorf("notifications of the client = %+v, want 3, the last from the nested call for the user", notifications)
		}
		calls := d.Calls()
		if len(calls) != 2 {
			t.Fatalf("the dispatcher lists %d calls, want 2: the parent and the nested call", len(calls))
		}
		parent, childView := calls[0], calls[1]
		if by := childView.Caller; parent.Caller != nil || by == nil || by.Plugin != "m" || by.Tool != "m__parent" || by.TabID != parent.TabID || by.Browser != parent.Browser || by.Origin != "http://localhost" {
			t.Errorf("callers of parent and nested call = %+v and %+v, want none and the parent's tool", parent.Caller, by)
		}
		if childView.ParentCallID != parent.CallID || childView.ParentNodeID != parent.CallID || childView.NestingDepth != 1 || childView.Client != "Claude" || childView.TabID != parent.TabID {
			t.Errorf("view of the nested call = %+v, want the parent's call ID, client and tab, and the depth 1", childView)
		}
	})
}

func TestChildEndsWithItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, p, _ := newToolDispatcher(t, dispatch.Options{}, map[string]func(dispatch.Run, dispatch.Sink){
			"parent": func(_ dispatch.Run, s dispatch.Sink) { s.Ask(newToolAsk(1, "child", `{}`)) },
			"child":  func(_ dispatch.Run, s dispatch.Sink) { s.Ask(newToolAsk(1, "grandchild", `{}`)) },
			"grandchild": func(_ dispatch.Run, s dispatch.Sink) {
				s.Reports(newNumberReports(1, 2), 0)
			},
		})
		ctx, disconnect := context.WithCancel(t.Context())
		callErrors := make(chan error, 1)
		go func() {
			_, err := d.Call(ctx, dispatch.Call{Tool: dispatch.Tool{Plugin: "m", Name: "parent"}})
			callErrors <- err
		}()
		synctest.Wait()
		if n := len(d.Calls()); n != 3 {
			t.Fatalf("the dispatcher lists %d calls, want 3", n)
		}
		disconnect()
		if err := toDispatchError(t, <-callErrors); err == nil || err.Code != wire.ErrCancelled {
			t.Errorf("error of the parent call = %v, want cancelled", err)
		}
		synctest.Wait()
		for _, v := range d.Calls() {
			if v.Status != wire.StatusCancelled {
				t.Errorf("status of the call of %s = %s, want cancelled", v.Tool, v.Status)
			}
			if v.Tool != "parent" && !strings.Contains(v.Error, "the call that made it") {
				t.Errorf("error of the call of %s = %q, want that the call that made it has ended", v.Tool, v.Error)
			}
		}
		if p.stopCount() != 3 {
			t.Errorf("%d pages received a stop request, want 3", p.stopCount())
		}
	})
}

func TestParentGetsTheErrorOfItsChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, p, got := newToolDispatcher(t, dispatch.Options{}, map[string]func(dispatch.Run, dispatch.Sink){
			"parent": func(_ dispatch.Run, s dispatch.Sink) {
				s.Ask(newToolAsk(1, "child", `{}`))
				s.Ask(newToolAsk(2, "nowhere", `{}`))
				s.Ask(wire.ToolAskParams{Ask: 3})
				s.Ask(newToolAsk(4, "big", `{}`))
				sleepVirtual(time.Second)
				s.Finish(nil, nil)
			},
			"child": func(_ dispatch.Run, s dispatch.Sink) {
				s.Finish(nil, &wire.CallError{Code: wire.ErrToolError, Message: "channel not found", Tool: &wire.ToolErrorInfo{Code: "NOT_FOUND"}})
			},
			"big": func(_ dispatch.Run, s dispatch.Sink) {
				s.Finish(json.RawMessage(`"`+strings.Repeat("x", wire.MaxAnswerBytes)+`"`), nil)
			},
		})
		if _, err := d.Call(t.Context(), dispatch.Call{Tool: dispatch.Tool{Plugin: "m", Name: "parent"}}); err != nil {
			t.Fatal(err)
		}
		p.wg.Wait()
		for askID, want := range map[string]string{"1": "tool_error: m__child failed: channel not found", "2": "unknown_tool", "3": "invalid_arguments", "4": "result_too_large"} {
			if !strings.HasPrefix(got.got[askID], want) {
				t.Errorf("answer to request %s = %q, want the prefix %q", askID, got.got[askID], want)
			}
		}
		if errorMessage := got.got["1"]; strings.Contains(errorMessage, "It ran") || strings.Contains(errorMessage, "Read the tool's message") {
			t.Errorf("error that the parent's tool received = %q, want neither run time nor advice", errorMessage)
		}
	})
}

// If a nested call reaches its idle limit, the parent call must receive the error before it reaches its own idle limit.
// The parent call is still subject to its own hard limit.
func TestNestedCallReachesIdleLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, p, got := newToolDispatcher(t, dispatch.Options{IdleLimit: 3 * time.Second, HardLimit: 10 * time.Second}, map[string]func(dispatch.Run, dispatch.Sink){
			"parent": func(_ dispatch.Run, s dispatch.Sink) {
				s.Ask(newToolAsk(1, "child", `{}`))
				sleepVirtual(5 * time.Second)
				s.Finish([]byte(`1`), nil)
			},
			"patient": func(_ dispatch.Run, s dispatch.Sink) {
				for n := range 4 {
					s.Ask(newToolAsk(n+1, "child", `{}`))
					sleepVirtual(3*time.Second + time.Millisecond)
				}
			},
			"child": func(dispatch.Run, dispatch.Sink) {},
		})
		if _, err := d.Call(t.Context(), dispatch.Call{Tool: dispatch.Tool{Plugin: "m", Name: "parent"}}); err != nil {
			t.Errorf("error of the parent call = %v, want it to continue after its nested call", err)
		}
		p.wg.Wait()
		if !strings.HasPrefix(got.got["1"], "idle_timeout") {
			t.Errorf("answer that the parent received = %q, want idle_timeout", got.got["1"])
		}
		if want := (wire.ToolErrorInfo{Code: "idle_timeout", Retryable: true}); got.tool != want {
			t.Errorf("tool error that the parent received = %+v, want %+v", got.tool, want)
		}
		startTime := time.Now()
		_, err := d.Call(t.Context(), dispatch.Call{Tool: dispatch.Tool{Plugin: "m", Name: "patient"}})
		if e := toDispatchError(t, err); e == nil || e.Code != wire.ErrDeadlineExceeded || time.Since(startTime) != 10*time.Second {
			t.Errorf("the tool patient ended with the error %v after %v, want deadline_exceeded after 10s", err, time.Since(startTime))
		}
		p.wg.Wait()
	})
}

func TestNestingIsBounded(t *testing.T) {
	var mu sync.Mutex
	startCounts := map[string]int{}
	startCall := func(tool string) {
		mu.Lock()
		defer mu.Unlock()
		startCounts[tool]++
	}
	startNestedCall := func(toolRun dispatch.Run, s dispatch.Sink) {
		startCall(toolRun.Tool)
		var requestArgs struct{ N int }
		_ = json.Unmarshal(toolRun.Args, &requestArgs)
		s.Ask(newToolAsk(1, "down", fmt.Sprintf(`{"n":%d}`, requestArgs.N+1)))
	}
	tools := map[string]func(dispatch.Run, dispatch.Sink){
		"down": startNestedCall,
		"loop": func(toolRun dispatch.Run, s dispatch.Sink) {
			startCall(toolRun.Tool)
			s.Ask(newToolAsk(1, "loop2", `{}`))
		},
		"loop2": func(toolRun dispatch.Run, s dispatch.Sink) {
			startCall(toolRun.Tool)
			s.Ask(newToolAsk(1, "loop", `{}`))
		},
		"many": func(toolRun dispatch.Run, s dispatch.Sink) {
			for i := range 1100 {
				s.Ask(newToolAsk(i+1, "leaf", fmt.Sprintf(`{"n":%d}`, i)))
				if i%50 == 49 {
					sleepVirtual(time.Millisecond)
				}
			}
		},
		"leaf": func(toolRun dispatch.Run, s dispatch.Sink) { startCall(toolRun.Tool); s.Finish(nil, nil) },
	}
	for tool, want := range map[string]map[string]int{"down": {"down": 9}, "loop": {"loop": 1, "loop2": 1}, "many": {"leaf": 1000}} {
		synctest.Test(t, func(t *testing.T) {
			clear(startCounts)
			d, p, got := newToolDispatcher(t, dispatch.Options{}, tools)
			_, err := d.Call(t.Context(), dispatch.Call{Tool: dispatch.Tool{Plugin: "m", Name: tool}, Args: json.RawMessage(`{}`)})
			p.wg.Wait()
			if e := toDispatchError(t, err); e == nil || e.Code != wire.ErrIdleTimeout {
				t.Errorf("error of the call of %s = %v, want idle_timeout", tool, err)
			}
			synctest.Wait()
			for name, n := range want {
				if startCounts[name] != n {
					t.Errorf("after a call of %s, the tool %s ran %d times, want %d", tool, name, startCounts[name], n)
				}
			}
			isRefused := false
			for _, a := range got.recordedAnswers {
				isRefused = isRefused || strings.HasPrefix(a, string(wire.ErrNestedTooDeep))
			}
			if !isRefused {
				t.Errorf("answers to the requests of %s = %v, want one rejection as nested too deeply", tool, got.recordedAnswers)
			}
		})
	}
}

// TestNestedCallsBypassTheQueue checks that a nested call runs although its parent call
// occupies the only place in the queue.
func TestNestedCallsBypassTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, p, got := newToolDispatcher(t, dispatch.Options{MaxRunningCalls: 1}, map[string]func(dispatch.Run, dispatch.Sink){
			"parent": func(_ dispatch.Run, s dispatch.Sink) {
				s.Ask(newToolAsk(1, "child", `{}`))
				sleepVirtual(time.Second)
				s.Finish(nil, nil)
			},
			"child": func(_ dispatch.Run, s dispatch.Sink) { s.Finish(json.RawMessage(`1`), nil) },
		})
		if _, err := d.Call(t.Context(), dispatch.Call{Tool: dispatch.Tool{Plugin: "m", Name: "parent"}}); err != nil || got.got["1"] != "1" {
			t.Errorf("the call ended with the error %v, and its nested call returned %q; want no error and 1", err, got.got["1"])
		}
		p.wg.Wait()
	})
}

func TestUserTextOfFailedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers *recordedAnswers
		rethrowAskError := func(_ dispatch.Run, s dispatch.Sink) {
			s.Ask(wire.ToolAskParams{Ask: 1, User: &wire.AskUser{Reason: "log in"}})
			sleepVirtual(20 * time.Second)
			answers.mu.Lock()
			_, errorMessage, _ := strings.Cut(answers.recordedAnswers[len(answers.recordedAnswers)-1], ": ")
			answers.mu.Unlock()
			s.Finish(nil, &wire.CallError{Code: wire.ErrToolError, Message: errorMessage, Tool: &wire.ToolErrorInfo{Code: "user_denied"}})
		}
		d, p, got := newToolDispatcher(t, dispatch.Options{}, map[string]func(dispatch.Run, dispatch.Sink){
			"login": rethrowAskError,
		})
		answers = got
		callErrors := make(chan error, 1)
		go func() {
			_, err := d.Call(t.Context(), dispatch.Call{Tool: dispatch.Tool{Plugin: "m", Name: "login"}})
			callErrors <- err
		}()
		synctest.Wait()
		callView := d.Calls()[0]
		if _, err := d.Decide(callView.CallID, callView.Waiting.TicketID, dispatch.Resolution{Surface: "the side panel"}); err != nil {
			t.Fatal(err)
		}
		err := toDispatchError(t, <-callErrors)
		p.wg.Wait()
		if !strings.Contains(err.Message, "failed: the user denied it (the side panel)") {
			t.Errorf("error text for the agent = %q, want that the user denied it in the side panel", err.Message)
		}
		if userText := d.Calls()[0].Error; !strings.Contains(err.UserText, "failed: You denied the call (code=") || userText != "You denied the call" {
			t.Errorf("error text for the user = %q, and in lists %q; want in both that you denied the call", err.UserText, userText)
		}
	})
}

func TestToolReceivesUserDecision(t *testing.T) {
	tests := []struct {
		name     string
		decide   *dispatch.Resolution
		decision string
	}{
		{"done", &dispatch.Resolution{Allow: true, Surface: "the side panel"}, ""},
		{"denied", &dispatch.Resolution{Surface: "the side panel"}, "denied: the user denied it"},
		{"no answer", nil, "approval_timeout: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, p, got := newToolDispatcher(t, dispatch.Options{}, map[string]func(dispatch.Run, dispatch.Sink){
					"login": func(_ dispatch.Run, s dispatch.Sink) {
						sleepVirtual(20 * time.Second)
						s.Ask(wire.ToolAskParams{Ask: 1, User: &wire.AskUser{Reason: "log in", Title: "Log in"}})
						sleepVirtual(time.Second)
						s.Ask(wire.ToolAskParams{Ask: 2, User: &wire.AskUser{Reason: "and again"}})
						sleepVirtual(5*time.Minute + 24*time.Second)
						s.Finish(json.RawMessage(`"in"`), nil)
					},
				})
				callErrors := make(chan error, 1)
				go func() {
					_, err := d.Call(t.Context(), dispatch.Call{Tool: dispatch.Tool{Plugin: "m", Name: "login"}})
					callErrors <- err
				}()
				sleepVirtual(20 * time.Second)
				synctest.Wait()
				callView := d.Calls()[0]
				if callView.Waiting == nil || callView.Waiting.Kind != wire.TicketUser || callView.Waiting.Reason != "log in" || callView.RunMs != 20000 {
					t.Fatalf("view of the nested call = %+v, want a wait for the user with the reason log in, after 20 s", callView)
				}
				if tt.decide != nil {
					sleepVirtual(4*time.Minute + 59*time.Second)
					if got, err := d.Decide(callView.CallID, callView.Waiting.TicketID, *tt.decide); err != nil || got.Outcome != wire.DecisionAccepted {
						t.Fatalf("Decide returned %+v, error %v; want accepted and no error", got, err)
					}
				}
				if err := <-callErrors; err != nil {
					t.Errorf("error of the parent call = %v, want nil, because limits pause while the nested call waits for the user", err)
				}
				p.wg.Wait()
				if runTime := d.Calls()[0].RunMs; runTime < 45000 || runTime > 46000 {
					t.Errorf("run time of the parent call = %v ms, want 45 s, without the wait for the user", runTime)
				}
				if a := got.got["2"]; !strings.HasPrefix(a, "rate_limited: the call is already waiting for the user") {
					t.Errorf("answer to the second request while the user decides = %q, want rate_limited", a)
				}
				if a, ok := got.got["1"]; !ok || !strings.HasPrefix(a, tt.decision) || tt.decision == "" && a != "" {
					t.Errorf("answer to the first request = %q, want the prefix %q", a, tt.decision)
				}
			})
		})
	}
}

func TestChildSuspensionPausesItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := dispatch.Options{Gates: []dispatch.Gate{suspendBeforeApproval("child")}}
		tickets := make(chan dispatch.WaitingTicket, 1)
		d, p, _ := newToolDispatcher(t, o, map[string]func(dispatch.Run, dispatch.Sink){
			"parent": func(_ dispatch.Run, s dispatch.Sink) {
				s.Ask(newToolAsk(1, "child", `{}`))
				sleepVirtual(4*time.Minute + 29*time.Second)
				s.Finish(nil, nil)
			},
			"child": func(_ dispatch.Run, s dispatch.Sink) { s.Finish(nil, nil) },
		})
		go func() {
			w := <-tickets
			sleepVirtual(4 * time.Minute)
			if _, err := d.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true}); err != nil {
				t.Error(err)
			}
		}()
		_, err := d.Call(t.Context(), dispatch.Call{
			Tool:     dispatch.Tool{Plugin: "m", Name: "parent"},
			OnTicket: func(_ context.Context, w dispatch.WaitingTicket) { tickets <- w },
		})
		p.wg.Wait()
		if err != nil {
			t.Error(err)
		}
		if runTime := d.Calls()[0].RunMs; runTime != 29000 && d.Calls()[1].RunMs != 29000 {
			t.Errorf("run time of the parent call = %v ms, want 29 s, without the wait for the user", runTime)
		}
	})
}

func TestWithdrawnRequestEndsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, p, got := newToolDispatcher(t, dispatch.Options{}, map[string]func(dispatch.Run, dispatch.Sink){
			"parent": func(_ dispatch.Run, s dispatch.Sink) {
				s.Ask(newToolAsk(1, "child", `{}`))
				sleepVirtual(time.Second)
				s.Ask(wire.ToolAskParams{Ask: 1, Withdrawn: true})
				s.Ask(wire.ToolAskParams{Ask: 9, Withdrawn: true}) // the tool never made a request with the number 9
				sleepVirtual(time.Second)
				s.Finish(nil, nil)
			},
			"child": func(dispatch.Run, dispatch.Sink) {},
		})
		_, err := d.Call(t.Context(), dispatch.Call{Tool: dispatch.Tool{Plugin: "m", Name: "parent"}})
		p.wg.Wait()
		if err != nil || len(got.got) != 0 || p.stopCount() != 1 {
			t.Errorf("the call ended with the error %v, the answers %v and %d stop requests; want no error, no answer and 1 stop request", err, got.got, p.stopCount())
		}
	})
}
