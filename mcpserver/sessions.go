package mcpserver

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

// Why something that runs for a client ends before it is done.
var (
	errCancelled    = errors.New("the client cancelled it")
	errClientGone   = errors.New("the client is gone or does not read")
	errSessionEnded = errors.New("the session has ended")
	errShutdown     = errors.New("the server is stopping")
	errRevoked      = errors.New("the token of the client was removed")
)

// errDuplicateID refuses a request whose id is that of one still running.
var errDuplicateID = errors.New("a request with this id is still running in this session")

// ClientInfo is one connected session.
type ClientInfo struct {
	// ID is the session's id. It works as a password: do not show it.
	ID string
	Credential
	// Name and Version are the client's own; empty until it has sent them.
	Name    string
	Version string
	// Transport is "http" or "stdio".
	Transport string
	// Since is when the session began.
	Since time.Time
}

// session is one client's session and what runs in it.
type session struct {
	id         string
	listener   *listener     // the session as mcp-go knows it; nil if sessionless
	credential Credential    // whose requests belong to it
	asks       asks          // what its client was asked
	done       chan struct{} // closed when the session has ended
	info       ClientInfo    // guarded by sessions.mu
	seen       time.Time     // when it last asked for something; guarded by sessions.mu
	cut        bool          // its client broke a response off and was not seen since; guarded by sessions.mu
	// running holds what can be cancelled, by the key of its id; guarded by
	// sessions.mu.
	running map[string]task
	// early holds the keys that were cancelled before they began, ended those of
	// the last that were released; guarded by sessions.mu.
	early map[string]earlyCancel
	ended []string
}

// quietFor is how long a client is taken to be there that asks for nothing and
// listens to nothing; also how long the session is kept of one that broke off.
const quietFor = 10 * time.Minute

// earlyCancel is a cancel that came before its request.
type earlyCancel struct {
	at     time.Time
	reason string
}

const (
	// earlyFor is how long a cancel waits for its request. Over HTTP the two
	// come on connections of their own, and the cancel may overtake.
	earlyFor = 5 * time.Second
	// earlyKept and endedKept are how many keys of each kind are kept.
	earlyKept = 64
	endedKept = 256
)

// public names the session in lists of calls: always the same, but no password.
func (s *session) public() string {
	sum := sha256.Sum256([]byte(s.id))
	return "session-" + hex.EncodeToString(sum[:6])
}

// task is something that runs for a client: a call or a stream.
type task struct {
	cancel context.CancelCauseFunc
	// stream is set for what never ends by itself.
	stream bool
}

// sessions is the table of all sessions, safe for concurrent use.
type sessions struct {
	// idle is how long an HTTP session may be silent before it ends.
	idle time.Duration
	// ended is called without mu for each session that has ended.
	ended func(*session)
	// watch takes the subscriptions of sessions to resources; nil if there are
	// none. It is set before the first session begins.
	watch *watch
	// closing is closed when Shutdown begins.
	closing chan struct{}
	// tasks counts everything that runs; nothing is added once closed is set.
	tasks sync.WaitGroup

	mu     sync.Mutex // guards all below and the fields of sessions named so
	byID   map[string]*session
	closed bool
	sweep  *time.Timer // runs while there are HTTP sessions

	// sessionless holds the calls of clients whose protocol has no sessions.
	sessionless map[Credential]*session
}

func newSessions(idle time.Duration, ended func(*session)) *sessions {
	return &sessions{
		idle:        idle,
		ended:       ended,
		closing:     make(chan struct{}),
		byID:        map[string]*session{},
		sessionless: map[Credential]*session{},
	}
}

// without returns the session that holds the calls of a caller whose protocol has
// no sessions.
func (t *sessions) without(c Credential) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.sessionless[c]
	if !ok {
		s = &session{credential: c, info: ClientInfo{Credential: c}, done: make(chan struct{}), running: map[string]task{}}
		t.sessionless[c] = s
	}
	return s
}

// open begins a session of a caller.
func (t *sessions) open(transport string, c Credential) *session {
	now, id := time.Now(), transport+"-"+strings.ToLower(rand.Text())
	s := &session{
		id:         id,
		listener:   newListener(id, t.watch),
		credential: c,
		info:       ClientInfo{ID: id, Credential: c, Transport: transport, Since: now},
		seen:       now,
		done:       make(chan struct{}),
		running:    map[string]task{},
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byID[id] = s
	if transport == transportHTTP && t.sweep == nil && !t.closed {
		t.sweep = time.AfterFunc(t.sweepAfter(), t.expire)
	}
	return s
}

// listeners returns those of all sessions.
func (t *sessions) listeners() []*listener {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]*listener, 0, len(t.byID))
	for _, s := range t.byID {
		list = append(list, s.listener)
	}
	return list
}

