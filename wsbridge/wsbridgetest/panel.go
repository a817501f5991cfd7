package wsbridgetest

import (
	"context"
	"fmt"
	"strings"

	"opentabs/wire"
)

// Watch opens the simulated side panel. The server's updates are passed to
// Options.OnState and Options.OnPlugins. Watch works only while the method [Browser.Run]
// is running.
func (b *Browser) Watch() error {
	return b.notify(wire.MethodStateWatch, wire.StateWatchParams{On: true})
}

// Stop cancels a call, as the stop button of the side panel does. Stop waits for the
// server's answer until ctx ends. Stop works only while the method [Browser.Run] is
// running.
func (b *Browser) Stop(ctx context.Context, callID string) (wire.CallCancelResult, error) {
	return sendPanelRequest[wire.CallCancelResult](ctx, b, wire.MethodCallCancel, wire.CallCancelParams{CallID: callID})
}

// Decide sends the user's decision about a call that is waiting for approval.
func (b *Browser) Decide(ctx context.Context, p wire.CallDecideParams) (wire.CallDecideResult, error) {
	return sendPanelRequest[wire.CallDecideResult](ctx, b, wire.MethodCallDecide, p)
}

// SetPermission sets the permission of a plugin or a tool, as the side panel does.
func (b *Browser) SetPermission(ctx context.Context, p wire.ConfigPermissionParams) error {
	_, err := sendPanelRequest[wire.ConfigPermissionResult](ctx, b, wire.MethodConfigPermission, p)
	return err
}

// Review records that the user has reviewed a plugin, as the side panel does.
func (b *Browser) Review(ctx context.Context, p wire.ConfigReviewParams) error {
	_, err := sendPanelRequest[wire.ConfigReviewResult](ctx, b, wire.MethodConfigReview, p)
	return err
}

func sendPanelRequest[R any](ctx context.Context, b *Browser, method wire.Method, params any) (result R, err error) {
	answer := make(chan wire.Envelope, 1)
	b.mu.Lock()
	b.panelRequestCount++
	id := fmt.Sprintf("panel-%d", b.panelRequestCount)
	b.panelAnswers[id] = answer
	b.mu.Unlock()
	if err := b.write(wire.AppendRequest(nil, id, method, wire.EncodeBody(params))); err != nil {
		return result, fmt.Errorf("%s: %w", method, err)
	}
	select {
	case e := <-answer:
		if e.Error != nil {
			return result, fmt.Errorf("%s: %s", method, strings.TrimSpace(e.Error.Message))
		}
		return result, wire.DecodeBody(e.Result, &result)
	case <-ctx.Done():
		return result, fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}

func (b *Browser) deliverResult(e wire.Envelope) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if answers := b.panelAnswers[e.ID]; answers != nil {
		delete(b.panelAnswers, e.ID)
		answers <- e // this send never blocks, because the channel is buffered for the only answer
	}
}
