package wsbridge

import (
	"fmt"
	"sync"

	"opentabs/dispatch/shape"
	"opentabs/wire"
)

// Holds provides the tabs that clients hold while they use browser tools. The type
// browser.TabHoldTable implements the interface Holds.
type Holds interface {
	// TabHolds returns the tabs that clients hold in the given browser.
	TabHolds(browserID string) []wire.TabHold
	// RecordUserInput records that the user clicked or typed in a tab.
	RecordUserInput(browserID string, tabID int)
	// Release stops the client that is using a tab, and returns the client's name. The
	// argument surface is where the user decided to stop the client, such as the side panel.
	// If Release fails, the text of the error is for the user.
	Release(browserID string, tabID int, surface string) (client string, err error)
}

// TabHoldSender sends browsers the list of tabs that clients hold, and the list of client
// sessions that ended. A TabHoldSender is safe for concurrent use.
type TabHoldSender struct {
	hub *Hub

	mu       sync.Mutex // guards tabHolds; also held while the list is read and sent, so that the newest list is sent last
	tabHolds Holds
}

// SetTabHolds sets the object that lists held tabs. Call SetTabHolds before a browser connects.
func (s *TabHoldSender) SetTabHolds(tabHolds Holds) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tabHolds = tabHolds
}

// Send sends a browser the list of its tabs that clients are using, without blocking.
func (s *TabHoldSender) Send(browserID string) {
	if b := s.hub.registry.findBrowser(browserID); b != nil {
		s.sendHolds(b, false)
	}
}

// SendSessionEnded notifies all connected browsers, without blocking, that a client's session ended.
func (s *TabHoldSender) SendSessionEnded(session string) {
	for _, b := range s.hub.registry.listBrowsers() { // a link without a browser has not proved the secret key yet
		if _, l := s.hub.registry.currentLink(b); l != nil {
			l.postEndedSessions([]string{session})
		}
	}
}

func (s *TabHoldSender) sendHolds(b *browser, isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, l := s.hub.registry.currentLink(b)
	if s.tabHolds == nil || l == nil {
		return
	}
	params := wire.TabHoldsParams{Tabs: s.tabHolds.TabHolds(b.id)}
	if !isNew || len(params.Tabs) > 0 {
		l.postFrame(wire.AppendNotification(nil, wire.MethodTabHolds, wire.EncodeBody(params)))
	}
}

func (s *TabHoldSender) recordUserInput(b *browser, p wire.TabUserInputParams) {
	s.mu.Lock()
	tabHolds := s.tabHolds
	s.mu.Unlock()
	if tabHolds != nil { // RecordUserInput may call Send, so the lock must not be held
		tabHolds.RecordUserInput(b.id, p.TabID)
	}
}

func (s *TabHoldSender) releaseTab(b *browser, p wire.TabReleaseParams) (r wire.TabReleaseResult, err error) {
	s.mu.Lock()
	tabHolds := s.tabHolds
	s.mu.Unlock()
	if tabHolds == nil {
		return r, fmt.Errorf("no client uses tab %d", p.TabID)
	}
	_, err = tabHolds.Release(b.id, p.TabID, shape.PanelName)
	return r, err
}

func (l *link) postEndedSessions(sessions []string) {
	l.postFrame(wire.AppendNotification(nil, wire.MethodSessionEnded, wire.EncodeBody(wire.SessionEndedParams{Sessions: sessions})))
}
