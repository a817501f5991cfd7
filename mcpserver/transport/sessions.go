package transport

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"opentabs/dispatch"
)

// The causes with which the context of a request ends before its answer.
var (
	ErrCancelled    = errors.New("the client cancelled it")
	errClientGone   = errors.New("the client is gone or does not read")
	ErrSessionEnded = errors.New("the session has ended")
	ErrShutdown     = errors.New("the server is stopping")
	ErrRevoked      = errors.New("the token of the client was removed")
)

// errDuplicateID rejects a request with the ID of a running one.
var errDuplicateID = errors.New("a request with this id is still running in this session")

// The transports of a session.
const (
	OverHTTP  = "http"
	OverStdio = "stdio"
)

// ClientInfo is one connected session.
type ClientInfo struct {
	// ID is the session's ID. ID works as a password: do not show it.
	ID string
	Credential
	// Name and Version are reported by the client; empty before initialize.
	Name    string
	Version string
	// Transport is "http" or "stdio".
	Transport string
	// Since is when the session began.
	Since time.Time
}

// session is one client's session and its tasks.
type session struct {
	id         string
	listener   *listener      // the session as mcp-go sees it; nil if sessionless
	credential Credential     // its client's
	requests   clientRequests // requests to its client
	done       chan struct{}  // closed when the session has ended
	info       ClientInfo     // guarded by sessions.mu
	seen       time.Time      // time of the last request; guarded by sessions.mu
	brokenOff  bool           // its client closed a response early, without a request since; guarded by sessions.mu
	// running contains the tasks by their keys; guarded by sessions.mu.
	running map[string]task
	// early contains the cancellations that arrived before their requests, ended the
	// keys of the last released tasks; guarded by sessions.mu.
	early map[string]earlyCancel
	ended []string
}

// quietFor is how long a client without requests and streams counts as connected.
// quietFor is also how long a session is kept after its client closed a response early.
const quietFor = 10 * time.Minute

// earlyCancel is a cancellation that arrived before its request.
type earlyCancel struct {
	at     time.Time
	reason string
}

const (
	// earlyFor is how long a cancellation waits for its request. Over HTTP a call and
	// its cancellation use separate connections, so the cancellation may arrive first.
	earlyFor = 5 * time.Second
	// earlyKept and endedKept are the maximum number of stored keys of each kind.
	earlyKept = 64
	endedKept = 256
)

// publicName returns the session's name in lists of calls. Unlike the ID, the name is
// not secret.
func (s *session) publicName() string {
	sum := sha256.Sum256([]byte(s.id))
	return "session-" + hex.EncodeToString(sum[:6])
}

// task is a call or a stream of a client.
type task struct {
	cancel context.CancelCauseFunc
	// stream is set for a stream without a call, which never ends by itself.
	stream bool
}

// sessions is the table of all sessions, safe for concurrent use.
type sessions struct {
	// idle is Options.SessionIdle.
	idle time.Duration
	// ended is called, without mu, for each session that has ended.
	ended     func(*session)
	resources Resources // nil for none
	// closing is closed when Shutdown begins.
	closing chan struct{}
	// tasks counts the running tasks; none is added once closed is set.
	tasks sync.WaitGroup

	mu     sync.Mutex // guards all fields below and the fields of sessions named so
	byID   map[string]*session
	closed bool
	sweep  *time.Timer // runs while there are HTTP sessions

	// sessionless contains the tasks of clients whose protocol has no sessions.
	sessionless map[Credential]*session
}

func newSessions(idle time.Duration, resources Resources, ended func(*session)) *sessions {
	return &sessions{
		idle:        idle,
		resources:   resources,
		ended:       ended,
		closing:     make(chan struct{}),
		byID:        map[string]*session{},
		sessionless: map[Credential]*session{},
	}
}

// sessionlessOf returns the session for the tasks of a client whose protocol has no
// sessions.
func (t *sessions) sessionlessOf(c Credential) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.sessionless[c]
	if !ok {
		s = &session{credential: c, info: ClientInfo{Credential: c}, done: make(chan struct{}), running: map[string]task{}}
		t.sessionless[c] = s
	}
	return s
}

