package wsbridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// panelSurface is the name of the surface on which a user decides in a side
// panel.
const panelSurface = "the side panel"

// maxPanelWork limits the concurrent requests of one browser's side panel.
// Further requests are rejected.
const maxPanelWork = 64

// runForPanel runs the work of a side panel's request outside the reader,
// because the work may write files.
func (l *link) runForPanel(e wire.Envelope, do func()) {
	if l.panelWork.Add(1) > maxPanelWork {
		l.panelWork.Add(-1)
		l.reject(e, wire.CodeInvalidRequest, fmt.Sprintf("%d requests are already in progress; retry later", maxPanelWork))
		return
	}
	l.work.Go(func() {
		defer l.panelWork.Add(-1)
		do()
	})
}

// answerPanel answers a request of a side panel. The error of do is a sentence
// for the user.
func answerPanel[P, R any](l *link, e wire.Envelope, do func(P) (R, error)) {
	var p P
	if err := json.Unmarshal(orEmpty(e.Params), &p); err != nil {
		l.reject(e, wire.CodeInvalidParams, fmt.Sprintf("%s: %s", e.Method, clean(err.Error(), 200)))
		return
	}
	id, method := e.ID, e.Method
	l.runForPanel(e, func() {
		result, err := do(p)
		if err != nil {
			l.log.Debug().Err(err).Str("method", string(method)).Msg("request of the side panel rejected")
			l.post(wire.AppendError(nil, id, &wire.RPCError{Code: wire.CodeInvalidRequest, Message: clean(err.Error(), 500)}))
			return
		}
		l.post(wire.AppendResult(nil, id, marshal(result)))
	})
}

// decide resolves the ticket of a suspended call for a side panel.
func (l *link) decide(p wire.CallDecideParams) (wire.CallDecideResult, error) {
	if p.CallID == "" || p.TicketID == "" {
		return wire.CallDecideResult{}, errors.New("call.decide needs a callId and a ticketId; send those of the displayed call")
	}
	longest := float64(dispatch.MaxScopeTime / time.Millisecond)
	if p.ForMs < 0 || p.ForMs > longest { // a larger number may overflow time.Duration
		return wire.CallDecideResult{}, fmt.Errorf("a permission can last for up to %v; choose a shorter time, or always", dispatch.MaxScopeTime)
	}
	calls := l.hub.currentCalls()
	if calls == nil {
		return wire.CallDecideResult{Outcome: wire.DecideEnded}, nil
	}
	d, err := calls.Decide(p.CallID, p.TicketID, dispatch.Resolution{
		Allow: p.Allow, Scope: p.Scope, For: time.Duration(p.ForMs * float64(time.Millisecond)), By: panelSurface,
	})
	if err != nil {
		return wire.CallDecideResult{}, err
	}
	l.log.Info().Str("call", clean(p.CallID, 128)).Bool("allow", p.Allow).Str("outcome", string(d.Outcome)).Msg("side panel decided about a call")
	return wire.CallDecideResult{Outcome: d.Outcome, By: d.By, Allowed: d.Allowed}, nil
}

// errNoPolicy rejects changes on a server without permissions.
var errNoPolicy = errors.New("this server has no permissions")

// setPermission sets a permission for a side panel.
func (l *link) setPermission(p wire.ConfigPermissionParams) (r wire.ConfigPermissionResult, err error) {
	if l.hub.opts.Policy == nil {
		return r, errNoPolicy
	}
	return r, l.hub.opts.Policy.SetPermission(p.Plugin, p.Tool, p.Permission, panelSurface)
}

// review stores a review for a side panel.
func (l *link) review(p wire.ConfigReviewParams) (r wire.ConfigReviewResult, err error) {
	if l.hub.opts.Policy == nil {
		return r, errNoPolicy
	}
	return r, l.hub.opts.Policy.Review(p.Plugin, p.Hash, p.Permission, panelSurface)
}

// changeSettings sets settings of a plugin for a side panel.
func (l *link) changeSettings(p wire.ConfigSettingsParams) (r wire.ConfigSettingsResult, err error) {
	if l.hub.opts.Policy == nil {
		return r, errNoPolicy
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(p.Values, &values); err != nil || values == nil {
		return r, errors.New("config.settings needs values, an object of settings by key")
	}
	return r, l.hub.opts.Policy.ChangeSettings(p.Plugin, values, panelSurface)
}

// setOpening stores for a side panel whether calls may open a plugin's page.
func (l *link) setOpening(p wire.ConfigOpeningParams) (r wire.ConfigOpeningResult, err error) {
	if l.hub.opts.Policy == nil {
		return r, errNoPolicy
	}
	return r, l.hub.opts.Policy.SetOpening(p.Plugin, p.Allowed, panelSurface)
}

// setCalls stores for a side panel whether a plugin may call another one.
func (l *link) setCalls(p wire.ConfigCallsParams) (r wire.ConfigCallsResult, err error) {
	if l.hub.opts.Policy == nil {
		return r, errNoPolicy
	}
	return r, l.hub.opts.Policy.SetCalls(p.Plugin, p.Other, p.Allowed, panelSurface)
}

// setLateAccess stores for a side panel whether a plugin that starts late has
// access.
func (l *link) setLateAccess(p wire.ConfigLateAccessParams) (r wire.ConfigLateAccessResult, err error) {
	if l.hub.opts.Policy == nil {
		return r, errNoPolicy
	}
	return r, l.hub.opts.Policy.SetLateAccess(p.Plugin, p.Allowed, panelSurface)
}

// cancelCall cancels a call for a side panel.
func (l *link) cancelCall(id, callID string) {
	cancelled := false
	if calls := l.hub.currentCalls(); calls != nil {
		cancelled = calls.Cancel(callID, panelSurface, "")
	}
	l.log.Info().Str("call", clean(callID, 128)).Bool("cancelled", cancelled).Msg("side panel stopped a call")
	l.post(wire.AppendResult(nil, id, marshal(wire.CallCancelResult{Cancelled: cancelled})))
}

func (h *Hub) currentCalls() Calls {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls
}
