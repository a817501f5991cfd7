package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/shape"
	"opentabs/internal/clients"
	"opentabs/wire"
)

type timeoutTable struct {
	mu              sync.Mutex // guards learnedTimeouts
	learnedTimeouts map[clients.ID]clients.Timeout
	// delay is how long RecordAbandonedCall takes, such as the time to write a file.
	delay time.Duration
}

var _ LearnedTimeouts = (*timeoutTable)(nil)

func newTimeoutTable() *timeoutTable {
	return &timeoutTable{learnedTimeouts: map[clients.ID]clients.Timeout{}}
}

func (m *timeoutTable) Find(id clients.ID) (clients.Timeout, time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.learnedTimeouts[id]
	return t, time.Time{}, ok
}

func (m *timeoutTable) RecordAbandonedCall(id clients.ID, g clients.AbandonedCall) {
	time.Sleep(m.delay)
	m.mu.Lock()
	defer m.mu.Unlock()
	if t, ok := g.InferTimeout(); ok {
		m.learnedTimeouts[id] = t
	}
}

// sdkTimeoutReason is the cancellation reason that the official TypeScript SDK sends at
// its timeout.
const sdkTimeoutReason = "McpError: MCP error -32001: Request timed out"

func cancelCallAfter(t *testing.T, c *client, id string, meta string, waitTime time.Duration, cancelReason string) {
	t.Helper()
	responses := c.postAsync(t.Context(), callText(id, `{}`, meta))
	time.Sleep(waitTime)
	c.requestAndRead(strings.Replace(newCancelMessage(id), `"requestId":`, fmt.Sprintf(`"reason":%q,"requestId":`, cancelReason), 1))
	synctest.Wait()
	select {
	case <-responses:
	default:
		t.Error("the cancelled call still runs; want its end")
	}
}

// callAndAwaitJobs returns a call's final result and its number of jobs, and fails if an answer exceeds the client's
// timeout.
func callAndAwaitJobs(t *testing.T, c *client, meta string, timeout clients.Timeout) (result toolResult, jobs int) {
	t.Helper()
	callMessage := callText(`1`, `{}`, meta)
	for range 50 {
		startTime := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		if timeout.Limit > 0 && !timeout.ProgressRestarts {
			time.AfterFunc(timeout.Limit, cancel)
		}
		messages := <-c.postAsync(ctx, callMessage)
		cancel()
		if elapsedTime := time.Since(startTime); len(messages) == 0 || timeout.Limit > 0 && !timeout.ProgressRestarts && elapsedTime >= timeout.Limit {
			t.Fatalf("the client gave up %s after its request %s; want an answer before %s", elapsedTime, callMessage, timeout.Limit)
		}
		result = messages[len(messages)-1].toolResultOf(t)
		var job shape.Job
		if json.Unmarshal(result.Structured, &job) != nil || job.JobID == "" || job.Status != wire.StatusRunning && job.Status != wire.StatusPending {
			return result, jobs
		}
		jobs++
		callMessage = newToolCallMessage("job_wait", `{"job":"`+job.JobID+`"}`, meta)
	}
	t.Fatal("the job did not end after 50 waits")
	return result, jobs
}

// A timeout that the server learned must not affect another version of the same client.
func TestTimeoutOfUnknownClientIsLearned(t *testing.T) {
	table := newTimeoutTable()
	o := Options{Detach: fixedDetachPolicy(DetachPolicy{DetachBeforeTimeout: true}), LearnedTimeouts: table}
	runWithJobOptions(t, dispatch.Options{}, o, newCountingTool(145, `"end"`), func(t *testing.T, s *jobServer) {
		c := s.connectAs("agent", "1.0")
		if tools := c.call(`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`); strings.Contains(tools.messageJSON, "job_wait") {
			t.Error("a client whose timeout is unknown lists tools for jobs; want none")
		}
		cancelCallAfter(t, c, `7`, progressTokenMeta, time.Minute, sdkTimeoutReason)
		<-s.stopReasons
		if got := table.learnedTimeouts[clients.ID{Name: "agent", Version: "1.0"}]; got != (clients.Timeout{Limit: time.Minute}) {
			t.Fatalf("learned timeout = %+v, want 1 min without restarts", got)
		}
		startTime := time.Now()
		r, jobs := callAndAwaitJobs(t, c, progressTokenMeta, clients.Timeout{Limit: time.Minute})
		if r.IsError || r.Content[0].Text != "end" || jobs != 2 || time.Since(startTime) != 145*time.Second {
			t.Errorf("after %s and %d jobs the client received %+v; want the result after 145 s and 2 jobs", time.Since(startTime), jobs, r)
		}
		if tools := c.call(`{"jsonrpc":"2.0","id":6,"method":"tools/list"}`); !strings.Contains(tools.messageJSON, "job_wait") {
			t.Error("a client whose timeout was learned does not list job_wait; want it in the list")
		}
		if r, jobs := callAndAwaitJobs(t, s.connectAs("agent", "2.0"), progressTokenMeta, clients.Timeout{}); r.Content[0].Text != "end" || jobs != 0 {
			t.Errorf("another version of the client received %+v after %d jobs; want the result without a job", r, jobs)
		}
	})
}

