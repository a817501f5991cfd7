// Package tabsignal notifies waiting calls when tabs change.
package tabsignal

import "sync"

// TabChanges notifies waiting calls when the tabs of a browser have changed. The zero TabChanges is ready
// to use. All methods of TabChanges are safe for concurrent use.
type TabChanges struct {
	mu            sync.Mutex // the mutex guards all fields below
	nextChange    chan struct{}
	hasListedTabs bool
}

// Next returns a channel that is closed at the next change of any tab.
func (n *TabChanges) Next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.nextChange == nil {
		n.nextChange = make(chan struct{})
	}
	return n.nextChange
}

// Publish notifies the waiting calls that tabs have changed. The argument isFullList is true if a
// browser has just listed all of its tabs.
func (n *TabChanges) Publish(isFullList bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hasListedTabs = n.hasListedTabs || isFullList
	if n.nextChange != nil {
		close(n.nextChange)
		n.nextChange = nil
	}
}

// HasListedTabs reports whether any browser has listed its tabs.
func (n *TabChanges) HasListedTabs() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hasListedTabs
}
