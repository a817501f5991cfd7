package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/sse"
	"opentabs/wire"
)

func TestFollowReceivesEvents(t *testing.T) {
	f := startFixture(t)
	number := 0.5
	errStopFollowing := errors.New("done")
	var kinds []string
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute) // without the timeout, a missing event would block all tests
	defer stop()
	err := NewClient(f.port, testToken).Calls.Follow(ctx, dispatch.SubscribeOptions{}, Listener{
		StreamStarted: func() error {
			_, sink := f.call(t)
			sink.Reports([]wire.Report{{Progress: &number, Message: "half"}}, 0)
			sink.Finish(json.RawMessage(`1`), nil)
			return nil
		},
		Event: func(e dispatch.Event, rawJSON []byte) error {
			kinds = append(kinds, string(e.Kind))
			var decodedEvent dispatch.Event
			if err := json.Unmarshal(rawJSON, &decodedEvent); err != nil || decodedEvent.Seq != e.Seq {
				t.Errorf("JSON of the event = %s, error %v; want the sequence number %d", rawJSON, err, e.Seq)
			}
			if e.Kind == dispatch.EventEnded {
				return errStopFollowing
			}
			return nil
		},
	})
	if !errors.Is(err, errStopFollowing) {
		t.Fatal(err)
	}
	if got := strings.Join(kinds, " "); got != "created running progress ended" {
		t.Errorf("events of the call = %q; want %q", got, "created running progress ended")
	}
}

func TestFollowReportsMissedEvents(t *testing.T) {
	var missedCount int
	l := Listener{Missed: func(n int) error { missedCount = n; return nil }}
	if err := l.handleEvent(newEvent(missedEventName, `{"missed":7}`)); err != nil || missedCount != 7 {
		t.Errorf("number of missed events = %d, error %v; want 7", missedCount, err)
	}
	for _, e := range []struct{ name, eventData string }{{missedEventName, "x"}, {"created", "x"}} {
		if l.handleEvent(newEvent(e.name, e.eventData)) == nil {
			t.Errorf("handleEvent accepted the event %s with the data %s; want an error", e.name, e.eventData)
		}
	}
}

func (f *fixture) openEvents(t *testing.T, query, lastEventID string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	if lastEventID != "" {
		req.Header.Set("Last-Event-ID", lastEventID)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func readEvents(t *testing.T, resp *http.Response, n int) (names string, lastEvent sse.Event) {
	t.Helper()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status of the event stream = %s; want 200", resp.Status)
	}
	var eventNames []string
	for e, err := range sse.Read(resp.Body, maxAnswerBytes) {
		if err != nil {
			t.Fatal(err)
		}
		if eventNames, lastEvent = append(eventNames, e.Name), e; len(eventNames) == n {
			break
		}
	}
	return strings.Join(eventNames, " "), lastEvent
}

func TestEventsResume(t *testing.T) {
	f := startFixture(t)
	firstStream := f.openEvents(t, "", "")
	_, sink := f.call(t)
	sink.Reports([]wire.Report{{Message: "one"}, {Message: "two"}, {Message: "three"}}, 0)
	names, lastEvent := readEvents(t, firstStream, 3)
	if names != "created running progress" || lastEvent.ID != f.api.eventStreams.instanceID.id(3) {
		t.Fatalf("events %q, last event ID %s; want created, running and progress, and the sequence number 3", names, lastEvent.ID)
	}
	for resumeSource, resp := range map[string]*http.Response{
		"Last-Event-ID":                   f.openEvents(t, "", lastEvent.ID),
		"after":                           f.openEvents(t, "?after="+lastEvent.ID, ""),
		"after, a bare sequence number":   f.openEvents(t, "?after=3", ""),
		"Last-Event-ID, newer than after": f.openEvents(t, "?after=1", lastEvent.ID),
	} {
		if names, e := readEvents(t, resp, 2); names != "progress progress" || !strings.Contains(string(e.Data), `"seq":5,`) {
			t.Errorf("stream resumed with %s: events %q, last event %s; want two progress events up to number 5", resumeSource, names, e.Data)
		}
	}
	// A client that reconnects with an event ID of another server process must receive a
	// "missed" event, whose number is unknown.
	for _, id := range []string{"aaaaaaaa-3", "3000"} {
		resp := f.openEvents(t, "", id)
		sink.Reports([]wire.Report{{Message: "more"}}, 0)
		if names, _ := readEvents(t, resp, 2); names != "missed progress" {
			t.Errorf("stream resumed after the event ID %s: events %q; want %q", id, names, "missed progress")
		}
	}
}

// The client must receive its position in the stream, even without matching events. Events that the filters exclude
// must not count as missed.
func TestFilteredStreamReportsPosition(t *testing.T) {
	f := startFixture(t)
	resp := f.openEvents(t, "?call=other", "")
	_, sink := f.call(t)
	for range 5000 {
		sink.Reports([]wire.Report{{Message: "x"}}, 0)
	}
	lines := bufio.NewScanner(resp.Body)
	want := "id: " + f.api.eventStreams.instanceID.id(5002)
	for lines.Scan() && lines.Text() != want {
	}
	if lines.Text() != want {
		t.Fatalf("the stream ended with the line %q; want the line %q before", lines.Text(), want)
	}
	_ = resp.Body.Close()
	resp = f.openEvents(t, "?call=other", f.api.eventStreams.instanceID.id(5002))
	lines = bufio.NewScanner(resp.Body)
	for _, want := range []string{": following", want, "", ": still here"} {
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("line of the resumed stream = %q, want %q", lines.Text(), want)
		}
	}
}

