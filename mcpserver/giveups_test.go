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
	mu      sync.Mutex // the mutex guards the field learned
	learned map[clients.ID]clients.Timeout
	// The field delay is how long Learn takes, such as the time to write a file.
	delay time.Duration
}

var _ LearnedTimeouts = (*timeoutTable)(nil)

func newTimeoutTable() *timeoutTable { return &timeoutTable{learned: map[clients.ID]clients.Timeout{}} }

func (m *timeoutTable) Find(id clients.ID) (clients.Timeout, time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.learned[id]
	return t, time.Time{}, ok
}

func (m *timeoutTable) Learn(id clients.ID, g clients.GiveUp) {
	time.Sleep(m.delay)
	m.mu.Lock()
	defer m.mu.Unlock()
	if t, ok := g.InferTimeout(); ok {
		m.learned[id] = t
	}
}

// sdkTimeoutReason is the cancellation reason that the official TypeScript SDK sends at
// its timeout.
const sdkTimeoutReason = "McpError: MCP error -32001: Request timed out"

func cancelCallAfter(t *testing.T, c *client, id string, meta string, wait time.Duration, reason string) {
	t.Helper()
	answer := c.postLater(t.Context(), callText(id, `{}`, meta))
	time.Sleep(wait)
	c.requestAndRead(strings.Replace(cancelText(id), `"requestId":`, fmt.Sprintf(`"reason":%q,"requestId":`, reason), 1))
	synctest.Wait()
	select {
	case <-answer:
	default:
		t.Error("the cancelled call still runs")
	}
}

// callUntilResult returns a call's final result and its number of jobs, and fails if an answer exceeds the client's
// timeout.
func callUntilResult(t *testing.T, c *client, meta string, timeout clients.Timeout) (result toolResult, jobs int) {
	t.Helper()
	text := callText(`1`, `{}`, meta)
	for range 50 {
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		if timeout.Limit > 0 && !timeout.ProgressRestarts {
			time.AfterFunc(timeout.Limit, cancel)
		}
		messages := <-c.postLater(ctx, text)
		cancel()
		if elapsed := time.Since(start); len(messages) == 0 || timeout.Limit > 0 && !timeout.ProgressRestarts && elapsed >= timeout.Limit {
			t.Fatalf("the client gave up %s after its request %s; want an answer before %s", elapsed, text, timeout.Limit)
		}
		result = messages[len(messages)-1].toolResultOf(t)
		var job shape.Job
		if json.Unmarshal(result.Structured, &job) != nil || job.JobID == "" || job.Status != wire.StatusRunning && job.Status != wire.StatusPending {
			return result, jobs
		}
		jobs++
		text = toolText("job_wait", `{"job":"`+job.JobID+`"}`, meta)
	}
	t.Fatal("the job did not end after 50 waits")
	return result, jobs
}

// A timeout that the server learned must not affect another version of the same client.
func TestTimeoutOfUnknownClientIsLearned(t *testing.T) {
	table := newTimeoutTable()
	o := Options{Detach: alwaysDetach(Detach{BeforeTimeout: true}), LearnedTimeouts: table}
	withJobOptions(t, dispatch.Options{}, o, newSecondCounter(145, `"end"`), func(t *testing.T, s *jobServer) {
		c := s.connectAs("agent", "1.0")
		if tools := c.answer(`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`); strings.Contains(tools.text, "job_wait") {
			t.Error("a client whose timeout is unknown lists tools for jobs")
		}
		cancelCallAfter(t, c, `7`, progressTokenMeta, time.Minute, sdkTimeoutReason)
		<-s.stopReasons
		if got := table.learned[clients.ID{Name: "agent", Version: "1.0"}]; got != (clients.Timeout{Limit: time.Minute}) {
			t.Fatalf("learned timeout = %+v, want 1 min without restarts", got)
		}
		start := time.Now()
		r, jobs := callUntilResult(t, c, progressTokenMeta, clients.Timeout{Limit: time.Minute})
		if r.IsError || r.Content[0].Text != "end" || jobs != 2 || time.Since(start) != 145*time.Second {
			t.Errorf("after %s and %d jobs the client received %+v; want the result after 145 s and 2 jobs", time.Since(start), jobs, r)
		}
		if tools := c.answer(`{"jsonrpc":"2.0","id":6,"method":"tools/list"}`); !strings.Contains(tools.text, "job_wait") {
			t.Error("a client whose timeout was learned does not list job_wait")
		}
		if r, jobs := callUntilResult(t, s.connectAs("agent", "2.0"), progressTokenMeta, clients.Timeout{}); r.Content[0].Text != "end" || jobs != 0 {
			t.Errorf("another version of the client received %+v after %d jobs; want the result without a job", r, jobs)
		}
	})
}

