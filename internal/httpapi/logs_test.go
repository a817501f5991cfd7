package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"opentabs/internal/pluginlog"
	"opentabs/internal/sse"
	"opentabs/wire"
)

func (f *fixture) addEntries(t *testing.T, plugin string, level wire.LogLevel, messages ...string) {
	t.Helper()
	p := wire.PluginLogParams{TabID: 7, Plugin: plugin}
	for _, m := range messages {
		p.Entries = append(p.Entries, wire.LogEntry{Level: level, Message: m})
	}
	_, subscription := f.logs.Follow(pluginlog.Filter{}, 0)
	defer subscription.Close()
	f.logs.Add("work", p)
	for receivedEntries := 0; receivedEntries < len(messages); {
		logEntries, _, err := subscription.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		receivedEntries += len(logEntries)
	}
}

func TestLogQueryFiltersEntries(t *testing.T) {
	f := startFixture(t)
	f.addEntries(t, "a", wire.LogInfo, "one", "two")
	f.addEntries(t, "b", wire.LogError, "three")
	for want, q := range map[string]LogQuery{
		"one two three": {MaxEntries: 10},
		"three":         {MaxEntries: 1},
		"one two":       {Filter: pluginlog.Filter{Plugin: "a"}, MaxEntries: 0},
		" three":        {Filter: pluginlog.Filter{Level: wire.LogWarning}, MaxEntries: 10},
	} {
		var logEntries logList
		err := json.NewDecoder(f.get(t, "/logs?"+q.urlValues().Encode()).Body).Decode(&logEntries)
		if got := messagesOf(logEntries.Entries); err != nil || got != strings.TrimSpace(want) {
			t.Errorf("the log entries for %+v are %q, want %q; error %v", q, got, strings.TrimSpace(want), err)
		}
	}
	for query, want := range map[string]string{
		"level=loud": "is no level", "last=-1": "0 or more", "follow=yes": "make it 1", "colour=red": "not known", "last=1&last=2": "there twice",
	} {
		resp := f.get(t, "/logs?"+query)
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), want) {
			t.Errorf("GET /logs?%s: status %d, body %s; want 400 and %q", query, resp.StatusCode, body, want)
		}
	}
}

func messagesOf(logEntries []pluginlog.Entry) string {
	var messages []string
	for _, e := range logEntries {
		messages = append(messages, e.Message)
	}
	return strings.Join(messages, " ")
}

func (f *fixture) get(t *testing.T, path string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func TestFollowLogs(t *testing.T) {
	f := startFixture(t)
	f.addEntries(t, "a", wire.LogInfo, "old", "before")
	errStopFollowing := errors.New("done")
	var messages []string
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute) // without the timeout, a missing log entry would block all tests
	defer stop()
	q := LogQuery{Filter: pluginlog.Filter{Plugin: "a"}, MaxEntries: 1}
	err := NewClient(f.port, testToken).Logs.Follow(ctx, q, LogListener{
		Entry: func(e pluginlog.Entry) error {
			if messages = append(messages, e.Message); len(messages) == 2 {
				return errStopFollowing
			}
			f.addEntries(t, "b", wire.LogInfo, "other")
			f.addEntries(t, "a", wire.LogInfo, "after\nthat")
			return nil
		},
	})
	if !errors.Is(err, errStopFollowing) || strings.Join(messages, "|") != "before|after\nthat" {
		t.Errorf("followed messages = %q, error %v; want the last stored entry and the new entry", messages, err)
	}
}

func TestFollowLogsReportsMissedEntries(t *testing.T) {
	missedCount := 0
	l := LogListener{Missed: func(n int) error { missedCount = n; return nil }}
	if err := l.handleEvent(newEvent(missedEventName, `{"missed":7}`)); err != nil || missedCount != 7 {
		t.Errorf("number of missed log entries = %d, error %v; want 7", missedCount, err)
	}
	if l.handleEvent(newEvent(logEvent, "x")) == nil {
		t.Error("handleEvent accepted malformed JSON; want an error")
	}
}

// TestLogsEndWithTheServer checks that a stream of log entries sends comments while there
// are no entries, and ends when the server stops.
func TestLogsEndWithTheServer(t *testing.T) {
	f := startFixture(t)
	resp := f.get(t, "/logs?follow=1")
	firstBytes := make([]byte, len(": following\n\n: still here\n\n"))
	if _, err := io.ReadFull(resp.Body, firstBytes); err != nil || !strings.Contains(string(firstBytes), "still here") {
		t.Fatalf("first bytes of the log stream = %q, error %v; want the comment \"still here\"", firstBytes, err)
	}
	if err := f.api.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for e, err := range sse.Read(resp.Body, 1<<10) {
		if err != nil {
			break
		}
		t.Errorf("the log stream sent the event %v after the shutdown; want no events", e)
	}
}
