package browser

import (
	"slices"
	"sync"

	"opentabs/dispatch"
	"opentabs/wire"
)

// maxSessions is the maximum number of sessions that are remembered, and of ended
// sessions.
const maxSessions = 10_000

// Sessions ends what belongs to a client's session when the session ends: holds of tabs,
// the current tab, the opened tabs, approvals, and what browsers keep for the session.
// What belongs to the client stays: rules, approvals for some time, the user's stops, the
// group of its tabs, and what its other sessions use.
//
// A client whose protocol has no sessions counts as one session, which ends with the
// client's token. Sessions is safe for concurrent use.
type Sessions struct {
	parts []sessionPart
	onEnd func(session string) // nil until OnEnd

	mu sync.Mutex // guards all fields below
	// live are the sessions that have called browser tools since the start of the server.
	live map[string]bool
	// ended are the last sessions that have ended; endedKeys has them from the oldest to
	// the newest. A job may call tools for a session that has ended.
	ended     map[string]bool
	endedKeys []string
}

// sessionPart keeps something for each session.
type sessionPart interface {
	// endSession forgets a session by its clientKey.
	endSession(session string)
}

var (
	_ dispatch.BeforeHook = (*Sessions)(nil)
	_ dispatch.AfterHook  = (*Sessions)(nil)
)

func newSessions(parts ...sessionPart) *Sessions {
	return &Sessions{parts: parts, live: map[string]bool{}, ended: map[string]bool{}}
}

// OnEnd sets the function that receives each session that has ended. Call OnEnd before the
// first call.
func (s *Sessions) OnEnd(onEnd func(session string)) { s.onEnd = onEnd }

// Before implements dispatch.BeforeHook: the session of a call lives, unless it has ended.
func (s *Sessions) Before(callInfo dispatch.CallInfo) *wire.CallError {
	if callInfo.Tool.Plugin != Name {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if key := clientKey(callInfo.Client); len(s.live) < maxSessions && !s.ended[key] {
		s.live[key] = true
	}
	return nil
}

// After implements dispatch.AfterHook: what a call has left behind ends, if the session
// has ended while the call ran.
func (s *Sessions) After(callInfo dispatch.CallInfo, _ dispatch.EndedCall) {
	key := clientKey(callInfo.Client)
	s.mu.Lock()
	hasEnded := callInfo.Tool.Plugin == Name && s.ended[key]
	s.mu.Unlock()
	if hasEnded {
		s.endParts(key, true)
	}
}

// End ends what belongs to the session of a client.
func (s *Sessions) End(c dispatch.Client) {
	key := clientKey(c)
	s.mu.Lock()
	isUsed := s.live[key]
	delete(s.live, key)
	if !c.IsSessionShared { // another client may get the name of a client without sessions
		s.ended[key] = true
		s.endedKeys = append(s.endedKeys, key)
		if len(s.endedKeys) > maxSessions {
			delete(s.ended, s.endedKeys[0])
			s.endedKeys = s.endedKeys[1:]
		}
	}
	s.mu.Unlock()
	s.endParts(key, isUsed)
}

// endParts ends what belongs to a session. isUsed is set if browsers may keep something
// for the session.
func (s *Sessions) endParts(key string, isUsed bool) {
	for _, part := range s.parts {
		part.endSession(key)
	}
	if s.onEnd != nil && isUsed {
		s.onEnd(key)
	}
}

// Ended returns those of the sessions that have ended, or that this server does not know.
func (s *Sessions) Ended(sessions []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(sessions), func(key string) bool { return s.live[key] })
}
