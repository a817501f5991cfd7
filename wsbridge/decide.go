package wsbridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// panelSurface is the name of the surface on which a user decides in a side panel.
const panelSurface = "the side panel"

// maxPanelRequests limits the concurrent requests of one browser's side panel. Requests
// of a side panel beyond maxPanelRequests are rejected.
const maxPanelRequests = 64

// runRequest handles a request of a side panel on a separate goroutine, because the
// request may write files.
func (p *panel) runRequest(e wire.Envelope, handleRequest func()) {
	if p.runningRequests.Add(1) > maxPanelRequests {
		p.runningRequests.Add(-1)
		p.link.rejectRequest(e, wire.CodeInvalidRequest, fmt.Sprintf("%d requests are already in progress; retry later", maxPanelRequests))
		return
	}
	p.link.goroutines.Go(func() {
		defer p.runningRequests.Add(-1)
		handleRequest()
	})
}

// answerPanel answers a request of a side panel. The error of handleRequest is a
// sentence for the user.
func answerPanel[P, R any](p *panel, e wire.Envelope, handleRequest func(P) (R, error)) {
	l := p.link
	var in P
	if err := wire.DecodeBody(e.Params, &in); err != nil {
		l.rejectRequest(e, wire.CodeInvalidParams, fmt.Sprintf("%s: %s", e.Method, inbound.CleanText(err.Error(), 200)))
		return
	}
	id, method := e.ID, e.Method
	p.runRequest(e, func() {
		result, err := handleRequest(in)
		if err != nil {
			l.log.Debug().Err(err).Str("method", string(method)).Msg("request of the side panel rejected")
			l.postFrame(wire.AppendError(nil, id, &wire.RPCError{Code: wire.CodeInvalidRequest, Message: inbound.CleanText(err.Error(), 500)}))
			return
		}
		l.postFrame(wire.AppendResult(nil, id, wire.EncodeBody(result)))
	})
}

// decideTicket resolves the ticket of a suspended call for a side panel.
func (p *panel) decideTicket(in wire.CallDecideParams) (wire.CallDecideResult, error) {
	if in.CallID == "" || in.TicketID == "" {
		return wire.CallDecideResult{}, errors.New("call.decide needs a callId and a ticketId; send those of the displayed call")
	}
	maxMs := float64(dispatch.MaxScopeTime / time.Millisecond)
	if in.ForMs < 0 || in.ForMs > maxMs { // a number of milliseconds above maxMs may overflow time.Duration
		return wire.CallDecideResult{}, fmt.Errorf("a permission can last for up to %v; choose a shorter time, or always", dispatch.MaxScopeTime)
	}
	calls := p.link.hub.currentCalls()
	if calls == nil {
		return wire.CallDecideResult{Outcome: wire.DecisionNotPending}, nil
	}
	d, err := calls.Decide(in.CallID, in.TicketID, dispatch.Resolution{
		Allow: in.Allow, Scope: in.Scope, Duration: time.Duration(in.ForMs * float64(time.Millisecond)), Surface: panelSurface,
	})
	if err != nil {
		return wire.CallDecideResult{}, err
	}
	p.link.log.Info().Str("call", inbound.CleanText(in.CallID, 128)).Bool("allow", in.Allow).Str("outcome", string(d.Outcome)).Msg("side panel decided about a call")
	return wire.CallDecideResult{Outcome: d.Outcome, By: d.Surface, Allowed: d.Allowed}, nil
}

// errNoPolicy is the error for changes of permissions or settings on a hub without a
// Policy.
var errNoPolicy = errors.New("this server has no permissions")

// changePolicy answers a request of a side panel that changes the user's decisions.
func changePolicy[P, R any](p *panel, e wire.Envelope, change func(Policy, P) (R, error)) {
	answerPanel(p, e, func(in P) (r R, err error) {
		if p.link.hub.opts.Policy == nil {
			return r, errNoPolicy
		}
		return change(p.link.hub.opts.Policy, in)
	})
}

// setPermission handles a side panel's request to set a permission.
func setPermission(policy Policy, in wire.ConfigPermissionParams) (r wire.ConfigPermissionResult, err error) {
	return r, policy.SetPermission(in.Plugin, in.Tool, in.Permission, panelSurface)
}

// storeReview handles a side panel's request to store a review.
func storeReview(policy Policy, in wire.ConfigReviewParams) (r wire.ConfigReviewResult, err error) {
	return r, policy.Review(in.Plugin, in.Hash, in.Permission, panelSurface)
}

// changeSettings sets settings of a plugin for a side panel.
func changeSettings(policy Policy, in wire.ConfigSettingsParams) (r wire.ConfigSettingsResult, err error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(in.Values, &values); err != nil || values == nil {
		return r, errors.New("config.settings needs values, an object of settings by key")
	}
	return r, policy.ChangeSettings(in.Plugin, values, panelSurface)
}

// setOpening stores for a side panel whether calls may open a plugin's page.
func setOpening(policy Policy, in wire.ConfigOpeningParams) (r wire.ConfigOpeningResult, err error) {
	return r, policy.SetOpening(in.Plugin, in.Allowed, panelSurface)
}

// setCalls stores for a side panel whether a plugin may call another plugin.
func setCalls(policy Policy, in wire.ConfigCallsParams) (r wire.ConfigCallsResult, err error) {
	return r, policy.SetCalls(in.Plugin, in.CalledPlugin, in.Allowed, panelSurface)
}

// setLateAccess stores for a side panel whether a plugin that starts late gets secret
// settings and can call other plugins.
func setLateAccess(policy Policy, in wire.ConfigLateAccessParams) (r wire.ConfigLateAccessResult, err error) {
	return r, policy.SetLateAccess(in.Plugin, in.Allowed, panelSurface)
}

// cancelCall cancels a call for a side panel.
func (p *panel) cancelCall(id, callID string) {
	isCancelled := false
	if calls := p.link.hub.currentCalls(); calls != nil {
		isCancelled = calls.Cancel(callID, panelSurface, "")
	}
	p.link.log.Info().Str("call", inbound.CleanText(callID, 128)).Bool("cancelled", isCancelled).Msg("side panel stopped a call")
	p.link.postFrame(wire.AppendResult(nil, id, wire.EncodeBody(wire.CallCancelResult{Cancelled: isCancelled})))
}

func (h *Hub) currentCalls() Calls {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls
}
