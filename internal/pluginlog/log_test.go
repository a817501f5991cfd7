package pluginlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/wire"
)

func newParams(plugin string, level wire.LogLevel, messages ...string) wire.PluginLogParams {
	p := wire.PluginLogParams{TabID: 7, Plugin: plugin}
	for _, m := range messages {
		p.Entries = append(p.Entries, wire.LogEntry{Level: level, Message: m})
	}
	return p
}

func joinMessages(entries []Entry) string {
	var messages []string
	for _, e := range entries {
		messages = append(messages, e.Message)
	}
	return strings.Join(messages, " ")
}

func openLog(t *testing.T, dir string, o Options) *Log {
	l := Open(dir, o)
	t.Cleanup(l.Close)
	return l
}

func TestEntriesAreKeptAndFiltered(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, dir, Options{})
		l.Add("work", wire.PluginLogParams{TabID: 7, Plugin: "a", Entries: []wire.LogEntry{{Level: wire.LogInfo, Message: "one", Data: json.RawMessage(`[{"n": 1.50}]`)}}})
		l.Add("work", newParams("b", wire.LogError, "two"))
		l.Add("work", newParams("a", "nonsense", "three"))
		synctest.Wait()
		if got := joinMessages(l.LastEntries(Filter{}, 0)); got != "one two three" {
			t.Errorf("entries of all plugins = %s; want %q", got, "one two three")
		}
		if got := joinMessages(l.LastEntries(Filter{Plugin: "a"}, 0)); got != "one three" {
			t.Errorf("entries of the plugin a = %s; want %q", got, "one three")
		}
		if got := joinMessages(l.LastEntries(Filter{Level: wire.LogWarning}, 0)); got != "two" {
			t.Errorf("entries from the level warning = %s; want %q", got, "two")
		}
		lastEntries := l.LastEntries(Filter{}, 2)
		if joinMessages(lastEntries) != "two three" || lastEntries[1].Level != wire.LogInfo || lastEntries[1].Seq != 3 || lastEntries[1].Browser != "work" || lastEntries[1].Tab != 7 || lastEntries[1].Time.IsZero() {
			t.Errorf("last two entries = %+v; want \"two\" and \"three\" from tab 7 of the browser work", lastEntries)
		}
		if firstEntry := l.LastEntries(Filter{}, 0)[0]; string(firstEntry.Data) != `[{"n":1.50}]` {
			t.Errorf("data of the first entry = %s; want %q", firstEntry.Data, `[{"n":1.50}]`)
		}
	})
	entries, damagedLines, err := Read(dir, Filter{Plugin: "a"}, 1)
	if err != nil || damagedLines != 0 || joinMessages(entries) != "three" || entries[0].Seq != 0 {
		t.Errorf("entries in the log file = %+v, damaged lines = %d, error %v; want only \"three\"", entries, damagedLines, err)
	}
	if fileInfo, err := os.Stat(filepath.Join(dir, logFolder, fileName)); err != nil || fileInfo.Mode().Perm() != 0o600 {
		t.Errorf("log file: %v, error %v; want mode 0600", fileInfo, err)
	}
}