// open starts a session of a client.
func (t *sessions) open(transport string, c Credential) *session {
	now, id := time.Now(), transport+"-"+strings.ToLower(rand.Text())
	s := &session{
		id:         id,
		listener:   newListener(id, t.resources),
		credential: c,
		info:       ClientInfo{ID: id, Credential: c, Transport: transport, Since: now},
		seen:       now,
		done:       make(chan struct{}),
		running:    map[string]task{},
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byID[id] = s
	if transport == OverHTTP && t.sweep == nil && !t.closed {
		t.sweep = time.AfterFunc(t.sweepAfter(), t.expire)
	}
	return s
}

// allListeners returns the listeners of all sessions.
func (t *sessions) allListeners() []*listener {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]*listener, 0, len(t.byID))
	for _, s := range t.byID {
		list = append(list, s.listener)
	}
	return list
}

// find returns the session with this ID if it belongs to the client, and records the
// time of the request.
func (t *sessions) find(id string, c Credential) (*session, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.byID[id]
	if !ok || s.credential != c {
		return nil, false
	}
	s.seen, s.brokenOff = time.Now(), false
	return s, true
}

// brokeOff records that a client closed a response early. The client may return: a
// session is not bound to a connection.
func (t *sessions) brokeOff(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.brokenOff = true
}

// setClientName records the name that the client of a session reports.
func (t *sessions) setClientName(id string, c clientName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s, ok := t.byID[id]; ok && c.Name != "" {
		s.info.Name, s.info.Version = c.Name, c.Version
	}
}

// clientInfo describes a session's client.
func (t *sessions) clientInfo(s *session) ClientInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.info
}

// begin registers a task of a session, so cancel(key), the end of the session and
// Shutdown cancel it. begin returns errDuplicateID, ErrSessionEnded or ErrShutdown if
// the task must not start. Call release and then finish at its end.
func (t *sessions) begin(s *session, key string, k task) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return ErrShutdown
	}
	select {
	case <-s.done:
		return ErrSessionEnded
	default:
	}
	if _, ok := s.running[key]; ok {
		return errDuplicateID
	}
	if early, ok := s.early[key]; ok {
		delete(s.early, key)
		if time.Since(early.at) < earlyFor {
			k.cancel(cancelledFor(early.reason))
		}
	}
	s.running[key] = k
	t.tasks.Add(1)
	return nil
}

// release removes the task with this key: it cannot be cancelled any more, and its ID
// is free. The answer of a released request may still be written; call finish after
// that.
func (t *sessions) release(s *session, key string) {
	t.mu.Lock()
	delete(s.running, key)
	if len(s.ended) == endedKept {
		s.ended = append(s.ended[:0], s.ended[1:]...)
	}
	s.ended = append(s.ended, key)
	s.seen = time.Now()
	t.mu.Unlock()
}

// finish ends a task. Shutdown waits for it.
func (t *sessions) finish() { t.tasks.Done() }

// cancelledFor returns the cause for the context of a cancelled request: ErrCancelled
// with the client's reason.
func cancelledFor(reason string) error {
	return fmt.Errorf("%w (%w)", ErrCancelled, &dispatch.Cancellation{CancelledBy: "the client", Reason: reason})
}

// cancel cancels the task with this key, or a task that starts with this key within
// earlyFor. A task that has ended is not affected.
func (t *sessions) cancel(s *session, key, reason string) {
	t.mu.Lock()
	k, ok := s.running[key]
	if !ok && !slices.Contains(s.ended, key) {
		s.cancelEarly(key, reason)
	}
	t.mu.Unlock()
	if ok {
		k.cancel(cancelledFor(reason))
	}
}

// cancelEarly records a cancellation that arrived before its request. The caller holds
// sessions.mu.
func (s *session) cancelEarly(key, reason string) {
	maps.DeleteFunc(s.early, func(_ string, e earlyCancel) bool { return time.Since(e.at) >= earlyFor })
	if len(s.early) >= earlyKept {
		return
	}
	if s.early == nil {
		s.early = map[string]earlyCancel{}
	}
	s.early[key] = earlyCancel{at: time.Now(), reason: reason}
}