// find returns the session with this id, if it is the caller's, and notes that it
// is alive.
func (t *sessions) find(id string, c Credential) (*session, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.byID[id]
	if !ok || s.credential != c {
		return nil, false
	}
	s.seen, s.cut = time.Now(), false
	return s, true
}

// brokeOff notes that a client was gone before the end of a response. It may
// come back: a session is no connection.
func (t *sessions) brokeOff(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.cut = true
}

// describe notes how the client of a session calls itself.
func (t *sessions) describe(id string, c clientName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s, ok := t.byID[id]; ok && c.Name != "" {
		s.info.Name, s.info.Version = c.Name, c.Version
	}
}

// client returns what is known of a session's client.
func (t *sessions) client(s *session) ClientInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.info
}

// begin notes that something runs in a session, so that cancel(key), the end of
// the session and Shutdown reach it. It returns errDuplicateID, errSessionEnded
// or errShutdown if it may not run. Call release and then finish when it is
// done.
func (t *sessions) begin(s *session, key string, k task) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errShutdown
	}
	select {
	case <-s.done:
		return errSessionEnded
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

// release takes what began under key out of the table: it can't be cancelled any
// more and its id is free. Its answer may still be written; call finish after
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

// finish undoes begin. Shutdown waits for it.
func (t *sessions) finish() { t.tasks.Done() }

// cancelledFor is the cause that ends what a client cancels. It is errCancelled,
// and has the client's reason for the call.
func cancelledFor(reason string) error {
	return fmt.Errorf("%w (%w)", errCancelled, &dispatch.Cancellation{By: "the client", Reason: reason})
}

// cancel cancels what runs under key in a session, or what begins under it in
// the next moments. It does nothing for what has ended.
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

// cancelEarly notes a cancel that came before its request. The caller holds
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

// close ends a session and cancels all that runs in it. It reports false if the
// session is not known.
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
		k.cancel(errSessionEnded)
	}
	t.ended(s)
	return true
}

// revoke ends all sessions of a caller and all that runs for it.
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
		k.cancel(errRevoked)
	}
	for _, id := range ids {
		t.close(id)
	}
}

// tasksOf returns what runs in a session. The caller holds mu.
func tasksOf(s *session) []task {
	tasks := make([]task, 0, len(s.running))
	for _, k := range s.running {
		tasks = append(tasks, k)
	}
	return tasks
}

// sweepAfter is the time between two looks for sessions that are over.
func (t *sessions) sweepAfter() time.Duration { return min(t.idle, quietFor) / 4 }

// over reports whether an HTTP session was silent too long. The caller holds mu.
func (t *sessions) over(s *session) bool {
	limit := t.idle
	if s.cut {
		limit = min(limit, quietFor)
	}
	return len(s.running) == 0 && time.Since(s.seen) >= limit
}

// expire ends the HTTP sessions that were silent too long and in which nothing
// runs.
func (t *sessions) expire() {
	t.mu.Lock()
	var old []string
	left := 0
	for id, s := range t.byID {
		switch {
		case s.info.Transport != transportHTTP:
		case t.over(s):
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

// shutdown refuses what is new, ends every stream, and waits until the calls
// are done. When ctx ends first it cancels them and returns ctx's error.
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

// cancelAll closes the table and cancels all streams, or everything.
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
			k.cancel(errShutdown)
		}
	}
}

// there reports whether a session's client is there, as far as can be told. A
// stdio client's end is its session's. The caller holds mu.
func (s *session) there() bool {
	return s.info.Transport != transportHTTP || len(s.running) > 0 || !s.cut && time.Since(s.seen) < quietFor
}

// list returns the sessions whose clients are there, oldest first.
func (t *sessions) list() []ClientInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]ClientInfo, 0, len(t.byID))
	for _, s := range t.byID {
		if s.there() {
			all = append(all, s.info)
		}
	}
	slices.SortFunc(all, func(a, b ClientInfo) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.ID, b.ID))
	})
	return all
}