func TestEventsAreFiltered(t *testing.T) {
	f := startFixture(t)
	streams := map[string]*http.Response{}
	for _, query := range []string{"", "?tool=messages__echo", "?tool=messages", "?tool=other", "?audience=user", "?audience=internal"} {
		streams[query] = f.openEvents(t, query, "")
	}
	id, sink := f.call(t)
	// A client that disconnects before the first event reconnects with the position 0.
	streams["?call"] = f.openEvents(t, "?call="+id+"&after="+f.api.eventStreams.instanceID.id(0), "")
	sink.Reports([]wire.Report{
		{Message: "for me"}, {Message: "for you", Audience: "user"},
		{Activity: &wire.Activity{Type: "text", Content: json.RawMessage(`"x"`)}, Audience: "user"},
	}, 0)
	sink.Finish(nil, &wire.CallError{Code: wire.ErrToolError, Message: "no"})
	f.call(t)
	for query, want := range map[string]string{
		"": "created running progress progress activity ended created", "?call": "created running progress progress activity ended",
		"?tool=messages__echo": "created running progress", "?tool=messages": "created running progress",
		"?audience=user": "progress activity ended", "?audience=internal": "created running progress ended created",
	} {
		if names, _ := readEvents(t, streams[query], strings.Count(want, " ")+1); names != want {
			t.Errorf("events for the query %q = %q, want %q", query, names, want)
		}
	}
	lines := bufio.NewScanner(streams["?tool=other"].Body)
	for lines.Scan() && lines.Text() != ": still here" {
		if strings.HasPrefix(lines.Text(), "event:") {
			t.Errorf("the stream of ?tool=other contains %q; want no events", lines.Text())
		}
	}
}

func TestEventsRejectInvalidParameters(t *testing.T) {
	f := startFixture(t)
	for query, want := range map[string]string{
		"?calls=x":       `the parameter \"calls\" is not known, or is there twice: use after, audience, call, tool`,
		"?tool=a&tool=b": `the parameter \"tool\" is not known, or is there twice`,
		"?after=x":       `\"x\" is not the id of an event: give Last-Event-ID or after the id of the last event that you have`,
		"?after=-1":      `is not the id of an event`,
	} {
		if resp, body := f.sendRequest(t, "GET", "/events"+query, nil); resp.StatusCode != 400 || !strings.Contains(body, want) {
			t.Errorf("GET /events%s: status %d, body %s; want 400 and %q", query, resp.StatusCode, body, want)
		}
	}
	if resp, body := f.sendRequest(t, "GET", "/events", map[string]string{"Last-Event-ID": "a-b-c"}); resp.StatusCode != 400 {
		t.Errorf("GET /events with a bad Last-Event-ID: status %d, body %s; want 400", resp.StatusCode, body)
	}
}

func TestLargeEvents(t *testing.T) {
	f := startFixture(t)
	resp := f.openEvents(t, "", "")
	_, sink := f.call(t)
	largeJSON := `"` + strings.Repeat("x", 200<<10) + `"`
	for range 3 {
		sink.Reports([]wire.Report{
			{Message: "small"}, {Activity: &wire.Activity{Type: "text", Content: json.RawMessage(largeJSON)}},
		}, 0)
	}
	names, lastEvent := readEvents(t, resp, 8)
	var e dispatch.Event
	if err := json.Unmarshal(lastEvent.Data, &e); err != nil || string(e.Activity.Content) != largeJSON {
		t.Errorf("last event: %d bytes, error %v; want the whole activity of %d bytes", len(lastEvent.Data), err, len(largeJSON))
	}
	if names != "created running progress activity progress activity progress activity" {
		t.Errorf("events of the stream = %q; want %q", names, "created running progress activity progress activity progress activity")
	}
}

