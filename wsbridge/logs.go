package wsbridge

import (
	"errors"

	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// The browser, not the server, checks that the plugin runs in the document, because the server's list of tabs can be
// out of date.
func (h *Hub) forwardLog(b *browser, l *link, p wire.PluginLogParams) error {
	if h.opts.ReceiveLogs == nil {
		return nil
	}
	name, currentLink := h.registry.currentLink(b)
	if currentLink != l {
		return nil
	}
	if !h.hasPlugin(p.Plugin) {
		return errors.New("there is no such plugin")
	}
	p.Dropped = max(p.Dropped, 0)
	if excessCount := len(p.Entries) - wire.MaxLogEntries; excessCount > 0 {
		p.Entries, p.Dropped = p.Entries[:wire.MaxLogEntries], p.Dropped+excessCount
	}
	for i := range p.Entries {
		inbound.CleanLogEntry(&p.Entries[i])
	}
	h.opts.ReceiveLogs(b.id, name, p)
	return nil
}
