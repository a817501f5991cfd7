package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/dispatch/shape"
	"opentabs/internal/filestore"
	"opentabs/wire"
)

// runningCall starts a call that runs until the test ends, and returns the call's dispatcher, ID and page sink.
func runningCall(t *testing.T) (d *dispatch.Dispatcher, id string, sink dispatch.Sink) {
	t.Helper()
	sinks := make(chan dispatch.Sink, 1)
	ids := make(chan string, 1)
	d = dispatch.New(&dispatchtest.Bridge{StartFunc: func(_ context.Context, r dispatch.Run, s dispatch.Sink) *wire.CallError {
		sinks <- s
		ids <- r.ID
		return nil
	}}, dispatch.Options{})
	var callEnded = make(chan error)
	go func() {
		_, err := d.Call(context.Background(), dispatch.Call{Tool: dispatch.Tool{Plugin: "messages", Name: "export"}})
		callEnded <- err
	}()
	t.Cleanup(func() {
		d.Shutdown()
		<-callEnded
	})
	sink = <-sinks
	return d, <-ids, sink
}

func reportProgress(sink dispatch.Sink, progress float64) {
	sink.Reports([]wire.Report{{Progress: &progress}}, 0)
}

func resourceText(t *testing.T, m receivedMessage) string {
	t.Helper()
	var r struct {
		Contents []struct{ URI, MimeType, Text string }
	}
	if json.Unmarshal(m.Result, &r) != nil || len(r.Contents) != 1 || r.Contents[0].MimeType != "application/json" {
		t.Fatalf("reply = %s; want one resource of the type application/json", m.messageJSON)
	}
	return r.Contents[0].Text
}

