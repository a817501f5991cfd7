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
		if got := joinMessages(l.Last(Filter{}, 0)); got != "one two three" {
			t.Errorf("all: %s; want %q", got, "one two three")
		}
		if got := joinMessages(l.Last(Filter{Plugin: "a"}, 0)); got != "one three" {
			t.Errorf("those of a: %s; want %q", got, "one three")
		}
		if got := joinMessages(l.Last(Filter{Level: wire.LogWarning}, 0)); got != "two" {
			t.Errorf("warnings: %s; want %q", got, "two")
		}
		lastEntries := l.Last(Filter{}, 2)
		if joinMessages(lastEntries) != "two three" || lastEntries[1].Level != wire.LogInfo || lastEntries[1].Seq != 3 || lastEntries[1].Browser != "work" || lastEntries[1].Tab != 7 || lastEntries[1].Time.IsZero() {
			t.Errorf("the last two: %+v", lastEntries)
		}
		if firstEntry := l.Last(Filter{}, 0)[0]; string(firstEntry.Data) != `[{"n":1.50}]` {
			t.Errorf("data %s; want %q", firstEntry.Data, `[{"n":1.50}]`)
		}
	})
	entries, damagedLines, err := Read(dir, Filter{Plugin: "a"}, 1)
	if err != nil || damagedLines != 0 || joinMessages(entries) != "three" || entries[0].Seq != 0 {
		t.Errorf("the file: %+v, %d, %v", entries, damagedLines, err)
	}
	if fileInfo, err := os.Stat(filepath.Join(dir, logFolder, fileName)); err != nil || fileInfo.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", fileInfo, err)
	}
}

// A plugin that logs a lot replaces its own log entries, not the log entries of other plugins.
func TestMemoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, dir, Options{})
		l.Add("work", newParams("quiet", wire.LogInfo, "still here"))
		for n := range 1200 {
			l.Add("work", newParams("loud", wire.LogInfo, fmt.Sprint(n)))
			synctest.Wait()
		}
		loudEntries := l.Last(Filter{Plugin: "loud"}, 0)
		if len(loudEntries) != maxKeptEntries || loudEntries[0].Message != "200" || joinMessages(l.Last(Filter{Plugin: "quiet"}, 0)) != "still here" {
			t.Errorf("%d entries are kept, the first entry is %q", len(loudEntries), loudEntries[0].Message)
		}
		longText := strings.Repeat("x", maxTextBytes)
		for range 400 {
			l.Add("work", newParams("long", wire.LogInfo, longText))
			synctest.Wait()
		}
		totalCount := 0
		for _, e := range l.Last(Filter{Plugin: "long"}, 0) {
			totalCount += len(e.Message)
		}
		if totalCount > maxKeptBytes || totalCount < maxKeptBytes/2 {
			t.Errorf("%d bytes of one plugin", totalCount)
		}
		for n := range 100 {
			l.Add("work", newParams(fmt.Sprint("p", n), wire.LogInfo, "x"))
			synctest.Wait()
		}
		if n := len(l.plugins); n > maxKeptPlugins {
			t.Errorf("entries of %d plugins", n)
		}
		if len(l.Last(Filter{Plugin: "p99"}, 0)) != 1 || len(l.Last(Filter{Plugin: "quiet"}, 0)) != 0 {
			t.Error("the log did not drop the plugin that was silent longest")
		}
	})
}

func TestDroppedEntriesAreCounted(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		unblock := make(chan struct{})
		l := openLog(t, dir, Options{Secrets: func() []string { <-unblock; return nil }})
		const sentEntries = maxAdditions + 100
		for n := range sentEntries {
			l.Add("work", newParams("a", wire.LogInfo, fmt.Sprint(n)))
		}
		close(unblock)
		synctest.Wait()
		l.Add("work", newParams("a", wire.LogInfo, "last"))
		synctest.Wait()
		logEntries := l.Last(Filter{}, 0)
		droppedEntries := 0
		for _, e := range logEntries {
			droppedEntries += e.Dropped
		}
		if lastEntry := logEntries[len(logEntries)-1]; lastEntry.Message != "last" || droppedEntries == 0 || droppedEntries+len(logEntries)-1 != sentEntries {
			t.Errorf("%d entries were kept and %d counted as dropped, of %d", len(logEntries)-1, droppedEntries, sentEntries)
		}
	})
}

