package wsbridge

import (
	"time"

	"opentabs/wire"
)

// browser is one browser, from its first hello until it has been disconnected for
// longer than the grace period. The tables of runs and of tabs have their own locks.
type browser struct {
	id   string
	runs runTable
	tabs tabTable

	// registry.mu guards the state of the browser's connection.
	name          string
	bootID        string
	version       string
	capabilities  []string
	keyID         string // the KeyID of the browser's last connection; empty for the installation's key
	injectMode    wire.InjectMode
	link          *link     // nil while the link is lost
	linkChangedAt time.Time // the time when the browser's link was established or lost
	// linkGeneration counts the changes of the browser's link. A timer does nothing if
	// linkGeneration has changed since the timer was set.
	linkGeneration int
	giveUpTimer    *time.Timer // the timer that calls removeLostBrowser; nil if no timer is set
}

func newBrowser(h *Hub, id string) *browser {
	return &browser{
		id:   id,
		runs: runTable{hub: h, browserID: id, runs: map[string]*run{}, stops: map[string]*pendingStop{}},
		tabs: tabTable{hub: h, browserID: id, tabs: map[int]wire.TabInfo{}, leftDocumentAt: map[int]time.Time{}},
	}
}

// setLink sets the link and stops the timer of the previous link. The caller holds
// registry.mu.
func (b *browser) setLink(l *link) {
	if b.giveUpTimer != nil {
		b.giveUpTimer.Stop()
		b.giveUpTimer = nil
	}
	b.link, b.linkChangedAt = l, time.Now()
	b.linkGeneration++
}
