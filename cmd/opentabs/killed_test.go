package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"opentabs/internal/audit"
	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/internal/mcpclient"
	"opentabs/internal/recorder"
	"opentabs/wire"
)

const (
	serverKillCount = 3
	minCallCount    = 600
	agentCount      = 4
	// maxRecordDelay limits the loss: calls that ended less than maxRecordDelay before the kill
	// may be missing in the records.
	maxRecordDelay = time.Second
	// maxStallTime is how long the machine may stall while a server writes its records within maxRecordDelay.
	maxStallTime = 400 * time.Millisecond
)

type serverKill struct {
	signaledAt time.Time
	agentsEnd  time.Time // the agents received no answers of the killed server after agentsEnd
}

// A call that ended within maxRecordDelay before a kill, or while the killed server exited, may be missing in the
// records, in the audit log or in both. No later server adds the missing call.
func mayBeMissing(callEnd time.Time, kills []serverKill) bool {
	return slices.ContainsFunc(kills, func(k serverKill) bool {
		return !callEnd.Before(k.signaledAt.Add(-maxRecordDelay)) && !callEnd.After(k.agentsEnd)
	})
}

// After a kill, at most the last line of each record file may be incomplete. Only calls that ended within the last
// second may be missing. The next server must record the call that was open at the time of the kill.
func TestKilledServerKeepsItsRecords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	dirs := config.Dirs{Config: dir, State: dir}
	plugin := writeEchoPlugin(t)
	if cmdOutput, err := opentabsCommand(t, dirs, "plugin", "add", plugin, "--permission", "auto").CombinedOutput(); err != nil {
		t.Fatalf("opentabs plugin add ended with the error %v, want nil; output: %s", err, cmdOutput)
	}
	callCount := 0
	var kills []serverKill
	for killIndex := range serverKillCount {
		finishedCalls, kill := killServerDuringCalls(t, dirs, killIndex)
		kills = append(kills, kill)
		checkRecords(t, dirs, finishedCalls, kills)
		callCount += len(finishedCalls)
	}
	if callCount < minCallCount {
		t.Errorf("the server answered %d calls, want at least %d", callCount, minCallCount)
	}
	// A restarted server repairs incomplete lines in its log files.
	stop := startServer(t, dirs)
	stop(os.Interrupt)
	checkCompleteLines(t, dirs)
	checkOpenCalls(t, dirs)
}

