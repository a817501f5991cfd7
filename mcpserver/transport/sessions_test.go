package transport

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func newTestSessions() *sessions { return newSessions(time.Hour, nil, func(*session) {}) }

func startTask(t *testing.T, table *sessions, s *session, key string, stream bool) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	t.Cleanup(func() { cancel(nil) })
	if err := table.beginTask(s, key, task{cancel: cancel, isStream: stream}); err != nil {
		t.Fatal(err)
	}
	return ctx
}

func TestBeginTaskRejectsInvalidTasks(t *testing.T) {
	table := newTestSessions()
	s, endedSession := table.open(TransportStdio, Credential{}), table.open(TransportStdio, Credential{})
	startTask(t, table, s, "n1", false)
	if err := table.beginTask(s, "n1", task{}); !errors.Is(err, errDuplicateID) {
		t.Error(err)
	}
	if !table.closeSession(endedSession.id) || table.closeSession(endedSession.id) {
		t.Error("closeSession closed the session twice or not at all; want exactly once")
	}
	if err := table.beginTask(endedSession, "n1", task{}); !errors.Is(err, ErrSessionEnded) {
		t.Error(err)
	}
	table.cancelAll(true)
	if err := table.beginTask(s, "n2", task{}); !errors.Is(err, ErrShutdown) {
		t.Error(err)
	}
	table.releaseTask(s, "n1")
	table.finishTask()
}

// A request that arrives when its session expires either runs to its end or is rejected.
func TestExpiryNeverCancelsTasks(t *testing.T) {
	for range 2000 {
		table := newTestSessions()
		s := table.open(TransportHTTP, Credential{})
		s.lastRequest = s.lastRequest.Add(-2 * time.Hour)
		ctx, cancel := context.WithCancelCause(t.Context())
		var expiry sync.WaitGroup
		expiry.Go(table.closeExpired)
		err := table.beginTask(s, "n1", task{cancel: cancel})
		expiry.Wait()
		if err == nil && ctx.Err() != nil {
			t.Fatalf("a running task was cancelled with the cause %v, want no cancellation by the expiry of its session", context.Cause(ctx))
		}
		cancel(nil)
		table.cancelAll(false)
	}
}

func TestTaskCancelCauses(t *testing.T) {
	table := newTestSessions()
	a, b := table.open(TransportHTTP, Credential{}), table.open(TransportHTTP, Credential{})
	cancelledTask := startTask(t, table, a, "n1", false)
	closedSessionTask := startTask(t, table, a, "n2", false)
	listeningTask := startTask(t, table, b, "-1", true)
	runningTask := startTask(t, table, b, "n1", false)
	sessionlessTask := startTask(t, table, table.findSessionless(Credential{}), "-2", false)

	table.cancelTask(a, "n1", "enough")
	table.cancelTask(a, "n1", "enough")
	table.cancelTask(a, "n9", "")
	table.closeSession(a.id)
	table.cancelAll(true)
	for _, testCase := range []struct {
		ctx  context.Context
		want error
	}{{cancelledTask, ErrCancelled}, {closedSessionTask, ErrSessionEnded}, {listeningTask, ErrShutdown}, {runningTask, nil}, {sessionlessTask, nil}} {
		if cause := context.Cause(testCase.ctx); !errors.Is(cause, testCase.want) {
			t.Errorf("cause of the context's end = %v, want %v", cause, testCase.want)
		}
	}
	table.cancelAll(false)
	if !errors.Is(context.Cause(runningTask), ErrShutdown) || !errors.Is(context.Cause(sessionlessTask), ErrShutdown) {
		t.Error("Shutdown did not cancel every call; want the cause ErrShutdown for each")
	}
}

func TestConcurrentTasks(t *testing.T) {
	table := newTestSessions()
	s := table.open(TransportHTTP, Credential{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 500 {
				_, cancel := context.WithCancelCause(context.Background())
				key := string(rune('a' + i))
				if table.beginTask(s, key, task{cancel: cancel}) == nil {
					table.cancelTask(s, key, "")
					table.releaseTask(s, key)
					table.finishTask()
				}
				table.clientInfos()
				cancel(nil)
			}
		})
	}
	wg.Wait()
	if err := table.shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}
