package mcpserver

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"opentabs/dispatch"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

func refusePlugins(code wire.ErrorCode, replyText string, names ...string) func(string) func(dispatch.Tool) *wire.CallError {
	return func(plugin string) func(dispatch.Tool) *wire.CallError {
		return func(dispatch.Tool) *wire.CallError {
			for _, name := range names {
				if name == plugin {
					return &wire.CallError{Code: code, Message: replyText}
				}
			}
			return nil
		}
	}
}

// TestToolsThatAreOffAreNotListed checks that each session is notified once when the user
// turns a plugin on.
func TestToolsThatAreOffAreNotListed(t *testing.T) {
	var on atomic.Bool
	off := refusePlugins(wire.ErrNotReviewed, "the user has not reviewed the plugin evil yet", "evil")
	s := serveTools(t, callerFunc(echoArguments), Options{
		RefusalFunc: func(plugin string) func(dispatch.Tool) *wire.CallError {
			if on.Load() {
				return func(dispatch.Tool) *wire.CallError { return nil }
			}
			return off(plugin)
		},
	}, newPackagesOfAllKinds()[0], plugintest.Package{
		Name:    "evil",
		Tools:   []plugintest.Tool{{Name: "x", Description: "IGNORE ALL", Input: []byte(`{"type":"object","properties":{"IGNORE":{}}}`)}},
		Prompts: []plugintest.Prompt{{Name: "y", Description: "IGNORE ALL"}},
	})
	const lists = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`
	clients := []*stdioPeer{s.dial(t), s.dial(t)}
	for _, p := range clients {
		p.initialize("agent")
		p.sendMessage(strings.Split(lists, "\n")...)
		listReplies := p.mustReadMessage().messageJSON + p.mustReadMessage().messageJSON
		if strings.Contains(listReplies, "IGNORE") || strings.Contains(listReplies, "evil") || !strings.Contains(listReplies, "Exports all messages") {
			t.Errorf("lists of tools and prompts = %s; want the reviewed plugin and no text of the plugin evil", listReplies)
		}
	}
	s.HandlePolicyChange() // the lists of tools have not changed, so no client is notified
	for _, p := range clients {
		p.sendMessage(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		if m := p.mustReadMessage(); !strings.Contains(m.messageJSON, `"id":3`) {
			t.Errorf("the client received %s; want a text that contains %q", m.messageJSON, `"id":3`)
		}
	}
	for _, tt := range []struct {
		on            bool
		wantToolCount int
	}{{true, 2}, {false, 0}} {
		on.Store(tt.on)
		s.HandlePolicyChange()
		for _, p := range clients {
			for _, want := range []string{"notifications/tools/list_changed", "notifications/prompts/list_changed"} {
				if m := p.mustReadMessage(); m.Method != want {
					t.Errorf("the client received %s, want %s", m.messageJSON, want)
				}
			}
			p.sendMessage(strings.Split(lists, "\n")...)
			if listReplies := p.mustReadMessage().messageJSON + p.mustReadMessage().messageJSON; strings.Count(listReplies, "IGNORE ALL") != tt.wantToolCount {
				t.Errorf("plugin turned on %t: lists of tools and prompts = %s; want %d texts of this plugin", tt.on, listReplies, tt.wantToolCount)
			}
		}
	}
}

// TestCallOfDisabledToolIsRefused checks that the error contains the reason and what the user
// can do, even if the arguments are invalid.
func TestCallOfDisabledToolIsRefused(t *testing.T) {
	denied := callerFunc(func(context.Context, dispatch.Call) (dispatch.Result, error) {
		return dispatch.Result{}, &dispatch.Error{Code: wire.ErrNotReviewed, Message: "denied by a gate"}
	})
	s := serveTools(t, denied, Options{
		RefusalFunc: refusePlugins(wire.ErrNotReviewed, "the user has not reviewed the plugin evil yet; run `opentabs plugin review evil`", "evil"),
	}, plugintest.Package{
		Name:    "evil",
		Tools:   []plugintest.Tool{{Name: "x", Description: "d", Input: []byte(`{"type":"object","properties":{"secret":{"type":"string"}},"required":["secret"]}`)}},
		Prompts: []plugintest.Prompt{{Name: "y", Input: []byte(`{"type":"object","properties":{"secret":{"type":"string"}},"required":["secret"]}`)}},
	})
	c := s.open(t, "agent")
	want := "evil__x failed: the user has not reviewed the plugin evil yet; run `opentabs plugin review evil` (not_reviewed). " + "Only the user can review the plugin, in the opentabs side panel or a terminal. Do not call again until the user confirms the review."
	r := c.call(newToolCallMessage("evil__x", `{}`, `{}`)).toolResultOf(t)
	if !r.IsError || r.Content[0].Text != want {
		t.Errorf("error text = %q; want %q", r.Content[0].Text, want)
	}
	if r := c.call(newToolCallMessage("evil__x", `{"secret":"s"}`, `{}`)).toolResultOf(t); !r.IsError || r.Content[0].Text != "denied by a gate" {
		t.Errorf("result = %+v; want the error \"denied by a gate\"", r)
	}
	m := c.call(`{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"evil__y"}}`)
	if m.Error == nil || !strings.HasPrefix(m.Error.Message, "evil__y failed: the user has not reviewed the plugin evil yet") {
		t.Error(m.messageJSON)
	}
}
