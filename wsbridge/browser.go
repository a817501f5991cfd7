package wsbridge

import (
	"time"

	"opentabs/wire"
)

// The type browser is one browser, from its first hello frame until it has been disconnected
// for longer than the grace period. The tables runs and tabs of a browser each have their own
// lock.
type browser struct {
	id       string
	runTable runTable
	tabs     tabTable

	// registry.mu guards the fields that describe the browser's connection.
	name          string
	bootID        string
	version       string
	capabilities  []string
	keyID         string // keyID is the KeyID of the last connection; empty for the installation's key
	injectMode    wire.InjectMode
	link          *link
	linkChangedAt time.Time
	// linkGeneration counts how often the browser has connected or lost its link.
	linkGeneration   int
	gracePeriodTimer *time.Timer
}

func newBrowser(h *Hub, id string) *browser {
	return &browser{
		id:       id,
		runTable: runTable{hub: h, browserID: id, runs: map[string]*toolRun{}, pendingStops: map[string]*pendingStop{}},
		tabs:     tabTable{hub: h, browserID: id, tabs: map[int]wire.TabInfo{}, navigationTimes: map[int]time.Time{}},
	}
}

// The caller of setLink holds registry.mu.
func (b *browser) setLink(l *link) {
	if b.gracePeriodTimer != nil {
		b.gracePeriodTimer.Stop()
		b.gracePeriodTimer = nil
	}
	b.link, b.linkChangedAt = l, time.Now()
	b.linkGeneration++
}
