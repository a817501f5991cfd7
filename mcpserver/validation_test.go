package mcpserver

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/dispatch/joblist"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

type countingGate struct{ decisions atomic.Int32 }

func (*countingGate) Name() string { return "counting" }

func (g *countingGate) Decide(dispatch.CallInfo) dispatch.Verdict {
	g.decisions.Add(1)
	return dispatch.Verdict{}
}

// An invalid call must not need approval or count toward a limit.
func TestArgumentsAreValidatedBeforeGates(t *testing.T) {
	pkg := plugintest.Package{
		Tools: []plugintest.Tool{{
			Name: "echo", Description: "d",
			Input: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`),
		}},
		Prompts: promptPackage.Prompts,
	}
	gate, runs := &countingGate{}, atomic.Int32{}
	bridge := &dispatchtest.Bridge{StartFunc: func(_ context.Context, _ dispatch.Run, sink dispatch.Sink) *wire.CallError {
		runs.Add(1)
		sink.Finish(json.RawMessage(`"ran"`), nil)
		return nil
	}}
	d := dispatch.New(bridge, dispatch.Options{Gates: []dispatch.Gate{gate}})
	s := serveTools(t, d, Options{
		Jobs: joblist.New(d, joblist.Options{}), Detach: func(string) DetachPolicy { return DetachPolicy{After: time.Hour} },
	}, pkg)
	sessions := s.open(t, "a")
	statelessClient := s.modernClient(t)
	stdioClient := s.dial(t)
	stdioClient.initialize("b")
	stdio := func(request string) receivedMessage {
		stdioClient.sendMessage(request)
		return stdioClient.mustReadMessage()
	}
	for _, tt := range []struct {
		name                     string
		sendRequest              func(string) receivedMessage
		invalidInput, validInput string
	}{
		{"http", sessions.call, callText(`1`, `{"txt":"a"}`, `{}`), callText(`2`, `{"text":"a"}`, `{}`)},
		{"stdio", stdio, callText(`1`, `{"text":5}`, `{}`), callText(`2`, `{"text":"a"}`, `{}`)},
		{"held", statelessClient.call, callText(`1`, `{}`, metaWithForms), callText(`2`, `{"text":"a"}`, metaWithForms)},
		{"job", sessions.call, callText(`1`, `{"text":[],"_detach":"auto"}`, `{}`), callText(`2`, `{"text":"a","_detach":"auto"}`, `{}`)},
		{"prompt", stdio, newGetPromptText(`1`, "messages__summarise", `{"days":"2"}`, `{}`), newGetPromptText(`2`, "messages__summarise", `{"channel":"a"}`, `{}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gate.decisions.Store(0)
			runs.Store(0)
			m := tt.sendRequest(tt.invalidInput)
			if !strings.Contains(m.messageJSON, "invalid") || strings.Contains(m.messageJSON, `"ran"`) {
				t.Errorf("answer to the invalid call = %s; want an error", m.messageJSON)
			}
			if n, calls := gate.decisions.Load(), len(d.Calls()); n != 0 || runs.Load() != 0 {
				t.Errorf("the gate decided %d times, the tool ran %d times, there are %d calls; want 0 decisions and 0 runs", n, runs.Load(), calls)
			}
			if tt.sendRequest(tt.validInput); gate.decisions.Load() == 0 || runs.Load() != 1 {
				t.Errorf("with valid arguments the gate decided %d times and the tool ran %d times; want at least 1 decision and 1 run", gate.decisions.Load(), runs.Load())
			}
		})
	}
}
