package wsbridge

import (
	"time"

	"opentabs/wire"
)

// browser is one browser, from its first hello until it has been disconnected for
// longer than the grace period. The tables of a browser have their own locks.
type browser struct {
	id   string
	runs runTable
	tabs tabTable

	// registry.mu guards all fields below.
	name    string
	boot    string
	version string
	inject  wire.InjectMode
	link    *link     // nil while it is lost
	since   time.Time // when link came up or was lost
	// generation counts the changes of link. A timer that was set for an older
	// generation does nothing.
	generation int
	timer      *time.Timer // of giveUp; nil if none is set
}

func newBrowser(h *Hub, id string) *browser {
	return &browser{
		id:   id,
		runs: runTable{hub: h, browserID: id, runs: map[string]*run{}, stops: map[string]*stop{}},
		tabs: tabTable{hub: h, id: id, tabs: map[int]wire.TabInfo{}, leftAt: map[int]time.Time{}},
	}
}

// setLink sets the link and stops the timer of the previous link. The caller holds
// registry.mu.
func (b *browser) setLink(l *link) {
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	b.link, b.since = l, time.Now()
	b.generation++
}
