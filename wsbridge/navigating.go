package wsbridge

import (
	"slices"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// storeTab stores a tab. If a plugin was live in its document and the next
// document is loading, storeTab also stores the time. The caller holds mu.
func (b *browser) storeTab(t wire.TabInfo) {
	before := b.tabs[t.TabID]
	b.tabs[t.TabID] = t
	switch {
	case t.DocumentID != "" || len(t.Loading)+len(t.Arriving) == 0:
		delete(b.leftAt, t.TabID)
	case before.DocumentID != "":
		b.leftAt[t.TabID] = time.Now()
	}
}

// removeTab removes a tab. The caller holds mu.
func (b *browser) removeTab(id int) {
	delete(b.tabs, id)
	delete(b.leftAt, id)
}

// nextDocumentWait returns how much longer a call should wait for the next
// document of a tab. It applies to a tab that was live a moment ago and ranks
// before all of live: an agent that caused a page to load means that page, not
// another tab. The wait ends after loadTimeout. The caller does not hold mu.
func (b *browser) nextDocumentWait(want dispatch.Want, live []place) (left time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link == nil {
		return 0
	}
	for id, at := range b.leftAt {
		t := b.tab(id)
		p := place{used: t.LastAccessedMs, class: class(t), Target: b.target(t, documents(t)[0])}
		if t.DocumentID != "" || !slices.Contains(t.Loading, want.Plugin) && !slices.Contains(t.Arriving, want.Plugin) || !want.Allows(p.Target) {
			continue
		}
		first := !slices.ContainsFunc(live, func(other place) bool {
			if !want.Allows(other.Target) || other.Readiness == dispatch.NotReady {
				return false
			}
			other.Readiness = p.Readiness
			return compare(other, p) < 0
		})
		if first {
			left = max(left, loadTimeout-time.Since(at))
		}
	}
	return left
}