func readText(uri, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q,"_meta":%s}}`, uri, meta)
}

func (s *testServer) requestAsModernClient(t *testing.T, method, name, requestBody string) (int, receivedMessage) {
	t.Helper()
	c := s.modernClient(t)
	c.headers.Set("Mcp-Method", method)
	c.headers.Set("Mcp-Name", name)
	res := c.postRequest(t.Context(), requestBody)
	return res.StatusCode, readMessages(t, res)[0]
}

func TestResourcesAreRead(t *testing.T) {
	d, id, sink := runningCall(t)
	progressValue, totalProgress := 3.0, 10.0
	sink.Reports([]wire.Report{
		{Progress: &progressValue, Total: &totalProgress, Message: "page 3"},
		{Activity: &wire.Activity{Type: "table", Content: json.RawMessage(`{"rows":[1]}`)}},
	}, 0)
	s := serveTools(t, d, Options{CallWatcher: d})
	c := s.open(t, "a")
	uri := "opentabs://calls/" + id
	httpStatus, modernResponse := s.requestAsModernClient(t, "resources/read", uri, readText(uri, modernMeta))
	for how, m := range map[string]receivedMessage{"sessions": c.call(readText(uri, `{}`)), "modern": modernResponse} {
		var v dispatch.View
		if err := json.Unmarshal([]byte(resourceText(t, m)), &v); err != nil {
			t.Fatal(err)
		}
		if v.CallID != id || v.Schema != dispatch.SnapshotSchema || *v.Progress != 0.3 || v.Message != "page 3" || len(v.Activities) != 1 || v.Activities[0].Type != "table" {
			t.Errorf("%s: resource of the call = %+v; want progress 0.3, the text \"page 3\" and one table", how, v)
		}
	}
	if httpStatus != http.StatusOK || !strings.Contains(modernResponse.messageJSON, `"ttlMs":0,"cacheScope":"private","resultType":"complete"`) {
		t.Errorf("status %d, answer %s; want status 200 and the fields ttlMs, cacheScope and resultType", httpStatus, modernResponse.messageJSON)
	}
	var callList shape.List
	if json.Unmarshal([]byte(resourceText(t, c.call(readText("opentabs://calls", `{}`)))), &callList) != nil || len(callList.Calls) != 1 || callList.Calls[0].CallID != id || callList.OmittedCount != 0 {
		t.Errorf("resource opentabs://calls = %+v; want one call, none omitted", callList)
	}
}

// TestTimedOutCallResourceIsFailed checks that the resource of a timed-out call has the status
// "failed", as tool-call-progress.v1 requires.
func TestTimedOutCallResourceIsFailed(t *testing.T) {
	v := dispatch.View{Result: "secret"}
	v.Status = wire.StatusTimedOut
	if hideCallResult(&v); v.Status != wire.StatusFailed || v.Result != "" {
		t.Errorf("resource of the timed-out call = %+v; want the status failed and no result", v)
	}
}

func TestUnknownResources(t *testing.T) {
	d, id, _ := runningCall(t)
	s := serveTools(t, d, Options{CallWatcher: d})
	for _, uri := range []string{"opentabs://calls/call_x", "opentabs://calls/", "opentabs://calls/" + id + "/x", "file:///etc/passwd", ""} {
		name := uri
		if uri == "" {
			name = "x"
		}
		httpStatus, modernResponse := s.requestAsModernClient(t, "resources/read", name, readText(uri, modernMeta))
		if uri != "" && (modernResponse.Error == nil || modernResponse.Error.Code != -32602 || httpStatus != http.StatusBadRequest || !strings.Contains(modernResponse.messageJSON, `"data":{"uri":"`+uri+`"}`)) {
			t.Errorf("URI %q: status %d, answer %s; want status 400 and the error -32602", uri, httpStatus, modernResponse.messageJSON)
		}
		for method, m := range map[string]receivedMessage{
			"read":      s.open(t, "a").call(readText(uri, `{}`)),
			"subscribe": s.open(t, "a").call(strings.Replace(readText(uri, `{}`), "resources/read", "resources/subscribe", 1)),
		} {
			if m.Error == nil || m.Error.Code != -32002 && uri != "" || uri != "" && !strings.Contains(m.Error.Message, "Read opentabs://calls") {
				t.Errorf("%s of the URI %q: answer %s; want the error -32002 that recommends opentabs://calls", method, uri, m.messageJSON)
			}
		}
	}
	serverWithoutCalls := serveTools(t, d, Options{})
	if m := serverWithoutCalls.open(t, "a").call(readText("opentabs://calls", `{}`)); m.Error == nil || m.Error.Code != -32601 {
		t.Error(m.messageJSON)
	}
	httpStatus, m := serverWithoutCalls.requestAsModernClient(t, "resources/read", "opentabs://calls", readText("opentabs://calls", modernMeta))
	if m.Error == nil || m.Error.Code != -32601 || httpStatus != http.StatusNotFound {
		t.Errorf("status %d, answer %s; want status 404 and the error -32601", httpStatus, m.messageJSON)
	}
}

func TestCallListIsBounded(t *testing.T) {
	d := callCountWatcher(maxListedCalls + 7)
	var callList shape.List
	m := serveTools(t, callerReturning(`1`), Options{CallWatcher: d}).open(t, "a").call(readText("opentabs://calls", `{}`))
	if json.Unmarshal([]byte(resourceText(t, m)), &callList) != nil || len(callList.Calls) != maxListedCalls || callList.OmittedCount != 7 {
		t.Errorf("resource opentabs://calls with %d calls, %d omitted; want %d and 7", len(callList.Calls), callList.OmittedCount, maxListedCalls)
	}
}

type callCountWatcher int

func (n callCountWatcher) Calls() []dispatch.View          { return make([]dispatch.View, n) }
func (callCountWatcher) Find(string) (dispatch.View, bool) { return dispatch.View{}, true }
func (callCountWatcher) Subscribe(dispatch.SubscribeOptions) *dispatch.Subscriber {
	return dispatch.New(nil, dispatch.Options{}).Subscribe(dispatch.SubscribeOptions{})
}

// TestSubscribersAreNotified checks that a resource's subscribers are notified of its changes, and once more after the
// last change.
func TestSubscribersAreNotified(t *testing.T) {
	d, id, sink := runningCall(t)
	s := serveTools(t, d, Options{CallWatcher: d})
	uri := "opentabs://calls/" + id
	subscribe := strings.Replace(readText(uri, `{}`), "resources/read", "resources/subscribe", 1)

	p := s.dial(t)
	p.initialize("stdio")
	p.sendMessage(subscribe)
	if m := p.mustReadMessage(); m.Result == nil {
		t.Fatal(m.messageJSON)
	}
	c := s.open(t, "http")
	c.call(subscribe)
	res := c.do(c.newRequest(t.Context(), http.MethodGet, ""))
	defer res.Body.Close()
	get := newEvents(res.Body)
	modernClient := s.modernClient(t)
	modernClient.headers.Set("Mcp-Method", "subscriptions/listen")
	modernClient.headers.Del("Mcp-Name")
	listenResponse := modernClient.postRequest(t.Context(), `{"jsonrpc":"2.0","id":12345678901234567890,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["`+uri+`"]},"_meta":`+modernMeta+`}}`)
	defer listenResponse.Body.Close()
	listen := newEvents(listenResponse.Body)
	if eventData, _ := listen.readEventData(); !strings.Contains(eventData, `acknowledged`) || !strings.Contains(eventData, uri) {
		t.Fatal(eventData)
	}

	const largeSubscriptionID = `"io.modelcontextprotocol/subscriptionId":12345678901234567890`
	expectMessages := func(description string) {
		t.Helper()
		want := `"method":"notifications/resources/updated","params":{`
		if m := p.mustReadMessage(); !strings.Contains(m.messageJSON, want) || !strings.Contains(m.messageJSON, uri) {
			t.Errorf("%s: message over stdio = %s; want an update of %s", description, m.messageJSON, uri)
		}
		if eventData, _ := get.readEventData(); !strings.Contains(eventData, want) || !strings.Contains(eventData, uri) {
			t.Errorf("%s: event in the GET stream = %s; want an update of %s", description, eventData, uri)
		}
		if eventData, _ := listen.readEventData(); !strings.Contains(eventData, want) || !strings.Contains(eventData, uri) || !strings.Contains(eventData, largeSubscriptionID) {
			t.Errorf("%s: event in the listen stream = %s; want an update of %s", description, eventData, uri)
		}
	}
	reportProgress(sink, 1)
	expectMessages("a report")
	reportProgress(sink, 2)
	expectMessages("the next, when its time has come")

	p.sendMessage(strings.Replace(subscribe, "subscribe", "unsubscribe", 1))
	if m := p.mustReadMessage(); m.Result == nil {
		t.Error(m.messageJSON)
	}
	if code, _ := c.status(c.newRequest(t.Context(), http.MethodDelete, "")); code != http.StatusOK {
		t.Error(code)
	}
	s.resources.mu.Lock()
	if s.resources.subscriptionCount != 1 {
		t.Errorf("the server still has %d subscriptions; want 1", s.resources.subscriptionCount)
	}
	s.resources.mu.Unlock()
	sink.Finish(json.RawMessage(`1`), nil)
	if eventData, _ := listen.readEventData(); !strings.Contains(eventData, uri) {
		t.Error(eventData)
	}
	p.sendMessage(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	if m := p.mustReadMessage(); string(m.ID) != "9" {
		t.Errorf("message after the unsubscribe request = %s; want the answer with the ID %q", m.messageJSON, "9")
	}
}

// TestResourceUpdatesAreRateLimited checks that each resource has at most two notifications per second, and always one
// after the last change.
func TestResourceUpdatesAreRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, id, sink := runningCall(t)
		w := newResources(d, nil)
		l := newSubscriber(w)
		for _, uri := range []string{callsURI, callsURI + "/" + id} {
			if err := l.subscribe(uri); err != nil {
				t.Fatal(err)
			}
		}
		type receivedLine struct {
			uri string
			at  time.Duration
		}
		var notifications []receivedLine
		startTime := time.Now()
		expectMessages := func(waitLimit time.Duration) {
			ctx, cancel := context.WithDeadline(t.Context(), startTime.Add(waitLimit))
			defer cancel()
			for ctx.Err() == nil {
				for _, uri := range l.awaitChangedURIs(ctx) {
					notifications = append(notifications, receivedLine{uri, time.Since(startTime)})
				}
			}
		}
		go func() {
			for i := range 21 { // the 21 reports take 2.0 s in total
				reportProgress(sink, float64(i))
				<-time.After(100 * time.Millisecond)
			}
		}()
		expectMessages(10 * time.Second)
		var at []time.Duration
		for _, h := range notifications {
			if h.uri == callsURI {
				t.Errorf("update of opentabs://calls at %s; want updates only of the call's resource", h.at)
			}
			at = append(at, h.at)
		}
		const maxEventDelay = 60 * time.Millisecond // maxEventDelay is the longest time from a change to its event
		if n := len(at); n < 5 || n > 6 || at[0] > maxEventDelay || at[n-1] < 2*time.Second || at[n-1] > 2500*time.Millisecond+maxEventDelay {
			t.Errorf("times of the call's updates = %s; want 5 or 6, the last soon after the last change", at)
		}
		notifications = nil
		sink.Finish(nil, nil)
		expectMessages(11 * time.Second)
		if len(notifications) != 2 {
			t.Errorf("notifications at the end of the call = %v; want 2", notifications)
		}
		w.close()
		d.Shutdown()
	})
}

func TestSlowSubscriberGetsOneNotification(t *testing.T) {
	w := newResources(callCountWatcher(1), nil)
	defer w.close()
	l := newSubscriber(w)
	uri := callsURI + "/call_1"
	if err := l.subscribe(uri); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		l.RecordChange(uri)
	}
	if notifications := l.awaitChangedURIs(t.Context()); len(notifications) != 1 {
		t.Errorf("the subscriber received %d notifications; want 1", len(notifications))
	}
}

func TestSubscriptionsAreBounded(t *testing.T) {
	w := newResources(callCountWatcher(1), nil)
	defer w.close()
	var listeners []*subscriber
	totalCount, refusedCount := 0, 0
	for n := 0; totalCount < maxAllSubscriptions; n++ {
		l := newSubscriber(w)
		listeners = append(listeners, l)
		for i := range maxSubscriptions + 1 {
			uri := fmt.Sprintf("%s/call_%d", callsURI, i)
			switch err := l.subscribe(uri); {
			case err == nil:
				totalCount++
			case errors.Is(err, errTooManySubscriptions) && (i == maxSubscriptions || totalCount == maxAllSubscriptions):
				refusedCount++
			default:
				t.Fatal(err)
			}
			_ = l.subscribe(uri) // a second subscription to the same URI has no effect
		}
	}
	if totalCount != maxAllSubscriptions || refusedCount == 0 || len(w.subscribedByURI) != maxSubscriptions {
		t.Errorf("%d accepted subscriptions, %d rejected, %d resources; want %d, more than 0, and %d", totalCount, refusedCount, len(w.subscribedByURI), maxAllSubscriptions, maxSubscriptions)
	}
	for _, l := range listeners {
		w.Drop(l.Subscriber)
	}
	if w.subscriptionCount != 0 || len(w.subscribedByURI) != 0 || w.subscription != nil {
		t.Errorf("after the end: %d subscriptions, %d resources, subscriber %v; want 0, 0 and nil", w.subscriptionCount, len(w.subscribedByURI), w.subscription)
	}
}

// TestMissedEventsUpdateAllResources checks a resource subscriber that missed call events: all its
// resources must count as changed.
func TestMissedEventsUpdateAllResources(t *testing.T) {
	w := newResources(callCountWatcher(1), nil)
	defer w.close()
	l := newSubscriber(w)
	for _, uri := range []string{callsURI, callsURI + "/a", callsURI + "/b"} {
		if err := l.subscribe(uri); err != nil {
			t.Fatal(err)
		}
	}
	w.notifyEvents(nil, true)
	if notifications := l.awaitChangedURIs(t.Context()); len(notifications) != 3 {
		t.Errorf("notifications for the subscriber = %v; want 3", notifications)
	}
}

// TestReadCallFiles checks that an MCP client can read the files that its calls wrote. A
// text file is sent as text, and any other file as base64.
func TestReadCallFiles(t *testing.T) {
	d, _, _ := runningCall(t)
	files := filestore.Open(t.TempDir())
	s := serveTools(t, d, Options{CallWatcher: d, Files: files})
	c := s.open(t, "a")
	addFile := func(name, mediaType, client, content string) string {
		f, err := files.Add(filestore.File{Name: name, MediaType: mediaType, Client: client}, []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		return f.URI()
	}
	for _, testCase := range []struct{ name, mediaType, content, want string }{
		{"a.har", "application/json", `{"log":{}}`, `"text":"{\"log\":{}}"`},
		{"a.txt", "text/plain", "é\n", `"text":"é\n"`},
		{"a.txt", "text/plain", "\xff", `"blob":"/w=="`},
		{"a.pdf", "application/pdf", "%PDF", `"blob":"JVBERg=="`},
	} {
		uri := addFile(testCase.name, testCase.mediaType, "a", testCase.content)
		want := fmt.Sprintf(`{"contents":[{"uri":%q,"mimeType":%q,%s}]}`, uri, testCase.mediaType, testCase.want)
		if got := c.call(readText(uri, `{}`)); string(got.Result) != want {
			t.Errorf("answer for %s = %s, want the result %s", testCase.name, got.messageJSON, want)
		}
	}
	for _, uri := range []string{addFile("b.har", "application/json", "another client", "{}"), "opentabs://files/", "opentabs://files/../token", "opentabs://files/%2e%2e"} {
		m := c.call(readText(uri, `{}`))
		if m.Error == nil || !strings.Contains(m.Error.Message, "You have no file") {
			t.Errorf("answer for %s = %s, want the error of a file that does not exist", uri, m.messageJSON)
		}
	}
}
