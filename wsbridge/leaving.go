package wsbridge

import (
	"slices"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// replace stores what is known of a tab now, and when it was left: a plugin was
// live in its document, and the next one is loading. The caller holds mu.
func (b *browser) replace(t wire.TabInfo) {
	before := b.tabs[t.TabID]
	b.tabs[t.TabID] = t
	switch {
	case t.DocumentID != "" || len(t.Loading)+len(t.Arriving) == 0:
		delete(b.left, t.TabID)
	case before.DocumentID != "":
		b.left[t.TabID] = time.Now()
	}
}

// forget drops a tab. The caller holds mu.
func (b *browser) forget(id int) {
	delete(b.tabs, id)
	delete(b.left, id)
}

// returning is how much longer a call should wait for a tab that it would run in
// before any of live, because the plugin was live there just now and its next
// document is loading: an agent that had a page opened means that page, not
// another tab. It is over after loadWait. The caller does not hold mu.
func (b *browser) returning(want dispatch.Want, live []place) (left time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link == nil {
		return 0
	}
	for id, at := range b.left {
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
			left = max(left, loadWait-time.Since(at))
		}
	}
	return left
}