// TestRetryRightAfterTimeout checks that an unknown client that repeats a call right after its
// timeout loses only the first call, even if storing the timeout takes some time.
func TestRetryRightAfterTimeout(t *testing.T) {
	table := newTimeoutTable()
	table.delay = 300 * time.Millisecond
	o := Options{Detach: alwaysDetach(Detach{BeforeTimeout: true}), LearnedTimeouts: table}
	withJobOptions(t, dispatch.Options{}, o, newSecondCounter(145, `"end"`), func(t *testing.T, s *jobServer) {
		c := s.connectAs("agent", "1.0")
		answer := c.postLater(t.Context(), callText(`7`, `{}`, progressTokenMeta))
		time.Sleep(time.Minute)
		c.requestAndRead(strings.Replace(cancelText(`7`), `"requestId":`, fmt.Sprintf(`"reason":%q,"requestId":`, sdkTimeoutReason), 1))
		r, jobs := callUntilResult(t, c, progressTokenMeta, clients.Timeout{Limit: time.Minute})
		if r.IsError || r.Content[0].Text != "end" || jobs == 0 {
			t.Errorf("after %d jobs the client received %+v; want the result by jobs", jobs, r)
		}
		<-answer
		<-s.stopReasons
	})
}

// A cancellation by the client's user must not count as a timeout.
func TestLearnFromDisconnect(t *testing.T) {
	table := newTimeoutTable()
	o := Options{Detach: alwaysDetach(Detach{BeforeTimeout: true}), LearnedTimeouts: table}
	withJobOptions(t, dispatch.Options{}, o, newSecondCounter(200, `"end"`), func(t *testing.T, s *jobServer) {
		for i, test := range []struct {
			wait   time.Duration
			reason string // "" means that the client closes the response
			want   time.Duration
		}{
			{60 * time.Second, "", time.Minute}, {47 * time.Second, "", 0}, {120*time.Second + 30*time.Millisecond, "", 2 * time.Minute},
			{60 * time.Second, "the user pressed stop", 0}, {77 * time.Second, "request timeout", 77 * time.Second},
			{90 * time.Second, "context deadline exceeded", 90 * time.Second}, {30 * time.Second, "AbortError: This operation was aborted", 30 * time.Second},
			{31 * time.Second, "AbortError: This operation was aborted", 0},
		} {
			id := clients.ID{Name: "agent", Version: fmt.Sprint(i)}
			c := s.connectAs(id.Name, id.Version)
			if test.reason != "" {
				cancelCallAfter(t, c, `7`, `{}`, test.wait, test.reason)
			} else {
				ctx, disconnect := context.WithCancel(t.Context())
				c.postLater(ctx, callText(`7`, `{}`, `{}`))
				time.Sleep(test.wait)
				disconnect()
			}
			<-s.stopReasons
			synctest.Wait()
			if got := table.learned[id].Limit; got != test.want {
				t.Errorf("learned timeout of a client that gave up after %s with the reason %q = %s, want %s", test.wait, test.reason, got, test.want)
			}
		}
	})
}

