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

// These errors are the reasons why the context of a client's request ends before the
// request is answered.
var (
	ErrCancelled          = errors.New("the client cancelled it")
	errClientDisconnected = errors.New("the client is gone or does not read")
	ErrSessionEnded       = errors.New("the session has ended")
	ErrShutdown           = errors.New("the server is stopping")
	ErrRevoked            = errors.New("the token of the client was removed")
)

var errDuplicateID = errors.New("a request with this id is still running in this session")

// These constants are the values of ClientInfo.Transport, which states how a session is
// connected.
const (
	TransportHTTP  = "http"
	TransportStdio = "stdio"
)

// ClientInfo describes one connected session and its client.
type ClientInfo struct {
	// ID is the session's ID, which works as a password and must not be shown.
	ID string
	Credential
	// Name and Version are the name and version that the client reports in its initialize request;
	// empty before this request.
	Name    string
	Version string
	// Transport is "http" or "stdio".
	Transport string
	// ConnectedSince is when the session began.
	ConnectedSince time.Time
}

// The type session is one client's session and its tasks.
type session struct {
	id                 string
	displayName        string    // displayName is the session's name in lists of calls; unlike id, displayName is not secret
	listener           *listener // the field listener is the session as mcp-go sees it; nil for clients without sessions
	credential         Credential
	requests           clientRequests
	done               chan struct{}
	clientInfo         ClientInfo // guarded by sessions.mu
	lastRequest        time.Time  // the time of the last request; guarded by sessions.mu
	hasAbortedResponse bool       // set if the client closed a response early and has sent no request since; guarded by sessions.mu
	// runningTasks maps keys to the running tasks of the session; guarded by sessions.mu.
	runningTasks map[string]task
	// earlyCancels contains cancellations whose requests have not arrived; endedKeys is a ring buffer of ended tasks'
	// keys. The mutex sessions.mu guards earlyCancels, endedKeys and oldestEndedIndex.
	earlyCancels     map[string]earlyCancel
	endedKeys        []string
	oldestEndedIndex int
}

// inactiveClientLimit is how long a client still counts as connected after its last request or stream has ended.
const inactiveClientLimit = 10 * time.Minute

// earlyCancel records a cancellation that arrived before the request that it cancels.
type earlyCancel struct {
	arrivedAt time.Time
	reason    string
}

const (
	// Over HTTP, a cancellation may arrive before its call on another connection, and is kept for earlyCancelLifetime.
	earlyCancelLifetime = 5 * time.Second
	// maxEarlyCancels and maxEndedTaskKeys limit the stored cancellations and the stored keys
	// of ended tasks of one session.
	maxEarlyCancels  = 64
	maxEndedTaskKeys = 256
)

func displayNameOf(id string) string {
	checksum := sha256.Sum256([]byte(id))
	return "session-" + hex.EncodeToString(checksum[:6])
}

// The type task is a running call or an open stream of a client.
type task struct {
	cancel context.CancelCauseFunc
	// A stream that belongs to no call ends only when it is cancelled.
	isStream bool
}

// The type sessions is the table of all sessions. The methods of sessions are safe for
// concurrent use.
type sessions struct {
	idleTimeout time.Duration
	// onSessionEnd is called for each session that has ended, while sessions.mu is not locked.
	onSessionEnd    func(*session)
	resources       Resources // the field resources is nil if the server has no resources
	shutdownStarted chan struct{}
	// runningTaskGroup counts the tasks that have not finished. Once isClosed is set, no more tasks are
	// added.
	runningTaskGroup sync.WaitGroup

	mu           sync.Mutex // mu guards all fields below, and the fields of session whose comments name sessions.mu
	sessionsByID map[string]*session
	isClosed     bool
	sweepTimer   *time.Timer // sweepTimer runs while there are HTTP sessions

	// The field sessionlessByCredential contains the tasks of clients whose protocol version has no
	// sessions.
	sessionlessByCredential map[Credential]*session
}

func newSessions(idleTimeout time.Duration, resources Resources, onSessionEnd func(*session)) *sessions {
	return &sessions{
		idleTimeout:             idleTimeout,
		resources:               resources,
		onSessionEnd:            onSessionEnd,
		shutdownStarted:         make(chan struct{}),
		sessionsByID:            map[string]*session{},
		sessionlessByCredential: map[Credential]*session{},
	}
}

// findSessionless returns the session for the tasks of a client whose protocol version
// has no sessions.
func (t *sessions) findSessionless(c Credential) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.sessionlessByCredential[c]
	if !ok {
		s = &session{credential: c, clientInfo: ClientInfo{Credential: c}, done: make(chan struct{}), runningTasks: map[string]task{}}
		t.sessionlessByCredential[c] = s
	}
	return s
}