// TestImmediateRetryLosesOnlyFirstCall checks that an unknown client that repeats a call right after its
// timeout loses only the first call, even if storing the timeout takes some time.
func TestImmediateRetryLosesOnlyFirstCall(t *testing.T) {
	table := newTimeoutTable()
	table.delay = 300 * time.Millisecond
	o := Options{Detach: fixedDetachPolicy(DetachPolicy{DetachBeforeTimeout: true}), LearnedTimeouts: table}
	runWithJobOptions(t, dispatch.Options{}, o, newCountingTool(145, `"end"`), func(t *testing.T, s *jobServer) {
		c := s.connectAs("agent", "1.0")
		responses := c.postAsync(t.Context(), callText(`7`, `{}`, progressTokenMeta))
		time.Sleep(time.Minute)
		c.requestAndRead(strings.Replace(newCancelMessage(`7`), `"requestId":`, fmt.Sprintf(`"reason":%q,"requestId":`, sdkTimeoutReason), 1))
		r, jobs := callAndAwaitJobs(t, c, progressTokenMeta, clients.Timeout{Limit: time.Minute})
		if r.IsError || r.Content[0].Text != "end" || jobs == 0 {
			t.Errorf("after %d jobs the client received %+v; want the result by jobs", jobs, r)
		}
		<-responses
		<-s.stopReasons
	})
}

// A cancellation by the client's user must not count as a timeout.
func TestLearnTimeoutFromDisconnect(t *testing.T) {
	table := newTimeoutTable()
	o := Options{Detach: fixedDetachPolicy(DetachPolicy{DetachBeforeTimeout: true}), LearnedTimeouts: table}
	runWithJobOptions(t, dispatch.Options{}, o, newCountingTool(200, `"end"`), func(t *testing.T, s *jobServer) {
		for i, testCase := range []struct {
			waitTime time.Duration
			reason   string // "" means that the client closes the response
			want     time.Duration
		}{
			{60 * time.Second, "", time.Minute}, {47 * time.Second, "", 0}, {120*time.Second + 30*time.Millisecond, "", 2 * time.Minute},
			{60 * time.Second, "the user pressed stop", 0}, {77 * time.Second, "request timeout", 77 * time.Second},
			{90 * time.Second, "context deadline exceeded", 90 * time.Second}, {30 * time.Second, "AbortError: This operation was aborted", 30 * time.Second},
			{31 * time.Second, "AbortError: This operation was aborted", 0},
		} {
			id := clients.ID{Name: "agent", Version: fmt.Sprint(i)}
			c := s.connectAs(id.Name, id.Version)
			if testCase.reason != "" {
				cancelCallAfter(t, c, `7`, `{}`, testCase.waitTime, testCase.reason)
			} else {
				ctx, disconnect := context.WithCancel(t.Context())
				c.postAsync(ctx, callText(`7`, `{}`, `{}`))
				time.Sleep(testCase.waitTime)
				disconnect()
			}
			<-s.stopReasons
			synctest.Wait()
			if got := table.learnedTimeouts[id].Limit; got != testCase.want {
				t.Errorf("learned timeout of a client that gave up after %s with the reason %q = %s, want %s", testCase.waitTime, testCase.reason, got, testCase.want)
			}
		}
	})
}