// A plugin that logs a lot replaces its own log entries, not the log entries of other plugins.
func TestLogMemoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, dir, Options{})
		l.Add("work", newParams("quiet", wire.LogInfo, "still here"))
		for n := range 1200 {
			l.Add("work", newParams("loud", wire.LogInfo, fmt.Sprint(n)))
			synctest.Wait()
		}
		noisyEntries := l.LastEntries(Filter{Plugin: "loud"}, 0)
		if len(noisyEntries) != maxKeptEntries || noisyEntries[0].Message != "200" || joinMessages(l.LastEntries(Filter{Plugin: "quiet"}, 0)) != "still here" {
			t.Errorf("the log keeps %d entries of the loud plugin, the first is %q; want maxKeptEntries from \"200\", and the entry of the quiet plugin", len(noisyEntries), noisyEntries[0].Message)
		}
		longText := strings.Repeat("x", maxTextBytes)
		for range 400 {
			l.Add("work", newParams("long", wire.LogInfo, longText))
			synctest.Wait()
		}
		totalCount := 0
		for _, e := range l.LastEntries(Filter{Plugin: "long"}, 0) {
			totalCount += len(e.Message)
		}
		if totalCount > maxKeptBytes || totalCount < maxKeptBytes/2 {
			t.Errorf("the log keeps %d bytes of one plugin, want maxKeptBytes/2 to maxKeptBytes", totalCount)
		}
		for n := range 100 {
			l.Add("work", newParams(fmt.Sprint("p", n), wire.LogInfo, "x"))
			synctest.Wait()
		}
		if n := len(l.plugins); n > maxKeptPlugins {
			t.Errorf("the log keeps entries of %d plugins, want at most maxKeptPlugins", n)
		}
		if len(l.LastEntries(Filter{Plugin: "p99"}, 0)) != 1 || len(l.LastEntries(Filter{Plugin: "quiet"}, 0)) != 0 {
			t.Error("the log kept the entries of the plugin quiet or dropped those of p99, want the plugin that was silent longest dropped")
		}
	})
}

func TestDroppedEntriesAreCounted(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		unblockSecrets := make(chan struct{})
		l := openLog(t, dir, Options{Secrets: func() []string { <-unblockSecrets; return nil }})
		const sentEntries = maxAdditions + 100
		for n := range sentEntries {
			l.Add("work", newParams("a", wire.LogInfo, fmt.Sprint(n)))
		}
		close(unblockSecrets)
		synctest.Wait()
		l.Add("work", newParams("a", wire.LogInfo, "last"))
		synctest.Wait()
		logEntries := l.LastEntries(Filter{}, 0)
		droppedEntries := 0
		for _, e := range logEntries {
			droppedEntries += e.Dropped
		}
		if lastEntry := logEntries[len(logEntries)-1]; lastEntry.Message != "last" || droppedEntries == 0 || droppedEntries+len(logEntries)-1 != sentEntries {
			t.Errorf("the log kept %d entries and counted %d as dropped, want %d in total and at least one dropped", len(logEntries)-1, droppedEntries, sentEntries)
		}
	})
}

// A log entry may be large, so the number and the total size of the queued log entries
// are limited.
func TestLargeEntriesDoNotFillTheMemory(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		unblockSecrets := make(chan struct{})
		l := openLog(t, dir, Options{Secrets: func() []string { <-unblockSecrets; return nil }})
		largeParams := wire.PluginLogParams{Plugin: "a"}
		for range wire.MaxLogEntries {
			largeParams.Entries = append(largeParams.Entries, wire.LogEntry{Level: wire.LogInfo, Data: json.RawMessage("[" + strings.Repeat("x", 60<<10) + "]")}) // the JSON of the data is invalid at its second byte, so parsing fails early and the test is fast
		}
		for range 50 {
			l.Add("work", largeParams)
		}
		l.mu.Lock()
		queuedBytes := l.queuedBytes
		l.mu.Unlock()
		if queuedBytes > maxAdditionBytes {
			t.Errorf("the queue contains %d bytes, want at most maxAdditionBytes", queuedBytes)
		}
		close(unblockSecrets)
		synctest.Wait()
		l.Add("work", newParams("a", wire.LogInfo, "last"))
		synctest.Wait()
		logEntries := l.LastEntries(Filter{}, 0)
		if lastEntry := logEntries[len(logEntries)-1]; lastEntry.Message != "last" || lastEntry.Dropped == 0 || lastEntry.Dropped%wire.MaxLogEntries != 0 || l.queuedBytes != 0 {
			t.Errorf("last entry = %q after %d dropped entries, queued bytes = %d; want \"last\" after dropped entries, and an empty queue", lastEntry.Message, lastEntry.Dropped, l.queuedBytes)
		}
	})
}