// A log entry may be large, so the number and the total size of the queued log entries
// are limited.
func TestLargeEntriesDoNotFillTheMemory(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		unblock := make(chan struct{})
		l := openLog(t, dir, Options{Secrets: func() []string { <-unblock; return nil }})
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
			t.Errorf("%d bytes are in the write buffer", queuedBytes)
		}
		close(unblock)
		synctest.Wait()
		l.Add("work", newParams("a", wire.LogInfo, "last"))
		synctest.Wait()
		logEntries := l.Last(Filter{}, 0)
		if lastEntry := logEntries[len(logEntries)-1]; lastEntry.Message != "last" || lastEntry.Dropped == 0 || lastEntry.Dropped%wire.MaxLogEntries != 0 || l.queuedBytes != 0 {
			t.Errorf("%q with %d dropped, %d bytes wait", lastEntry.Message, lastEntry.Dropped, l.queuedBytes)
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
		logEntries := l.Last(Filter{}, 0)
		if len(logEntries) != 3 || logEntries[0].Dropped != 3 || logEntries[1].Dropped != 0 || logEntries[2].Dropped != 2 || logEntries[2].Message == "" {
			t.Errorf("%+v", logEntries)
		}
	})
}

func TestFollow(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, dir, Options{})
		l.Add("work", newParams("a", wire.LogInfo, "before"))
		synctest.Wait()
		firstEntries, f := l.Follow(Filter{Plugin: "a"}, 10)
		if joinMessages(firstEntries) != "before" {
			t.Errorf("first %+v; want %q", firstEntries, "before")
		}
		l.Add("work", newParams("b", wire.LogInfo, "other"))
		l.Add("work", newParams("a", wire.LogInfo, "after"))
		got, missedEntries, err := f.Next(t.Context())
		if joinMessages(got) != "after" || missedEntries != 0 || err != nil {
			t.Errorf("%+v, %d, %v", got, missedEntries, err)
		}
		for range maxPendingEntries + 5 {
			l.Add("work", newParams("a", wire.LogInfo, "x"))
			synctest.Wait()
		}
		got, missedEntries, err = f.Next(t.Context())
		if len(got) != maxPendingEntries || missedEntries != 5 || err != nil {
			t.Errorf("%d entries, %d missed, %v", len(got), missedEntries, err)
		}
		noFollower, quietFollower := l.Follow(Filter{}, 0)
		if len(noFollower) != 0 {
			t.Errorf("got %+v; want length 0", noFollower)
		}
		quietFollower.Close()
		if _, _, err := quietFollower.Next(t.Context()); !errors.Is(err, errClosed) {
			t.Errorf("Next of a closed follower returned %v; want the error %v", err, errClosed)
		}
		go func() {
			<-time.After(time.Second)
			l.Close()
		}()
		if _, _, err := f.Next(t.Context()); !errors.Is(err, errClosed) {
			t.Errorf("after the end of the log: %v; want the error %v", err, errClosed)
		}
		l.Add("work", newParams("a", wire.LogInfo, "too late"))
		if _, lateFollower := l.Follow(Filter{}, 0); lateFollower != nil {
			if _, _, err := lateFollower.Next(t.Context()); !errors.Is(err, errClosed) {
				t.Errorf("a follower that starts after the end of the log: %v; want the error %v", err, errClosed)
			}
		}
	})
}

func TestInvalidTextIsNotKept(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, dir, Options{})
		l.Add("work", wire.PluginLogParams{Plugin: "a", Entries: []wire.LogEntry{
			{Message: "bad \xff text"}, {Message: "no JSON", Data: json.RawMessage(`[1`)}, {Message: "two", Data: json.RawMessage(`[1] [2]`)},
			{Message: "large", Data: json.RawMessage(`["` + strings.Repeat("x", wire.MaxLogDataBytes) + `"]`)},
			{Message: strings.Repeat("ü", maxTextBytes)},
		}})
		synctest.Wait()
		logEntries := l.Last(Filter{}, 0)
		if len(logEntries) != 5 || logEntries[0].Message != "bad \uFFFD text" || len(logEntries[4].Message) > maxTextBytes+len("…") {
			t.Fatalf("%d entries, the first %q", len(logEntries), logEntries[0].Message)
		}
		for _, e := range logEntries {
			if e.Data != nil {
				t.Errorf("%s has the data %.40s", e.Message, e.Data)
			}
		}
	})
}
