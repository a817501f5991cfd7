package timeouts

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/clients"
)

const timeoutReason = "McpError: MCP error -32001: Request timed out"

func newClientGiveUp(waitTime time.Duration) clients.AbandonedCall {
	return clients.AbandonedCall{WaitDuration: waitTime, Reason: timeoutReason}
}

func openStore(t *testing.T, dir string) (*Store, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	return Open(dir, func(warning string) { log.WriteString(warning) }, zerolog.New(&log)), &log
}

func storedTimeout(s *Store, name, version string) time.Duration {
	e, _ := s.Find(clients.ID{Name: name, Version: version})
	return e.Timeout().Limit
}

func TestTimeoutIsInferredFromGiveUp(t *testing.T) {
	dir := t.TempDir()
	s, log := openStore(t, dir)
	agent := clients.ID{Name: "My-Agent", Version: "1.0"}
	if e, ok := s.RecordAbandonedCall(agent, newClientGiveUp(time.Minute)); !ok || e.FormatLimit() != "1 min" || e.Reason != timeoutReason {
		t.Errorf("learned timeout = %+v, %t; want 1 min with the reason", e, ok)
	}
	if logText := log.String(); !strings.Contains(logText, "My-Agent 1.0") || !strings.Contains(logText, "1 min") || !strings.Contains(logText, `opentabs client timeout set`) {
		t.Errorf("the log is %s; want an entry with the client, its timeout and the command that changes the timeout", logText)
	}
	reopenedStore, _ := openStore(t, dir)
	if got := storedTimeout(reopenedStore, "my-agent", "1.0"); got != time.Minute {
		t.Errorf("timeout after a restart = %s, want 1 min", got)
	}
	if got := storedTimeout(reopenedStore, "my-agent", "1.1"); got != 0 {
		t.Errorf("timeout of another version of the client = %s, want none", got)
	}
	if _, ok := s.RecordAbandonedCall(agent, newClientGiveUp(time.Minute)); ok {
		t.Error("RecordAbandonedCall stored the same timeout twice, want it stored once")
	}
	s.RecordAbandonedCall(agent, newClientGiveUp(2*time.Minute))
	if got := storedTimeout(s, agent.Name, agent.Version); got != time.Minute {
		t.Errorf("timeout after a longer wait = %s, want the shorter time of 1 min", got)
	}
	s.RecordAbandonedCall(agent, clients.AbandonedCall{WaitDuration: 50 * time.Second, HasProgress: true, TimeSinceProgress: 30 * time.Second, LongestProgressPause: 5 * time.Second, Reason: timeoutReason})
	if e, _ := s.Find(agent); e.Timeout() != (clients.Timeout{Limit: 30 * time.Second, ProgressRestarts: true}) {
		t.Errorf("entry after 30 s without progress = %+v, want 30 s that progress restarts", e)
	}
	for _, id := range []clients.ID{{}, {Version: "1"}} {
		if _, ok := s.RecordAbandonedCall(id, newClientGiveUp(time.Minute)); ok {
			t.Errorf("RecordAbandonedCall stored a timeout for the client %+v without a name, want none", id)
		}
	}
}

