package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"opentabs/dispatch"
	"opentabs/wire"
)

// resolve finds the tool that a tool of parent wants to call, and checks its
// arguments. A name without a plugin is one of the same plugin's tools.
func (v *server) resolve(parent dispatch.Tool, name string, args json.RawMessage) (dispatch.Tool, json.RawMessage, *wire.CallError) {
	full := name
	if !strings.Contains(name, "__") {
		full = parent.Plugin + "__" + name
	}
	tool, ok := v.registry.Set().Tool(full)
	if !ok {
		return dispatch.Tool{}, nil, &wire.CallError{
			Code: wire.ErrUnknownTool, Message: fmt.Sprintf("there is no tool %q", full),
		}
	}
	if err := tool.Validate(args); err != nil {
		refused := &wire.CallError{Code: wire.ErrInvalidArguments, Message: err.Error()}
		var known *dispatch.Error
		if errors.As(err, &known) {
			refused.Code = known.Code
		}
		return dispatch.Tool{}, nil, refused
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	return tool.Dispatch(), args, nil
}

// settleWaiting asks again for the calls that wait for a permission: one that is
// allowed by now goes on, one that is forbidden ends.
func (v *server) settleWaiting() {
	for _, view := range v.calls.Calls() {
		if view.Waiting == nil || view.Waiting.Kind != wire.TicketPermission {
			continue
		}
		verdict := v.policy.Ask(dispatch.Info{
			CallID: view.CallID,
			Tool:   dispatch.Tool{Plugin: view.Plugin, Name: view.Tool, Prompt: view.Prompt},
			Client: dispatch.Client{Session: view.Session, Name: view.Client},
		})
		if verdict.Suspend != nil {
			continue
		}
		// Somebody may decide at the same time; then that counts.
		_, err := v.calls.Decide(view.CallID, view.Waiting.TicketID, dispatch.Resolution{
			Allow: verdict.Block == nil, Scope: wire.ScopeOnce, By: "a change of its permission",
		})
		if err != nil {
			v.log.Error().Err(err).Str("call", view.CallID).Msg("a call that may run waits on")
		}
	}
}