// TestLearnTimeoutFromClientExit checks that a stdio client that exits after a round time, such
// as 60 s, reveals its timeout.
func TestLearnTimeoutFromClientExit(t *testing.T) {
	table := newTimeoutTable()
	packages := newServer(t, callerReturning(`1`), Options{}) // newServer reads files, which must happen outside of fake time
	synctest.Test(t, func(t *testing.T) {
		h := newHangingCaller()
		s := New(h, packages.reg, Options{LearnedTimeouts: table})
		clientConn, serverConn := net.Pipe()
		serveDone := make(chan error)
		go func() { serveDone <- s.ServeStdio(t.Context(), serverConn, serverConn) }()
		go func() { _, _ = io.Copy(io.Discard, clientConn) }()
		for _, line := range []string{initializeText("agent"), callText(`1`, `{}`, `{}`)} {
			if _, err := io.WriteString(clientConn, line+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		<-h.startedCalls
		time.Sleep(3 * time.Minute)
		clientConn.Close()
		<-h.callErrors
		if err := <-serveDone; err != nil {
			t.Logf("the session ended with %v", err)
		}
		if got := table.learnedTimeouts[clients.ID{Name: "agent", Version: "1.2"}]; got.Limit != 3*time.Minute {
			t.Errorf("learned timeout = %+v, want 3 min", got)
		}
		_ = s.Shutdown(t.Context())
	})
}

// With the learned timeout, a call of 4 min with progress must return its result and must not become a job.
func TestProgressThatRestartsTheTimeoutIsLearned(t *testing.T) {
	table := newTimeoutTable()
	var calls int
	echoTool := func(sink dispatch.Sink) {
		if calls++; calls == 1 {
			report := 1.0
			time.Sleep(50 * time.Second)
			sink.Reports([]wire.Report{{Progress: &report}}, 0)
			time.Sleep(time.Hour)
			return
		}
		newCountingTool(240, `"end"`)(sink)
	}
	o := Options{Detach: fixedDetachPolicy(DetachPolicy{DetachBeforeTimeout: true}), LearnedTimeouts: table}
	runWithJobOptions(t, dispatch.Options{IdleLimit: 2 * time.Minute, MaxIdleLimit: 2 * time.Minute}, o, echoTool, func(t *testing.T, s *jobServer) {
		c := s.connectAs("agent", "1")
		cancelCallAfter(t, c, `7`, progressTokenMeta, 110*time.Second, sdkTimeoutReason)
		want := clients.Timeout{Limit: time.Minute, ProgressRestarts: true}
		if got := table.learnedTimeouts[clients.ID{Name: "agent", Version: "1"}]; got != want {
			t.Fatalf("learned timeout = %+v, want %+v", got, want)
		}
		if r, jobs := callAndAwaitJobs(t, c, progressTokenMeta, want); r.Content[0].Text != "end" || jobs != 0 {
			t.Errorf("the call of 4 min returned %+v after %d jobs, want the tool's result without a job", r, jobs)
		}
	})
}

// Each client must receive the server's answer to each request before the client's timeout ends.
func TestKnownClientsReceiveAnswerInTime(t *testing.T) {
	silentTool := func(sink dispatch.Sink) {
		time.Sleep(150 * time.Second)
		sink.Finish(json.RawMessage(`"end"`), nil)
	}
	for _, p := range clients.Table() {
		if p.Client == "" || p.Timeout == 0 {
			continue
		}
		name, version := strings.ReplaceAll(p.Names[0], "*", "x"), p.FromVersion
		if version == "" {
			version = "0.0.1"
		}
		for _, kind := range []string{"progress", "silent", "approval"} {
			t.Run(name+" "+version+" "+kind, func(t *testing.T) {
				o, echoTool := dispatch.Options{IdleLimit: 4 * time.Minute}, newCountingTool(150, `"end"`)
				switch kind {
				case "silent":
					echoTool = silentTool
				case "approval":
					o.Gates, echoTool = []dispatch.Gate{alwaysAskGate{}}, newCountingTool(5, `"end"`)
				}
				runWithJobs(t, o, fixedDetachPolicy(DetachPolicy{DetachBeforeTimeout: true}), echoTool, func(t *testing.T, s *jobServer) {
					if kind == "approval" {
						time.AfterFunc(90*time.Second, func() {
							waitingCallIndex := slices.IndexFunc(s.d.Calls(), func(v dispatch.View) bool { return v.Waiting != nil })
							if _, err := s.d.Decide(s.d.Calls()[waitingCallIndex].CallID, "", dispatch.Resolution{Allow: true, Surface: "the test"}); err != nil {
								t.Error(err)
							}
						})
					}
					timeout := p.TransportTimeout(true)
					r, jobs := callAndAwaitJobs(t, s.connectAs(name, version), progressTokenMeta, timeout)
					expectsJobs := timeout.Limit < 150*time.Second && !(timeout.ProgressRestarts && kind != "silent")
					if r.IsError || r.Content[0].Text != "end" || (jobs > 0) != expectsJobs {
						t.Errorf("the client received %+v after %d jobs; want the result, with jobs: %t", r, jobs, expectsJobs)
					}
				})
			})
		}
	}
}