func TestEntriesDroppedInThePageAreCounted(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, dir, Options{})
		p := newParams("a", wire.LogInfo, "x", "y")
		p.Dropped = 3
		l.Add("work", p)
		l.Add("work", wire.PluginLogParams{Plugin: "a", Dropped: 2})
		synctest.Wait()
		logEntries := l.LastEntries(Filter{}, 0)
		if len(logEntries) != 3 || logEntries[0].Dropped != 3 || logEntries[1].Dropped != 0 || logEntries[2].Dropped != 2 || logEntries[2].Message == "" {
			t.Errorf("entries = %+v, want 3 entries after 3, 0 and 2 dropped entries", logEntries)
		}
	})
}

func TestFollowReceivesNewEntries(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, dir, Options{})
		l.Add("work", newParams("a", wire.LogInfo, "before"))
		synctest.Wait()
		firstEntries, f := l.Follow(Filter{Plugin: "a"}, 10)
		if joinMessages(firstEntries) != "before" {
			t.Errorf("entries before Follow = %+v; want %q", firstEntries, "before")
		}
		l.Add("work", newParams("b", wire.LogInfo, "other"))
		l.Add("work", newParams("a", wire.LogInfo, "after"))
		got, missedEntries, err := f.Next(t.Context())
		if joinMessages(got) != "after" || missedEntries != 0 || err != nil {
			t.Errorf("Next returned %+v, missed entries %d, error %v; want only \"after\"", got, missedEntries, err)
		}
		for range maxPendingEntries + 5 {
			l.Add("work", newParams("a", wire.LogInfo, "x"))
			synctest.Wait()
		}
		got, missedEntries, err = f.Next(t.Context())
		if len(got) != maxPendingEntries || missedEntries != 5 || err != nil {
			t.Errorf("Next returned %d entries, missed entries %d, error %v; want maxPendingEntries entries and 5 missed", len(got), missedEntries, err)
		}
		noEntries, closedSubscriber := l.Follow(Filter{}, 0)
		if len(noEntries) != 0 {
			t.Errorf("Follow with n = 0 returned %+v; want no entries", noEntries)
		}
		closedSubscriber.Close()
		if _, _, err := closedSubscriber.Next(t.Context()); !errors.Is(err, errClosed) {
			t.Errorf("Next of a closed subscriber returned %v; want the error %v", err, errClosed)
		}
		go func() {
			<-time.After(time.Second)
			l.Close()
		}()
		if _, _, err := f.Next(t.Context()); !errors.Is(err, errClosed) {
			t.Errorf("Next after Close of the log returned %v; want the error %v", err, errClosed)
		}
		l.Add("work", newParams("a", wire.LogInfo, "too late"))
		if _, subscriberAfterClose := l.Follow(Filter{}, 0); subscriberAfterClose != nil {
			if _, _, err := subscriberAfterClose.Next(t.Context()); !errors.Is(err, errClosed) {
				t.Errorf("Next of a subscriber that started after Close of the log returned %v; want the error %v", err, errClosed)
			}
		}
	})
}

func TestInvalidTextIsReplaced(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, dir, Options{})
		l.Add("work", wire.PluginLogParams{Plugin: "a", Entries: []wire.LogEntry{
			{Message: "bad \xff text"}, {Message: "no JSON", Data: json.RawMessage(`[1`)}, {Message: "two", Data: json.RawMessage(`[1] [2]`)},
			{Message: "large", Data: json.RawMessage(`["` + strings.Repeat("x", wire.MaxLogDataBytes) + `"]`)},
			{Message: strings.Repeat("ü", maxTextBytes)},
		}})
		synctest.Wait()
		logEntries := l.LastEntries(Filter{}, 0)
		if len(logEntries) != 5 || logEntries[0].Message != "bad \uFFFD text" || len(logEntries[4].Message) > maxTextBytes+len("…") {
			t.Fatalf("the log has %d entries, the first is %q; want 5 entries with valid, short texts", len(logEntries), logEntries[0].Message)
		}
		for _, e := range logEntries {
			if e.Data != nil {
				t.Errorf("entry %s has the data %.40s, want no data", e.Message, e.Data)
			}
		}
	})
}