func TestSetAndDeleteTimeout(t *testing.T) {
	dir := t.TempDir()
	s, _ := openStore(t, dir)
	s.RecordAbandonedCall(clients.ID{Name: "a", Version: "1"}, newClientGiveUp(time.Minute))
	if _, err := s.Set(clients.ID{Name: "A"}, clients.Timeout{Limit: 5 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	if got := storedTimeout(s, "a", "1"); got != 5*time.Minute || len(s.List()) != 1 {
		t.Errorf("timeout after the user set 5 min = %s, entries = %+v; want 5 min in one entry", got, s.List())
	}
	if _, ok := s.RecordAbandonedCall(clients.ID{Name: "a", Version: "1"}, newClientGiveUp(time.Minute)); ok || storedTimeout(s, "a", "1") != 5*time.Minute {
		t.Error("RecordAbandonedCall replaced the timeout that the user set, want 5 min unchanged")
	}
	removedEntries, err := s.Forget(clients.ID{Name: "a"})
	if err != nil || len(removedEntries) != 1 || storedTimeout(s, "a", "1") != 0 {
		t.Errorf("Forget removed %+v, error %v; want the timeout that the user set", removedEntries, err)
	}
	if removedEntries, err := s.Forget(clients.ID{Name: "a"}); err != nil || len(removedEntries) != 0 {
		t.Errorf("Forget of a removed timeout removed %+v, error %v; want nothing", removedEntries, err)
	}
}

func TestStoredTimeoutsAreBounded(t *testing.T) {
	dir := t.TempDir()
	storedEntries := make([]string, maxEntries-1)
	for i := range storedEntries {
		storedEntries[i] = fmt.Sprintf(`{"name":"stored-%d","version":"1","timeout_ms":60000}`, i)
	}
	storedClients := `{"version":1,"clients":[` + strings.Join(storedEntries, ",") + `]}`
	if err := os.WriteFile(filepath.Join(dir, fileName), []byte(storedClients), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ := openStore(t, dir)
	if _, err := s.Set(clients.ID{Name: "mine"}, clients.Timeout{Limit: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if got := len(s.List()); got != maxEntries {
		t.Fatalf("the store read %d entries, want %d", got, maxEntries)
	}
	const learnedClients = 5
	for i := range learnedClients {
		s.RecordAbandonedCall(clients.ID{Name: fmt.Sprintf("%d-%s\x1b[31m", i, strings.Repeat("ä", 500)), Version: strings.Repeat("9", 500)}, newClientGiveUp(time.Minute))
	}
	entries := s.List()
	if len(entries) != maxEntries || storedTimeout(s, "mine", "7") != time.Minute {
		t.Errorf("the file has %d entries, and the timeout that the user set is %s; want %d entries and 1 min", len(entries), storedTimeout(s, "mine", "7"), maxEntries)
	}
	for _, e := range entries {
		if len([]rune(e.Name)) > maxNameLength+1 || strings.ContainsRune(e.Name, '\x1b') {
			t.Fatalf("name in the entry = %q, want a short name without hidden characters", e.Name)
		}
	}
	if got := storedTimeout(s, "stored-0", "1"); got != 0 {
		t.Errorf("timeout of the client that was stored first = %s, want none", got)
	}
	if got := storedTimeout(s, fmt.Sprintf("%d-%s\x1b[31m", learnedClients-1, strings.Repeat("ä", 500)), strings.Repeat("9", 500)); got != time.Minute {
		t.Errorf("timeout of a client with a long name = %s, want 1 min", got)
	}
}

func TestDamagedFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	for storedClients, want := range map[string]int{
		`{"version":1,"clients":[`: 0, `[]`: 0, `{"version":1,"clients":{}}`: 0, `{"version":1,"clients":[1,{"name":"b","timeout_ms":60000}]}`: 1,
		`{"version":1,"clients":[{"name":"b","timeout_ms":-5},{"name":"c","timeout_ms":9e15},{"timeout_ms":60000}]}`: 0,
	} {
		if err := os.WriteFile(path, []byte(storedClients), 0o600); err != nil {
			t.Fatal(err)
		}
		s, _ := openStore(t, dir)
		if got := len(s.List()); got != want {
			t.Errorf("%s: the file has %d entries, want %d", storedClients, got, want)
		}
		if err := s.Repair(); err != nil {
			t.Errorf("Repair of the file %s returned %v, want no error", storedClients, err)
		}
		s.RecordAbandonedCall(clients.ID{Name: "a", Version: "1"}, newClientGiveUp(time.Minute))
		if reopenedStore, _ := openStore(t, dir); storedTimeout(reopenedStore, "a", "1") != time.Minute {
			t.Errorf("file %s: the timeout that was learned after the repair is missing, want 1 min", storedClients)
		}
	}
}

func TestInferredTimeoutWithUnwritableFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, log := openStore(t, dir)
	s.RecordAbandonedCall(clients.ID{Name: "a", Version: "1"}, newClientGiveUp(time.Minute))
	if storedTimeout(s, "a", "1") != time.Minute || !strings.Contains(log.String(), "cannot be stored") {
		t.Errorf("timeout of the client = %s, log = %s; want 1 min and an error in the log", storedTimeout(s, "a", "1"), log)
	}
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s, _ := openStore(t, dir)
		go s.Watch(t.Context())
		time.Sleep(2 * time.Second)
		otherStore, _ := openStore(t, dir)
		if _, err := otherStore.Set(clients.ID{Name: "a"}, clients.Timeout{Limit: time.Minute}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if got := storedTimeout(s, "a", "1"); got != time.Minute {
			t.Errorf("timeout of the client = %s, want 1 min", got)
		}
	})
}
