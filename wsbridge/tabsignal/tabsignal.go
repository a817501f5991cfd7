// Package tabsignal notifies waiting calls when tabs change.
package tabsignal

import "sync"

// Signal notifies waiting calls when the tabs of a browser have changed. The zero Signal is ready
// to use. All methods of Signal are safe for concurrent use.
type Signal struct {
	mu            sync.Mutex // the mutex guards all fields below
	changed       chan struct{}
	hasListedTabs bool
}

// Next returns a channel that is closed at the next change of any tab.
func (n *Signal) Next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.changed == nil {
		n.changed = make(chan struct{})
	}
	return n.changed
}

// Publish notifies the waiting calls that tabs have changed. The argument isFullList is true if a
// browser has just listed all of its tabs.
func (n *Signal) Publish(isFullList bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hasListedTabs = n.hasListedTabs || isFullList
	if n.changed != nil {
		close(n.changed)
		n.changed = nil
	}
}

// HasListedTabs reports whether any browser has listed its tabs.
func (n *Signal) HasListedTabs() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hasListedTabs
}