func writeEchoPlugin(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "messages")
	for name, fileContent := range map[string]string{
		"package.json":         `{"name":"opentabs-plugin-messages","version":"1.0.0","main":"dist/adapter.iife.js","opentabs":{"displayName":"Messages","description":"For tests","urlPatterns":["*://localhost/*"]}}`,
		"dist/adapter.iife.js": "(() => {})();",
		"dist/tools.json": `{"sdkVersion":"0.0.1","tools":[{"name":"echo","description":"Echo","output_schema":{"type":"object"},"input_schema":{"type":"object","properties":{"text":{"type":"string"}}}},` +
			`{"name":"silent","description":"Never end","output_schema":{},"input_schema":{"type":"object","properties":{"text":{"type":"string"}}}}]}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(fileContent), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func startServer(t *testing.T, dirs config.Dirs) (stopServer func(os.Signal)) {
	t.Helper()
	server := opentabsCommand(t, dirs, "serve")
	var log bytes.Buffer
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	serverExited := make(chan struct{})
	go func() {
		defer close(serverExited)
		_ = server.Wait() // Wait returns an error for a killed server
	}()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.After(hangTimeout); ; {
		if record, ok := dirs.ReadServer(); ok && record.PID == server.Process.Pid {
			break
		}
		select {
		case <-ticker.C:
		case <-serverExited:
			t.Fatalf("the server ended by itself, want it to run until the test kills it; log: %s", log.String())
		case <-deadline:
			t.Fatal("the server did not start within the time limit, want a running server")
		}
	}
	return func(signal os.Signal) {
		t.Helper()
		if err := server.Process.Signal(signal); err != nil {
			t.Error(err)
		}
		<-serverExited
	}
}

// A machine that stalls also delays the server's writes. The returned function returns how long the machine has not
// stalled, neither as a whole nor during a write to the file at path.
func watchStalls(ctx context.Context, path string, workers *sync.WaitGroup) (timeSinceStall func() time.Duration) {
	var lastStall, lastWrite atomic.Pointer[time.Time]
	startTime := time.Now()
	lastStall.Store(&startTime)
	lastWrite.Store(&startTime)
	workers.Go(func() {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
			err := os.WriteFile(path, []byte("x"), 0o600)
			now := time.Now()
			if err != nil || now.Sub(*lastWrite.Load()) > maxStallTime {
				lastStall.Store(&now)
			}
			lastWrite.Store(&now)
		}
	})
	return func() time.Duration {
		if time.Since(*lastWrite.Load()) > maxStallTime {
			return 0
		}
		return time.Since(*lastStall.Load())
	}
}

func killServerDuringCalls(t *testing.T, dirs config.Dirs, killIndex int) (finishedCalls map[string]time.Time, kill serverKill) {
	t.Helper()
	finishedCalls = map[string]time.Time{}
	stopServer := startServer(t, dirs)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	browser, err := connectFakeBrowser(ctx, dirs)
	if err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	workers.Go(func() { _ = browser.Run(ctx) }) // the simulated browser stops when the server stops
	var mu sync.Mutex
	var answeredCount atomic.Int64
	minCallsReached := make(chan struct{})
	var closeOnce sync.Once
	var openedAt atomic.Pointer[time.Time] // openedAt is when the open call was made
	minCalls, runTime := int64(minCallCount/serverKillCount+rand.IntN(100)), maxRecordDelay+time.Second+time.Duration(rand.IntN(int(time.Second)))
	timeSinceStall := watchStalls(ctx, filepath.Join(t.TempDir(), "stalls"), &workers)
	openCallSession := openSession(t, dirs)
	firstAnswerReceived := make(chan struct{})
	workers.Go(func() {
		<-firstAnswerReceived // the server has received the browser's tab
		now := time.Now()
		openedAt.Store(&now)
		_, _ = openCallSession.CallTool(ctx, "messages__silent", fmt.Appendf(nil, `{"text":%q}`, newOpenCallText(killIndex)), func(mcpclient.Progress) {})
	})
	for agent := range agentCount {
		session := openSession(t, dirs)
		workers.Go(func() {
			for i := 0; ; i++ {
				callMessage := fmt.Sprintf("call %d.%d.%d", killIndex, agent, i)
				result, err := session.CallTool(ctx, "messages__echo", fmt.Appendf(nil, `{"text":%q}`, callMessage), func(mcpclient.Progress) {})
				if err != nil {
					return // a call fails after the server was killed
				}
				if !result.IsError {
					mu.Lock()
					finishedCalls[callMessage] = time.Now()
					mu.Unlock()
					n := answeredCount.Add(1)
					if n == 1 {
						close(firstAnswerReceived)
					}
					if openedTime := openedAt.Load(); openedTime != nil && n >= minCalls && time.Since(*openedTime) >= runTime && timeSinceStall() >= maxRecordDelay+maxStallTime {
						closeOnce.Do(func() { close(minCallsReached) })
					}
				}
			}
		})
	}
	select {
	case <-minCallsReached:
	case <-time.After(hangTimeout):
		t.Fatalf("the server answered %d calls within the time limit, and the machine did not stall for %s; want at least %d calls and %s", answeredCount.Load(), timeSinceStall(), minCalls, maxRecordDelay+maxStallTime)
	}
	kill.signaledAt = time.Now()
	stopServer(os.Kill)
	stop()
	workers.Wait()
	kill.agentsEnd = time.Now()
	return finishedCalls, kill
}

func newOpenCallText(killIndex int) string { return fmt.Sprint("open call ", killIndex) }

func checkOpenCalls(t *testing.T, dirs config.Dirs) {
	t.Helper()
	records, err := recorder.ReadAll(dirs.State, recorder.Query{Tool: "messages__silent", OnlyFailed: true})
	if err != nil || len(records) != serverKillCount {
		t.Fatalf("%d calls that were open during a kill are recorded, error %v; want %d", len(records), err, serverKillCount)
	}
	for i, r := range records { // the records are sorted newest first
		want := fmt.Appendf(nil, `{"text":%q}`, newOpenCallText(serverKillCount-1-i))
		if !bytes.Equal(r.Args, want) || r.ErrorCode != wire.ErrShutdown || r.Ended == nil {
			t.Errorf("record of the open call with the arguments %s = %s, want an ended call with the code shutdown", want, r.Line)
		}
		auditEntries, _, err := audit.Read(dirs.State, 0, func(a audit.Record) bool { return a.CallID == r.CallID })
		if err != nil || len(auditEntries) != 1 || auditEntries[0].ErrorCode != wire.ErrShutdown {
			t.Errorf("the audit log has %d entries about the call %s, error %v; want 1 with the code shutdown", len(auditEntries), r.CallID, err)
		}
	}
}

func openSession(t *testing.T, dirs config.Dirs) *mcpclient.Client {
	t.Helper()
	record, _ := dirs.ReadServer()
	token, err := dirs.Token()
	if err != nil {
		t.Fatal(err)
	}
	api := httpapi.NewClient(record.Port, token)
	session := mcpclient.New(mcpclient.Options{URL: api.URL(httpapi.CommandPath), Token: token, Name: "test", Version: "1", Transport: api.Transport()})
	if _, err := session.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	return session
}

func checkRecords(t *testing.T, dirs config.Dirs, finishedCalls map[string]time.Time, kills []serverKill) {
	t.Helper()
	if v, err := audit.Verify(dirs.State); err != nil || v.Problem != nil || v.Lines == 0 {
		t.Fatalf("verification of the audit log = %+v with the problem %+v, error %v; want some lines, no problem and no error", v, v.Problem, err)
	}
	auditEntries, damagedLines, err := audit.Read(dirs.State, 0, func(r audit.Record) bool { return r.Kind == audit.KindCall })
	if err != nil || damagedLines > 1 {
		t.Fatalf("the audit log has %d damaged lines, error %v; want at most 1 line and no error", damagedLines, err)
	}
	auditedCalls := map[string]bool{}
	for _, e := range auditEntries {
		auditedCalls[e.CallID] = true
	}
	records, err := recorder.ReadAll(dirs.State, recorder.Query{})
	if err != nil {
		t.Fatal(err)
	}
	recordedIDs := map[string]bool{}
	for _, r := range records {
		var args struct{ Text string }
		if err := json.Unmarshal(r.Args, &args); err != nil || recordedIDs[args.Text] {
			t.Fatalf("the call %s is recorded twice or damaged, error %v; want one valid record", r.Line, err)
		}
		recordedIDs[args.Text] = true
		if !auditedCalls[r.CallID] && !mayBeMissing(*r.Ended, kills) {
			t.Errorf("the call %s, which ended at %s, is recorded but not in the audit log, want it in both", r.CallID, r.Ended)
		}
	}
	requiredCount := 0
	for callMessage, at := range finishedCalls {
		if mayBeMissing(at, kills) {
			continue
		}
		requiredCount++
		if !recordedIDs[callMessage] {
			t.Errorf("the call with the argument %q, answered at %s, is not recorded; want all calls that were answered more than %s before the kill", callMessage, at, maxRecordDelay)
		}
	}
	t.Logf("the server answered %d calls, %d of them more than %s before the kill; %d are recorded and %d are in the audit log", len(finishedCalls), requiredCount, maxRecordDelay, len(recordedIDs), len(auditedCalls))
}

func checkCompleteLines(t *testing.T, dirs config.Dirs) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dirs.State, "calls", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found no files of recorded calls, error %v; want at least one", err)
	}
	for _, file := range append(files, filepath.Join(dirs.State, "audit.jsonl")) {
		fileContent, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(fileContent) {
			if !json.Valid(line) || !bytes.HasSuffix(line, []byte("\n")) {
				t.Errorf("%s contains the incomplete or invalid line %s, want only complete lines of JSON", file, line)
			}
		}
	}
}
