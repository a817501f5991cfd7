package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func runRequests(t *testing.T, requests ...string) []string {
	t.Helper()
	var outBuffer bytes.Buffer
	if code := run([]string{"client"}, strings.NewReader(strings.Join(requests, "\n")+"\n"), &outBuffer, t.Output()); code != 0 {
		t.Fatalf("exit code of `bench client` = %d; want 0", code)
	}
	return strings.Split(strings.TrimSpace(outBuffer.String()), "\n")
}

func TestCallsMeasuresDurations(t *testing.T) {
	baselineServer := httptest.NewServer(newBaselineServer())
	defer baselineServer.Close()
	responseLines := runRequests(t,
		fmt.Sprintf(`{"do":"connect","target":"plain","url":"%s/echo"}`, baselineServer.URL),
		`{"do":"calls","target":"plain","tool":"t","args":{"a":1},"calls":10,"inFlight":3}`,
		`{"do":"calls","target":"other"}`,
	)
	var got struct{ OK callsMeasurement }
	if err := json.Unmarshal([]byte(responseLines[1]), &got); err != nil {
		t.Fatal(err)
	}
	if m := got.OK; len(m.CallDurationsNs) != 10 || m.FailedCalls != 0 || m.TotalNs <= 0 || m.Bytes < len(`{"params":{}}`) {
		t.Errorf("response to the request \"calls\" = %s; want the times of 10 calls without failures", responseLines[1])
	}
	if want := `{"failed":"there is no target \"other\": connect first"}`; responseLines[2] != want {
		t.Errorf("response for an unknown target = %s, want %s", responseLines[2], want)
	}
}

func newFailingServer(t *testing.T) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			Method string
			ID     any
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		switch {
		case m.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
			fmt.Fprint(w, `{}`)
		case r.Header.Get("Mcp-Session-Id") != "s1":
			http.Error(w, "no session", http.StatusNotFound)
		case m.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "event: message\ndata: {\"method\":\"notifications/progress\"}\n\n")
			fmt.Fprint(w, "event: message\ndata: {\"result\":{\"content\":[],\"isError\":true}}\n\n")
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
}

func TestStreamMeasuresNotifications(t *testing.T) {
	server := newFailingServer(t)
	defer server.Close()
	connect := fmt.Sprintf(`{"do":"connect","target":"ours","url":%q,"token":"secret"}`, server.URL)
	responseLines := runRequests(t, connect,
		`{"do":"stream","target":"ours","tool":"t","args":{}}`,
		`{"do":"calls","target":"ours","tool":"t","args":{},"calls":2}`,
		strings.Replace(connect, "secret", "wrong", 1),
	)
	var got struct{ OK streamMeasurement }
	if err := json.Unmarshal([]byte(responseLines[1]), &got); err != nil {
		t.Fatal(err)
	}
	s := got.OK
	if len(s.Events) != 1 || s.Events[0].ReadAtMs < s.StartedAtMs || s.EndedAtMs < s.Events[0].ReadAtMs || !bytes.Contains(s.Result, []byte("isError")) {
		t.Errorf("response to the request \"stream\" = %s; want one event in time order, and an error result", responseLines[1])
	}
	if !strings.Contains(responseLines[2], `"failed":2`) {
		t.Errorf("response to 2 failing calls = %s; want \"failed\":2 in it", responseLines[2])
	}
	if !strings.Contains(responseLines[3], "401") {
		t.Errorf("response for a wrong token = %s; want a text that contains %q", responseLines[3], "401")
	}
}

func TestCancelSendsNotification(t *testing.T) {
	var notifications = make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			Method string
			Params json.RawMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		switch m.Method {
		case "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {}\n\n")
			_ = http.NewResponseController(w).Flush()
			notifications <- <-notifications // the fake server waits for the client's cancellation
		case "notifications/cancelled":
			notifications <- string(m.Params)
		}
	}))
	defer server.Close()
	responseLines := runRequests(t, fmt.Sprintf(`{"do":"connect","target":"ours","url":%q}`, server.URL),
		`{"do":"cancel","target":"ours","tool":"t","args":{}}`)
	if !strings.Contains(responseLines[1], "sentMs") {
		t.Errorf("response to the request \"cancel\" = %s; want a text that contains %q", responseLines[1], "sentMs")
	}
	if got, want := <-notifications, `{"reason":"bench","requestId":1}`; got != want {
		t.Errorf("params of the notification \"cancelled\" = %s, want %s", got, want)
	}
}

func TestRunRejectsUnknownMode(t *testing.T) {
	var stderr bytes.Buffer
	if code := run([]string{"other"}, nil, nil, &stderr); code != 1 || !strings.Contains(stderr.String(), "give client, floor, instant, subscribers or smoke") {
		t.Errorf("unknown mode: exit code %d, stderr %q; want exit code 1 and the list of modes", code, &stderr)
	}
}
