package wsbridge

import (
	"context"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// openTimeout limits how long a call waits for the plugin to become ready in a
// tab that was opened for the call.
const openTimeout = 20 * time.Second

// openTab opens a tab at url in the background. It returns nil if the browser
// can't.
func (h *Hub) openTab(ctx context.Context, in dispatch.Target, url string) *dispatch.Target {
	b := h.find(in.Browser)
	if b == nil {
		return nil
	}
	b.mu.Lock()
	l := b.link
	b.mu.Unlock()
	if l == nil {
		return nil
	}
	answer, err := l.request(ctx, wire.MethodTabOpen, marshal(wire.TabOpenParams{URL: url}))
	var r wire.TabOpenResult
	if err == nil {
		err = decodeAnswer(answer, &r)
	}
	if err != nil {
		l.log.Warn().Err(err).Str("url", url).Msg("the browser can't open a tab")
		return nil
	}
	l.log.Info().Int("tab", r.TabID).Str("url", url).Msg("tab opened for a call")
	in.TabID, in.URL = r.TabID, url
	return &in
}
