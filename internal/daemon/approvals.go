package daemon

import (
	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// decideWaiting asks the policy again about each call that waits for a permission.
// Calls that are allowed now continue; calls that are forbidden end.
func decideWaiting(calls *dispatch.Dispatcher, enforcer *policy.Enforcer, log zerolog.Logger) {
	for _, view := range calls.Calls() {
		if view.Waiting == nil || view.Waiting.Kind != wire.TicketPermission {
			continue
		}
		verdict := enforcer.Ask(dispatch.CallInfo{
			CallID: view.CallID,
			Tool:   dispatch.Tool{Plugin: view.Plugin, Name: view.Tool, Prompt: view.Prompt},
			Client: view.ToClient(),
			Caller: view.Caller, Browser: view.Waiting.Browser, TabID: view.Waiting.TabID,
		})
		if verdict.Suspend != nil {
			continue
		}
		// If the user decides at the same time, the first decision counts.
		_, err := calls.Decide(view.CallID, view.Waiting.TicketID, dispatch.Resolution{
			Allow: verdict.Block == nil, Scope: wire.ScopeOnce, Surface: "a change of its permission",
		})
		if err != nil {
			log.Error().Err(err).Str("call", view.CallID).Msg("a call that may run could not be resumed")
		}
	}
}