func (t *sessions) open(transport string, c Credential) *session {
	now, id := time.Now(), transport+"-"+strings.ToLower(rand.Text())
	s := &session{
		id:           id,
		displayName:  displayNameOf(id),
		listener:     newListener(id, t.resources),
		credential:   c,
		clientInfo:   ClientInfo{ID: id, Credential: c, Transport: transport, ConnectedSince: now},
		lastRequest:  now,
		done:         make(chan struct{}),
		runningTasks: map[string]task{},
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sessionsByID[id] = s
	if transport == TransportHTTP && t.sweepTimer == nil && !t.isClosed {
		t.sweepTimer = time.AfterFunc(t.sweepInterval(), t.closeExpired)
	}
	return s
}

func (t *sessions) allListeners() []*listener {
	t.mu.Lock()
	defer t.mu.Unlock()
	listeners := make([]*listener, 0, len(t.sessionsByID))
	for _, s := range t.sessionsByID {
		listeners = append(listeners, s.listener)
	}
	return listeners
}

func (t *sessions) find(id string, c Credential) (*session, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.sessionsByID[id]
	if !ok || s.credential != c {
		return nil, false
	}
	s.lastRequest, s.hasAbortedResponse = time.Now(), false
	return s, true
}

// A client can send further requests after an early close, because a session does not depend on a connection.
func (t *sessions) recordAbortedResponse(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.hasAbortedResponse = true
}

func (t *sessions) setClientName(id string, c reportedClient) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s, ok := t.sessionsByID[id]; ok && c.Name != "" {
		s.clientInfo.Name, s.clientInfo.Version = c.Name, c.Version
	}
}

func (t *sessions) clientInfo(s *session) ClientInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.clientInfo
}

// When a task of beginTask has ended, the caller must call releaseTask and then finishTask.
func (t *sessions) beginTask(s *session, key string, k task) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isClosed {
		return ErrShutdown
	}
	select {
	case <-s.done:
		return ErrSessionEnded
	default:
	}
	if _, ok := s.runningTasks[key]; ok {
		return errDuplicateID
	}
	if earlyCancel, ok := s.earlyCancels[key]; ok {
		delete(s.earlyCancels, key)
		if time.Since(earlyCancel.arrivedAt) < earlyCancelLifetime {
			k.cancel(newCancelCause(earlyCancel.reason))
		}
	}
	s.runningTasks[key] = k
	t.runningTaskGroup.Add(1)
	return nil
}

// A released task can no longer be cancelled, and another request may use its ID again.
func (t *sessions) releaseTask(s *session, key string) {
	t.mu.Lock()
	delete(s.runningTasks, key)
	if len(s.endedKeys) < maxEndedTaskKeys {
		s.endedKeys = append(s.endedKeys, key)
	} else {
		s.endedKeys[s.oldestEndedIndex] = key
		s.oldestEndedIndex = (s.oldestEndedIndex + 1) % maxEndedTaskKeys
	}
	s.lastRequest = time.Now()
	t.mu.Unlock()
}

func (t *sessions) finishTask() { t.runningTaskGroup.Done() }

func newCancelCause(cancelReason string) error {
	return fmt.Errorf("%w (%w)", ErrCancelled, &dispatch.Cancellation{CancelledBy: "the client", Reason: cancelReason})
}

// cancelTask cancels the task with the given key, even if the task starts up to earlyCancelLifetime later.
func (t *sessions) cancelTask(s *session, key, cancelReason string) {
	t.mu.Lock()
	k, ok := s.runningTasks[key]
	if !ok && !slices.Contains(s.endedKeys, key) {
		s.storeEarlyCancel(key, cancelReason)
	}
	t.mu.Unlock()
	if ok {
		k.cancel(newCancelCause(cancelReason))
	}
}

// The caller of storeEarlyCancel holds sessions.mu.
func (s *session) storeEarlyCancel(key, cancelReason string) {
	maps.DeleteFunc(s.earlyCancels, func(_ string, e earlyCancel) bool { return time.Since(e.arrivedAt) >= earlyCancelLifetime })
	if len(s.earlyCancels) >= maxEarlyCancels {
		return
	}
	if s.earlyCancels == nil {
		s.earlyCancels = map[string]earlyCancel{}
	}
	s.earlyCancels[key] = earlyCancel{arrivedAt: time.Now(), reason: cancelReason}
}

