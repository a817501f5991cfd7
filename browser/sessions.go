package browser

import (
	"slices"
	"sync"

	"opentabs/dispatch"
	"opentabs/wire"
)

// maxSessions limits the stored running sessions, and separately the stored ended sessions.
const maxSessions = 10_000

// Sessions removes the state of a client's session when the session ends. A session's state
// is the held tabs, the current tab, the list of opened tabs, approvals for the session, and
// state in browsers. The end of a session does not remove rules, approvals for some time,
// stops by the user, the client's tab group, or the state of the client's other sessions.
//
// If a client's protocol has no sessions, its single session lasts until the user removes
// the client's token. Sessions is safe for concurrent use.
type Sessions struct {
	sessionStores []sessionStore
	onEnd         func(session string)

	mu              sync.Mutex // the mutex guards all fields below
	runningSessions map[string]bool
	// endedSessions is the set of ended sessions, and endedSessionOrder lists the same sessions, oldest
	// first. Ended sessions are stored because a job may call tools after its session has ended.
	endedSessions     map[string]bool
	endedSessionOrder []string
}

// sessionStore stores state for each client session.
type sessionStore interface {
	endSession(session string)
}

var (
	_ dispatch.BeforeHook = (*Sessions)(nil)
	_ dispatch.AfterHook  = (*Sessions)(nil)
)

func newSessions(sessionStores ...sessionStore) *Sessions {
	return &Sessions{sessionStores: sessionStores, runningSessions: map[string]bool{}, endedSessions: map[string]bool{}}
}

// OnEnd sets the function that runs after a session has ended, with the key of the
// session. Call OnEnd before the first tool call.
func (s *Sessions) OnEnd(onEnd func(session string)) { s.onEnd = onEnd }

// The method BeforeCall implements dispatch.BeforeHook. BeforeCall records that the call's
// session is running, unless the session has ended.
func (s *Sessions) BeforeCall(callInfo dispatch.CallInfo) *wire.CallError {
	if callInfo.Tool.Plugin != Name {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if key := clientKey(callInfo.Client); len(s.runningSessions) < maxSessions && !s.endedSessions[key] {
		s.runningSessions[key] = true
	}
	return nil
}

// The method AfterCall implements dispatch.AfterHook. If the client's session ended while the
// call ran, AfterCall removes the state that the call has added to the session.
func (s *Sessions) AfterCall(callInfo dispatch.CallInfo, _ dispatch.EndedCall) {
	key := clientKey(callInfo.Client)
	s.mu.Lock()
	hasEnded := callInfo.Tool.Plugin == Name && s.endedSessions[key]
	s.mu.Unlock()
	if hasEnded {
		s.removeSessionState(key, true)
	}
}

// End removes the state of a client's session.
func (s *Sessions) End(c dispatch.Client) {
	key := clientKey(c)
	s.mu.Lock()
	hasMadeCalls := s.runningSessions[key]
	delete(s.runningSessions, key)
	if !c.IsSessionShared { // a later client may have the same name, and the name is the key of a shared session
		s.endedSessions[key] = true
		s.endedSessionOrder = append(s.endedSessionOrder, key)
		if len(s.endedSessionOrder) > maxSessions {
			delete(s.endedSessions, s.endedSessionOrder[0])
			s.endedSessionOrder = s.endedSessionOrder[1:]
		}
	}
	s.mu.Unlock()
	s.removeSessionState(key, hasMadeCalls)
}

// If browsers may have stored data for an ended session, removeSessionState notifies the browsers of its end.
func (s *Sessions) removeSessionState(key string, hasMadeCalls bool) {
	for _, store := range s.sessionStores {
		store.endSession(key)
	}
	if s.onEnd != nil && hasMadeCalls {
		s.onEnd(key)
	}
}

// FilterEnded returns which of the given sessions have ended or are unknown to the daemon.
func (s *Sessions) FilterEnded(sessions []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(sessions), func(key string) bool { return s.runningSessions[key] })
}