// TestLearnFromEndOfInput checks that a stdio client that exits after a round time, such
// as 60 s, reveals its timeout.
func TestLearnFromEndOfInput(t *testing.T) {
	table := newTimeoutTable()
	packages := newServer(t, returnOutput(`1`), Options{}) // newServer reads files, which must happen outside of fake time
	synctest.Test(t, func(t *testing.T) {
		h := newHangingCaller()
		s := New(h, packages.reg, Options{LearnedTimeouts: table})
		clientConn, serverConn := net.Pipe()
		served := make(chan error)
		go func() { served <- s.ServeStdio(t.Context(), serverConn, serverConn) }()
		go func() { _, _ = io.Copy(io.Discard, clientConn) }()
		for _, line := range []string{initializeText("agent"), callText(`1`, `{}`, `{}`)} {
			if _, err := io.WriteString(clientConn, line+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		<-h.started
		time.Sleep(3 * time.Minute)
		clientConn.Close()
		<-h.ended
		if err := <-served; err != nil {
			t.Logf("the session ended with %v", err)
		}
		if got := table.learned[clients.ID{Name: "agent", Version: "1.2"}]; got.Limit != 3*time.Minute {
			t.Errorf("learned timeout = %+v, want 3 min", got)
		}
		_ = s.Shutdown(t.Context())
	})
}

// With the learned timeout, a call of 4 min with progress must return its result and must not become a job.
func TestProgressThatRestartsTheTimeoutIsLearned(t *testing.T) {
	table := newTimeoutTable()
	var calls int
	tool := func(sink dispatch.Sink) {
		if calls++; calls == 1 {
			report := 1.0
			time.Sleep(50 * time.Second)
			sink.Reports([]wire.Report{{Progress: &report}}, 0)
			time.Sleep(time.Hour)
			return
		}
		newSecondCounter(240, `"end"`)(sink)
	}
	o := Options{Detach: alwaysDetach(Detach{BeforeTimeout: true}), LearnedTimeouts: table}
	withJobOptions(t, dispatch.Options{IdleLimit: 2 * time.Minute, MaxIdleLimit: 2 * time.Minute}, o, tool, func(t *testing.T, s *jobServer) {
		c := s.connectAs("agent", "1")
		cancelCallAfter(t, c, `7`, progressTokenMeta, 110*time.Second, sdkTimeoutReason)
		want := clients.Timeout{Limit: time.Minute, ProgressRestarts: true}
		if got := table.learned[clients.ID{Name: "agent", Version: "1"}]; got != want {
			t.Fatalf("learned timeout = %+v, want %+v", got, want)
		}
		if r, jobs := callUntilResult(t, c, progressTokenMeta, want); r.Content[0].Text != "end" || jobs != 0 {
			t.Errorf("the call of 4 min returned %+v after %d jobs, want the tool's result without a job", r, jobs)
		}
	})
}

// Each client must receive the server's answer to each request before the client's timeout ends.
func TestKnownClientsRunToTheEnd(t *testing.T) {
	silent := func(sink dispatch.Sink) {
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
				o, tool := dispatch.Options{IdleLimit: 4 * time.Minute}, newSecondCounter(150, `"end"`)
				switch kind {
				case "silent":
					tool = silent
				case "approval":
					o.Gates, tool = []dispatch.Gate{alwaysAskGate{}}, newSecondCounter(5, `"end"`)
				}
				withJobs(t, o, alwaysDetach(Detach{BeforeTimeout: true}), tool, func(t *testing.T, s *jobServer) {
					if kind == "approval" {
						time.AfterFunc(90*time.Second, func() {
							waiting := slices.IndexFunc(s.d.Calls(), func(v dispatch.View) bool { return v.Waiting != nil })
							if _, err := s.d.Decide(s.d.Calls()[waiting].CallID, "", dispatch.Resolution{Allow: true, Surface: "the test"}); err != nil {
								t.Error(err)
							}
						})
					}
					timeout := p.TimeoutOver(true)
					r, jobs := callUntilResult(t, s.connectAs(name, version), progressTokenMeta, timeout)
					wantsJobs := timeout.Limit < 150*time.Second && !(timeout.ProgressRestarts && kind != "silent")
					if r.IsError || r.Content[0].Text != "end" || (jobs > 0) != wantsJobs {
						t.Errorf("the client received %+v after %d jobs; want the result, with jobs: %t", r, jobs, wantsJobs)
					}
				})
			})
		}
	}
}