func (t *sessions) closeSession(id string) bool {
	t.mu.Lock()
	s, ok := t.sessionsByID[id]
	if !ok {
		t.mu.Unlock()
		return false
	}
	delete(t.sessionsByID, id)
	close(s.done)
	tasks := runningTasksOf(s)
	t.mu.Unlock()
	for _, k := range tasks {
		k.cancel(ErrSessionEnded)
	}
	t.onSessionEnd(s)
	return true
}

func (t *sessions) revokeCredential(c Credential) {
	t.mu.Lock()
	var ids []string
	var tasks []task
	for id, s := range t.sessionsByID {
		if s.credential == c {
			ids = append(ids, id)
			tasks = append(tasks, runningTasksOf(s)...)
		}
	}
	if s, ok := t.sessionlessByCredential[c]; ok {
		delete(t.sessionlessByCredential, c)
		close(s.done)
		tasks = append(tasks, runningTasksOf(s)...)
	}
	t.mu.Unlock()
	for _, k := range tasks {
		k.cancel(ErrRevoked)
	}
	for _, id := range ids {
		t.closeSession(id)
	}
}

// The caller of runningTasksOf holds sessions.mu.
func runningTasksOf(s *session) []task {
	tasks := make([]task, 0, len(s.runningTasks))
	for _, k := range s.runningTasks {
		tasks = append(tasks, k)
	}
	return tasks
}

func (t *sessions) sweepInterval() time.Duration { return min(t.idleTimeout, inactiveClientLimit) / 4 }

// The caller of isExpired holds sessions.mu.
func (t *sessions) isExpired(s *session) bool {
	limit := t.idleTimeout
	if s.hasAbortedResponse {
		limit = min(limit, inactiveClientLimit)
	}
	return len(s.runningTasks) == 0 && time.Since(s.lastRequest) >= limit
}

func (t *sessions) closeExpired() {
	t.mu.Lock()
	var expiredSessions []*session
	remainingSessions := 0
	for id, s := range t.sessionsByID {
		switch {
		case s.clientInfo.Transport != TransportHTTP:
		case t.isExpired(s):
			delete(t.sessionsByID, id)
			close(s.done)
			expiredSessions = append(expiredSessions, s)
		default:
			remainingSessions++
		}
	}
	if remainingSessions > 0 && !t.isClosed {
		t.sweepTimer.Reset(t.sweepInterval())
	} else {
		t.sweepTimer = nil
	}
	t.mu.Unlock()
	for _, s := range expiredSessions {
		t.onSessionEnd(s)
	}
}

// The method shutdown rejects new tasks, ends every stream, and waits for running calls.
// If ctx ends first, shutdown cancels the calls and returns ctx's error.
func (t *sessions) shutdown(ctx context.Context) error {
	t.cancelAll(true)
	allTasksDone := make(chan struct{})
	go func() {
		t.runningTaskGroup.Wait()
		close(allTasksDone)
	}()
	select {
	case <-allTasksDone:
		return nil
	case <-ctx.Done():
		t.cancelAll(false)
		return ctx.Err()
	}
}

// If streamsOnly is true, only streams without a call are cancelled.
func (t *sessions) cancelAll(streamsOnly bool) {
	t.mu.Lock()
	if !t.isClosed {
		t.isClosed = true
		close(t.shutdownStarted)
	}
	if t.sweepTimer != nil {
		t.sweepTimer.Stop()
	}
	var tasks []task
	for _, s := range t.sessionsByID {
		tasks = append(tasks, runningTasksOf(s)...)
	}
	for _, s := range t.sessionlessByCredential {
		tasks = append(tasks, runningTasksOf(s)...)
	}
	t.mu.Unlock()
	for _, k := range tasks {
		if k.isStream || !streamsOnly {
			k.cancel(ErrShutdown)
		}
	}
}

// A client over stdio is always connected, because its session ends with the client. The caller of isConnected
// holds sessions.mu.
func (s *session) isConnected() bool {
	return s.clientInfo.Transport != TransportHTTP || len(s.runningTasks) > 0 || !s.hasAbortedResponse && time.Since(s.lastRequest) < inactiveClientLimit
}

func (t *sessions) clientInfos() []ClientInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	infos := make([]ClientInfo, 0, len(t.sessionsByID))
	for _, s := range t.sessionsByID {
		if s.isConnected() {
			infos = append(infos, s.clientInfo)
		}
	}
	slices.SortFunc(infos, func(a, b ClientInfo) int {
		return cmp.Or(a.ConnectedSince.Compare(b.ConnectedSince), strings.Compare(a.ID, b.ID))
	})
	return infos
}
