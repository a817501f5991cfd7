package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	// maxLostTime limits the loss: calls that ended less than maxLostTime before the kill
	// may be missing in the records.
	maxLostTime = time.Second
)

// After a kill, at most the last line of each record file may be incomplete. Only calls that ended within the last
// second may be missing. The next server must record the call that was open at the time of the kill.
func TestKilledServerKeepsItsRecords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	dirs := config.Dirs{Config: dir, State: dir}
	plugin := writeEchoPlugin(t)
	if cmdOutput, err := opentabsCommand(t, dirs, "plugin", "add", plugin, "--permission", "auto").CombinedOutput(); err != nil {
		t.Fatalf("opentabs plugin add failed with %v: %s", err, cmdOutput)
	}
	callCount := 0
	for kill := range serverKillCount {
		finishedCalls, killedAt := killDuringCalls(t, dirs, kill)
		checkRecords(t, dirs, finishedCalls, killedAt.Add(-maxLostTime))
		callCount += len(finishedCalls)
	}
	if callCount < minCallCount {
		t.Errorf("the server answered %d calls, want at least %d", callCount, minCallCount)
	}
	// A restarted server repairs incomplete lines in its log files.
	stop := startServer(t, dirs)
	stop(os.Interrupt)
	checkWholeLines(t, dirs)
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
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Wait() // Wait returns an error for a killed server
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(hangTimeout); ; {
		if record, ok := dirs.ReadServer(); ok && record.PID == server.Process.Pid {
			break
		}
		select {
		case <-tick.C:
		case <-ended:
			t.Fatalf("the server ended before the test killed it: %s", log.String())
		case <-deadline:
			t.Fatal("the server did not start in time")
		}
	}
	return func(signal os.Signal) {
		t.Helper()
		if err := server.Process.Signal(signal); err != nil {
			t.Error(err)
		}
		<-ended
	}
}

func killDuringCalls(t *testing.T, dirs config.Dirs, round int) (finishedCalls map[string]time.Time, killedAt time.Time) {
	t.Helper()
	finishedCalls = map[string]time.Time{}
	stopServer := startServer(t, dirs)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	browser, err := connectFakeBrowser(ctx, dirs)
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() { _ = browser.Run(ctx) }) // the simulated browser stops when the server stops
	var mu sync.Mutex
	var answeredCount atomic.Int64
	enough := make(chan struct{})
	var closeOnce sync.Once
	var openedAt atomic.Pointer[time.Time] // openedAt is when the open call was made
	least, runTime := int64(minCallCount/serverKillCount+rand.IntN(100)), maxLostTime+time.Second+time.Duration(rand.IntN(int(time.Second)))
	openCall := openSession(t, dirs)
	firstAnswer := make(chan struct{})
	work.Go(func() {
		<-firstAnswer // the server has received the browser's tab
		now := time.Now()
		openedAt.Store(&now)
		_, _ = openCall.CallTool(ctx, "messages__silent", fmt.Appendf(nil, `{"text":%q}`, newOpenCallText(round)), func(mcpclient.Progress) {})
	})
	for agent := range agentCount {
		session := openSession(t, dirs)
		work.Go(func() {
			for i := 0; ; i++ {
				callMessage := fmt.Sprintf("call %d.%d.%d", round, agent, i)
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
						close(firstAnswer)
					}
					if openedTime := openedAt.Load(); openedTime != nil && n >= least && time.Since(*openedTime) >= runTime {
						closeOnce.Do(func() { close(enough) })
					}
				}
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(hangTimeout):
		t.Fatal("the server did not answer the calls in time")
	}
	killedAt = time.Now()
	stopServer(os.Kill)
	stop()
	work.Wait()
	return finishedCalls, killedAt
}

func newOpenCallText(round int) string { return fmt.Sprint("open call ", round) }

func checkOpenCalls(t *testing.T, dirs config.Dirs) {
	t.Helper()
	records, err := recorder.ReadAll(dirs.State, recorder.Query{Tool: "messages__silent", HasFailed: true})
	if err != nil || len(records) != serverKillCount {
		t.Fatalf("%d calls are recorded that were open during a kill, %v; want %d", len(records), err, serverKillCount)
	}
	for i, r := range records { // the records are sorted newest first
		want := fmt.Appendf(nil, `{"text":%q}`, newOpenCallText(serverKillCount-1-i))
		if !bytes.Equal(r.Args, want) || r.ErrorCode != wire.ErrShutdown || r.Ended == nil {
			t.Errorf("the call with %s is recorded as %s", want, r.Line)
		}
		auditEntries, _, err := audit.Read(dirs.State, 0, func(a audit.Record) bool { return a.CallID == r.CallID })
		if err != nil || len(auditEntries) != 1 || auditEntries[0].ErrorCode != wire.ErrShutdown {
			t.Errorf("%d entries of the audit log are about %s, %v", len(auditEntries), r.CallID, err)
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

func checkRecords(t *testing.T, dirs config.Dirs, finishedCalls map[string]time.Time, complete time.Time) {
	t.Helper()
	if v, err := audit.Verify(dirs.State); err != nil || v.Problem != nil || v.Lines == 0 {
		t.Fatalf("verification of the audit log = %+v with the problem %+v, %v; want some lines and no problem", v, v.Problem, err)
	}
	auditEntries, damagedLines, err := audit.Read(dirs.State, 0, func(r audit.Record) bool { return r.Kind == audit.KindCall })
	if err != nil || damagedLines > 1 {
		t.Fatalf("the audit log has %d damaged lines, %v; want at most 1", damagedLines, err)
	}
	audited := map[string]bool{}
	for _, e := range auditEntries {
		audited[e.CallID] = true
	}
	records, err := recorder.ReadAll(dirs.State, recorder.Query{})
	if err != nil {
		t.Fatal(err)
	}
	recordedIDs := map[string]bool{}
	for _, r := range records {
		var args struct{ Text string }
		if err := json.Unmarshal(r.Args, &args); err != nil || recordedIDs[args.Text] {
			t.Fatalf("the recorded call %s is recorded twice or damaged: %v", r.Line, err)
		}
		recordedIDs[args.Text] = true
		if !audited[r.CallID] && r.Ended.Before(complete) {
			t.Errorf("call %s, which ended at %s, is recorded, but is not in the audit log", r.CallID, r.Ended)
		}
	}
	requiredCount := 0
	for callMessage, at := range finishedCalls {
		if at.Before(complete) {
			requiredCount++
			if !recordedIDs[callMessage] {
				t.Errorf("the call with the argument %q, answered at %s, is not recorded; want all calls that were answered before %s", callMessage, at, complete)
			}
		}
	}
	t.Logf("the server answered %d calls, %d of them more than %s before the kill; %d are recorded and %d are in the audit log", len(finishedCalls), requiredCount, maxLostTime, len(recordedIDs), len(audited))
}

func checkWholeLines(t *testing.T, dirs config.Dirs) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dirs.State, "calls", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found no files of recorded calls: %v", err)
	}
	for _, file := range append(files, filepath.Join(dirs.State, "audit.jsonl")) {
		fileContent, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(fileContent) {
			if !json.Valid(line) || !bytes.HasSuffix(line, []byte("\n")) {
				t.Errorf("%s contains the incomplete or invalid line %s", file, line)
			}
		}
	}
}
