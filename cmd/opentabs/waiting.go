package main

import (
	"opentabs/dispatch"
	"opentabs/wire"
)

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
			Client: view.Who(),
			Caller: view.Caller, Browser: view.Waiting.Browser, TabID: view.Waiting.TabID,
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