// close ends a session and cancels its tasks. close reports false for an unknown
// session.
func (t *sessions) close(id string) bool {
	t.mu.Lock()
	s, ok := t.byID[id]
	if !ok {
		t.mu.Unlock()
		return false
	}
	delete(t.byID, id)
	close(s.done)
	tasks := tasksOf(s)
	t.mu.Unlock()
	for _, k := range tasks {
		k.cancel(ErrSessionEnded)
	}
	t.ended(s)
	return true
}

// revoke ends all sessions and tasks of a client.
func (t *sessions) revoke(c Credential) {
	t.mu.Lock()
	var ids []string
	var tasks []task
	for id, s := range t.byID {
		if s.credential == c {
			ids = append(ids, id)
			tasks = append(tasks, tasksOf(s)...)
		}
	}
	if s, ok := t.sessionless[c]; ok {
		delete(t.sessionless, c)
		close(s.done)
		tasks = append(tasks, tasksOf(s)...)
	}
	t.mu.Unlock()
	for _, k := range tasks {
		k.cancel(ErrRevoked)
	}
	for _, id := range ids {
		t.close(id)
	}
}

// tasksOf returns the tasks of a session. The caller holds mu.
func tasksOf(s *session) []task {
	tasks := make([]task, 0, len(s.running))
	for _, k := range s.running {
		tasks = append(tasks, k)
	}
	return tasks
}

// sweepAfter returns the time between two runs of expire.
func (t *sessions) sweepAfter() time.Duration { return min(t.idle, quietFor) / 4 }

// isOver reports whether an HTTP session was idle for too long. The caller holds mu.
func (t *sessions) isOver(s *session) bool {
	limit := t.idle
	if s.brokenOff {
		limit = min(limit, quietFor)
	}
	return len(s.running) == 0 && time.Since(s.seen) >= limit
}

// expire ends the HTTP sessions that were idle for too long.
func (t *sessions) expire() {
	t.mu.Lock()
	var old []string
	left := 0
	for id, s := range t.byID {
		switch {
		case s.info.Transport != OverHTTP:
		case t.isOver(s):
			old = append(old, id)
		default:
			left++
		}
	}
	if left > 0 && !t.closed {
		t.sweep.Reset(t.sweepAfter())
	} else {
		t.sweep = nil
	}
	t.mu.Unlock()
	for _, id := range old {
		t.close(id)
	}
}

// shutdown rejects new tasks, ends every stream, and waits for the calls. When ctx
// ends first, it cancels them and returns ctx's error.
func (t *sessions) shutdown(ctx context.Context) error {
	t.cancelAll(true)
	quiet := make(chan struct{})
	go func() {
		t.tasks.Wait()
		close(quiet)
	}()
	select {
	case <-quiet:
		return nil
	case <-ctx.Done():
		t.cancelAll(false)
		return ctx.Err()
	}
}

// cancelAll closes the table and cancels all streams, or all tasks.
func (t *sessions) cancelAll(streamsOnly bool) {
	t.mu.Lock()
	if !t.closed {
		t.closed = true
		close(t.closing)
	}
	if t.sweep != nil {
		t.sweep.Stop()
	}
	var tasks []task
	for _, s := range t.byID {
		tasks = append(tasks, tasksOf(s)...)
	}
	for _, s := range t.sessionless {
		tasks = append(tasks, tasksOf(s)...)
	}
	t.mu.Unlock()
	for _, k := range tasks {
		if k.stream || !streamsOnly {
			k.cancel(ErrShutdown)
		}
	}
}

// isConnected reports whether a session's client counts as connected. A stdio session
// ends with its client. The caller holds mu.
func (s *session) isConnected() bool {
	return s.info.Transport != OverHTTP || len(s.running) > 0 || !s.brokenOff && time.Since(s.seen) < quietFor
}

// list returns the sessions of connected clients, oldest first.
func (t *sessions) list() []ClientInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]ClientInfo, 0, len(t.byID))
	for _, s := range t.byID {
		if s.isConnected() {
			all = append(all, s.info)
		}
	}
	slices.SortFunc(all, func(a, b ClientInfo) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.ID, b.ID))
	})
	return all
}
