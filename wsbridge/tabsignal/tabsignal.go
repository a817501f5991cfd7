// Package tabsignal wakes the calls that wait for a tab.
package tabsignal

import "sync"

// Signal wakes the calls that wait for a tab, at each change of the tabs of any browser.
// The zero value is ready; all methods may be called concurrently.
type Signal struct {
	mu            sync.Mutex // mu guards all fields below
	changed       chan struct{}
	hasListedTabs bool // true if any browser has listed its tabs
}

// Next returns a channel that is closed at the next change.
func (n *Signal) Next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.changed == nil {
		n.changed = make(chan struct{})
	}
	return n.changed
}

// Publish wakes the waiting calls; isFullList is true if a browser has listed all its
// tabs.
func (n *Signal) Publish(isFullList bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hasListedTabs = n.hasListedTabs || isFullList
	if n.changed != nil {
		close(n.changed)
		n.changed = nil
	}
}

// HasListed reports whether a browser has ever listed its tabs.
func (n *Signal) HasListed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hasListedTabs
}
