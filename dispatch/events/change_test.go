package events

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"opentabs/wire"
)

func decodeCompleteResult(toolOutput json.RawMessage) string {
	outputText := string(toolOutput)
	if len(toolOutput) > 0 && toolOutput[0] == '"' && len(toolOutput) <= maxDecodedResult {
		var s string
		if json.Unmarshal(toolOutput, &s) == nil {
			outputText = s
		}
	}
	if len(outputText) <= maxResultText {
		return outputText
	}
	return TruncateText([]byte(outputText), maxResultText) + "…"
}

func FuzzResultStart(f *testing.F) {
	for _, s := range []string{"", "a", `\u0041`, `\ud83d\ude00`, `\"`, `\\`, "ü", "€", "😀", `\ud83d`, "\xff", `\n`} {
		for _, callCount := range []int{1, 399, 400, 401, 408, 409, 500, 3000, 20_000} {
			for _, prefix := range []string{"", "x", "xy"} {
				f.Add([]byte(`"` + prefix + strings.Repeat(s, callCount) + `"`))
			}
		}
	}
	f.Add([]byte(`{"a":"` + strings.Repeat("ü", 300) + `"}`))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, output []byte) {
		if !json.Valid(output) && len(output) > 0 {
			return
		}
		resultStart := NewResultStart(output)
		if len(resultStart.encodedStart) > maxTextStart {
			t.Errorf("the stored start of the result has %d bytes, want at most %d", len(resultStart.encodedStart), maxTextStart)
		}
		got, want := resultStart.Text(), decodeCompleteResult(output)
		if got != want {
			t.Errorf("text of the result %.80q (%d bytes):\n got %q\nwant %q", output, len(output), got, want)
		}
		if utf8.Valid(output) && !utf8.ValidString(got) {
			t.Errorf("text of the result = %q, want valid UTF-8", got)
		}
	})
}

func TestRunningCallHasNoResult(t *testing.T) {
	v := NewView(&CallFacts{CallID: "call_1", Plugin: "p", Tool: "t"}, &State{Status: wire.StatusRunning})
	encodedJSON, err := json.Marshal(v)
	if err != nil || v.Result != "" || strings.Contains(string(encodedJSON), "result") {
		t.Errorf("JSON of the view = %s, error %v; want no result and no error", encodedJSON, err)
	}
}

func TestFullChangeQueueDropsOldestChange(t *testing.T) {
	var q changeQueue
	newChange := func(n int, message string) Change {
		d := &Details{}
		d.State.Reports.Count, d.State.Error = n, message
		return Change{Kind: KindProgress, Time: time.Unix(int64(n), 0), Details: d}
	}
	checkQueue := func(wantFirstNumber, wantCount int) {
		t.Helper()
		bytes := 0
		for i := range q.count {
			c := q.at(i)
			if got := c.Details.State.Reports.Count; got != wantFirstNumber+i {
				t.Fatalf("change %d in the queue has the number %d, want %d", i, got, wantFirstNumber+i)
			}
			bytes += c.size
		}
		if q.count != wantCount || q.bytes != bytes {
			t.Errorf("the queue contains %d changes and counts %d bytes, want %d changes and %d bytes", q.count, q.bytes, wantCount, bytes)
		}
	}
	for n := range 100 {
		q.push(newChange(n, ""))
	}
	checkQueue(0, 100)
	for n := 100; n < maxRingEvents+500; n++ {
		q.push(newChange(n, ""))
	}
	checkQueue(500, maxRingEvents)
	slotCount := len(q.slots)
	q.reset()
	if q.count != 0 || q.bytes != 0 || len(q.slots) != slotCount || q.slots[0].Details != nil {
		t.Errorf("a full queue after reset has %d changes, %d bytes and %d slots; want 0, 0 and %d", q.count, q.bytes, len(q.slots), slotCount)
	}
	longText := strings.Repeat("x", 1<<20)
	for n := range 20 {
		q.push(newChange(n, longText))
	}
	checkQueue(13, 7)
	q.push(newChange(20, strings.Repeat(longText, 9)))
	checkQueue(20, 1)
	q.push(newChange(21, ""))
	checkQueue(21, 1)
	q.reset()
	if len(q.slots) != 0 {
		t.Errorf("a nearly empty queue keeps %d slots, want 0", len(q.slots))
	}
}

func TestUnreadEventsAreNotBuilt(t *testing.T) {
	var s Stream
	f := s.Subscribe(SubscribeOptions{})
	defer f.Close()
	const droppedEvents = 100
	for n := range maxRingEvents + droppedEvents {
		s.Publish(Change{Kind: KindCreated, Time: time.Now(), Call: &CallFacts{CallID: fmt.Sprint(n)}})
	}
	s.ringMu.RLock()
	newestSeq := s.newestSeq
	s.ringMu.RUnlock()
	if newestSeq != 0 || s.queue.count != maxRingEvents {
		t.Errorf("the stream made %d events while no subscriber read, and %d changes wait; want 0 and %d", newestSeq, s.queue.count, maxRingEvents)
	}
	events, missedCount, err := f.Next(t.Context())
	if err != nil || missedCount != droppedEvents || len(events) != maxNextEvents || events[0].Seq != droppedEvents+1 || events[0].Call.CallID != fmt.Sprint(droppedEvents) {
		t.Fatalf("the subscriber read %d events and missed %d, error %v; want %d events, and %d missed", len(events), missedCount, err, maxNextEvents, droppedEvents)
	}
	if events[0].Call.Status != "queued" || s.queue.count != 0 {
		t.Errorf("first event = %+v, and %d changes wait in the queue; want a queued call and no waiting changes", events[0], s.queue.count)
	}
}
