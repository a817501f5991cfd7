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
		t.Fatal("exit code", code)
	}
	return strings.Split(strings.TrimSpace(outBuffer.String()), "\n")
}

func TestCalls(t *testing.T) {
	floor := httptest.NewServer(newFloorServer())
	defer floor.Close()
	responseLines := runRequests(t,
		fmt.Sprintf(`{"do":"connect","target":"plain","url":"%s/echo"}`, floor.URL),
		`{"do":"calls","target":"plain","tool":"t","args":{"a":1},"calls":10,"inFlight":3}`,
		`{"do":"calls","target":"other"}`,
	)
	var got struct{ OK callsMeasurement }
	if err := json.Unmarshal([]byte(responseLines[1]), &got); err != nil {
		t.Fatal(err)
	}
	if m := got.OK; len(m.EachNs) != 10 || m.Failed != 0 || m.AllNs <= 0 || m.Bytes < len(`{"params":{}}`) {
		t.Errorf("calls: %s", responseLines[1])
	}
	if want := `{"failed":"there is no target \"other\": connect first"}`; responseLines[2] != want {
		t.Errorf("got %s, want %s", responseLines[2], want)
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

func TestStream(t *testing.T) {
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
	if len(s.Events) != 1 || s.Events[0].AtMs < s.BeganMs || s.EndedMs < s.Events[0].AtMs || !bytes.Contains(s.Result, []byte("isError")) {
		t.Errorf("stream: %s", responseLines[1])
	}
	if !strings.Contains(responseLines[2], `"failed":2`) {
		t.Errorf("calls that end with an error are not counted: %s", responseLines[2])
	}
	if !strings.Contains(responseLines[3], "401") {
		t.Errorf("a wrong token: %s; want a text that contains %q", responseLines[3], "401")
	}
}

func TestCancel(t *testing.T) {
	var notified = make(chan string, 1)
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
			notified <- <-notified // the fake server waits for the client's cancellation
		case "notifications/cancelled":
			notified <- string(m.Params)
		}
	}))
	defer server.Close()
	responseLines := runRequests(t, fmt.Sprintf(`{"do":"connect","target":"ours","url":%q}`, server.URL),
		`{"do":"cancel","target":"ours","tool":"t","args":{}}`)
	if !strings.Contains(responseLines[1], "sentMs") {
		t.Errorf("cancel: %s; want a text that contains %q", responseLines[1], "sentMs")
	}
	if got, want := <-notified, `{"reason":"bench","requestId":1}`; got != want {
		t.Errorf("the notification's params are %s, want %s", got, want)
	}
}

func TestRunRefuses(t *testing.T) {
	var stderr bytes.Buffer
	if code := run([]string{"other"}, nil, nil, &stderr); code != 1 || !strings.Contains(stderr.String(), "give client, floor, instant, followers or smoke") {
		t.Errorf("exit code %d, %s", code, &stderr)
	}
}
