package wsbridge

import (
	"errors"
	"fmt"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/shape"
	"opentabs/wire"
	"opentabs/wsbridge/changes"
	"opentabs/wsbridge/inbound"
)

// maxPanelRequests limits how many requests of one browser's side panel are handled at a time.
const maxPanelRequests = 64

// runRequest handles a side panel's request on a separate goroutine, because the request can
// write files.
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

// A returned error of handleRequest must be a sentence that the panel can show to the user.
func answerPanelRequest[P, R any](p *panel, e wire.Envelope, handleRequest func(P) (R, error)) {
	var in P
	err := wire.DecodeBody(e.Params, &in)
	p.answerRequest(e, err, func() ([]byte, error) {
		result, err := handleRequest(in)
		return wire.EncodeBody(result), err
	})
}

// Errors of handleRequest must be sentences for the user.
func (p *panel) answerRequest(e wire.Envelope, decodeErr error, handleRequest func() (body []byte, err error)) {
	l := p.link
	if decodeErr != nil {
		l.rejectRequest(e, wire.CodeInvalidParams, fmt.Sprintf("%s: %s", e.Method, inbound.CleanText(decodeErr.Error(), 200)))
		return
	}
	id, method := e.ID, e.Method
	p.runRequest(e, func() {
		body, err := handleRequest()
		if err != nil {
			l.log.Debug().Err(err).Str("method", string(method)).Msg("request of the side panel rejected")
			l.postFrame(wire.AppendError(nil, id, &wire.RPCError{Code: wire.CodeInvalidRequest, Message: inbound.CleanText(err.Error(), 500)}))
			return
		}
		l.postFrame(wire.AppendResult(nil, id, body))
	})
}

func (p *panel) decideTicket(in wire.CallDecideParams) (wire.CallDecideResult, error) {
	if in.CallID == "" || in.TicketID == "" {
		return wire.CallDecideResult{}, errors.New("call.decide needs a callId and a ticketId; send those of the displayed call")
	}
	maxScopeMs := float64(dispatch.MaxTimedApproval / time.Millisecond)
	if in.DurationMs < 0 || in.DurationMs > maxScopeMs { // more than maxScopeMs milliseconds may overflow time.Duration
		return wire.CallDecideResult{}, fmt.Errorf("a permission can last for up to %v; choose a shorter time, or always", dispatch.MaxTimedApproval)
	}
	calls := p.link.hub.currentCalls()
	if calls == nil {
		return wire.CallDecideResult{Outcome: wire.DecisionNotPending}, nil
	}
	d, err := calls.Decide(in.CallID, in.TicketID, dispatch.Resolution{
		Allow: in.Allow, Scope: in.Scope, Duration: time.Duration(in.DurationMs * float64(time.Millisecond)), Surface: shape.SurfaceName(in.Surface),
	})
	if err != nil {
		return wire.CallDecideResult{}, err
	}
	p.link.log.Info().Str("call", inbound.CleanText(in.CallID, 128)).Bool("allow", in.Allow).Str("outcome", string(d.Outcome)).Msg("side panel decided about a call")
	return wire.CallDecideResult{Outcome: d.Outcome, By: d.Surface, Allowed: d.Allowed}, nil
}

var (
	errNoPermissions = errors.New("this server has no permissions")
	errNoCallHistory = errors.New("this server records no calls")
)

func (p *panel) changePolicy(e wire.Envelope, decode changes.ChangeDecoder) {
	change, err := decode(e.Params)
	p.answerRequest(e, err, func() ([]byte, error) {
		if p.link.hub.opts.Policy == nil {
			return nil, errNoPermissions
		}
		return change(p.link.hub.opts.Policy, shape.PanelName)
	})
}

func (p *panel) cancelCall(id, callID string) {
	isCancelled := false
	if calls := p.link.hub.currentCalls(); calls != nil {
		isCancelled = calls.Cancel(callID, shape.PanelName, "")
	}
	p.link.log.Info().Str("call", inbound.CleanText(callID, 128)).Bool("cancelled", isCancelled).Msg("side panel stopped a call")
	p.link.postFrame(wire.AppendResult(nil, id, wire.EncodeBody(wire.CallCancelResult{Cancelled: isCancelled})))
}

func (h *Hub) currentCalls() Calls {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls
}