func TestEventsHeartbeat(t *testing.T) {
	f := startFixture(t)
	resp := f.openEvents(t, "", "")
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type of the stream = %q; want %q", got, "text/event-stream")
	}
	lines := bufio.NewScanner(resp.Body)
	eventIDLine := "id: " + f.api.eventStreams.instanceID.id(0)
	for _, want := range []string{": following", eventIDLine, "", ": still here", eventIDLine, "", ": still here"} {
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("line of the idle stream = %q, want %q", lines.Text(), want)
		}
	}
}

func TestFollowEndsWithServer(t *testing.T) {
	f := startFixture(t)
	err := NewClient(f.port, testToken).Calls.Follow(context.Background(), dispatch.SubscribeOptions{}, Listener{
		StreamStarted: func() error { return f.api.Shutdown(context.Background()) },
	})
	if !errors.Is(err, ErrStreamEnded) {
		t.Errorf("Follow ended with the error %v; want %v", err, ErrStreamEnded)
	}
}

// TestFollowFailsIfServerStopsEarly checks that Follow returns ErrStreamEnded if the server
// stops before it responds.
func TestFollowFailsIfServerStopsEarly(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	err = NewClient(listener.Addr().(*net.TCPAddr).Port, testToken).Calls.Follow(context.Background(), dispatch.SubscribeOptions{}, Listener{})
	if !errors.Is(err, ErrStreamEnded) {
		t.Errorf("Follow returned %v; want the error %v", err, ErrStreamEnded)
	}
}

// In an activity of the type "tool-call-progress", the status must be "running" while the tool runs, and "done" at the
// end.
func TestProgressActivityStatus(t *testing.T) {
	f := startFixture(t)
	var statuses, activityMessages []string
	errStopFollowing := errors.New("done")
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	err := NewClient(f.port, testToken).Calls.Follow(ctx, dispatch.SubscribeOptions{}, Listener{
		StreamStarted: func() error {
			_, sink := f.call(t)
			progress, totalProgress := 0.1, 1.0
			sink.Reports([]wire.Report{
				{Status: "indexing", Message: "Starting indexing"},
				{Progress: &progress, Total: &totalProgress, Message: "Indexed batch 1/10"},
				{Activity: &wire.Activity{Type: "code-generation", Content: json.RawMessage(`"fn hello() {}"`)}},
				{Activity: &wire.Activity{Type: "code-generation", Patch: json.RawMessage(`[{"op":"replace","path":"","value":""}]`)}},
				{Progress: &totalProgress, Total: &totalProgress, Message: "Indexing complete"},
			}, 0)
			sink.Finish(json.RawMessage(`{"indexed":10}`), nil)
			return nil
		},
		Event: func(e dispatch.Event, rawJSON []byte) error {
			var got struct {
				Type         string
				ActivityType string `json:"activity_type"`
				Replace      bool
				Content      dispatch.Snapshot
				Report       *wire.Report
			}
			if err := json.Unmarshal(rawJSON, &got); err != nil {
				return err
			}
			if got.ActivityType != "tool-call-progress" {
				activityMessages = append(activityMessages, got.Type+" "+got.ActivityType)
				if e.Kind == dispatch.EventEnded {
					return fmt.Errorf("the last event is not a progress snapshot: %s", rawJSON)
				}
				return nil
			}
			if got.Type != "ActivitySnapshot" || !got.Replace || got.Content.Schema != "tool-call-progress.v1" || got.Content.CallID != e.Call.CallID {
				t.Errorf("progress activity = %s; want a replacing ActivitySnapshot of the call", rawJSON)
			}
			if got.Report != nil && got.Report.Status != "" && got.Report.Status != "indexing" {
				t.Errorf("status word of the tool = %q; want indexing", got.Report.Status)
			}
			if status := string(got.Content.Status); len(statuses) == 0 || statuses[len(statuses)-1] != status {
				statuses = append(statuses, status)
			}
			if e.Kind == dispatch.EventEnded {
				return errStopFollowing
			}
			return nil
		},
	})
	if !errors.Is(err, errStopFollowing) {
		t.Fatal(err)
	}
	if got := strings.Join(statuses, " "); got != "pending running done" {
		t.Errorf("statuses of the call = %q; want %q", got, "pending running done")
	}
	if got := strings.Join(activityMessages, ", "); got != "ActivitySnapshot code-generation, ActivityDelta code-generation" {
		t.Errorf("activities of other types = %q; want %q", got, "ActivitySnapshot code-generation, ActivityDelta code-generation")
	}
}
