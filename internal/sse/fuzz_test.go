package sse

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"data: a\n\n", "event: x\r\nid: 7\r\ndata: a\r\ndata:\r\n\r\n", ": c\n\nretry: 5\n\ndata\ndata: b\n\n", "data: incomplete\n", "id\n\n\ndata:\n\n",
		"\ufeffdata: a\n\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		const limit = 1 << 10
		want, isWithinLimit := parseEventsBySpec(stream, limit)
		eventsAtOnce := readAll(Read(strings.NewReader(stream), limit))
		eventsByByte := readAll(Read(iotest.OneByteReader(strings.NewReader(stream)), limit))
		if eventsAtOnce != eventsByByte {
			t.Fatalf("stream %q: events if read\nas a whole: %s\nin pieces:  %s\nwant equal events", stream, eventsAtOnce, eventsByByte)
		}
		if isWithinLimit && eventsAtOnce != want {
			t.Fatalf("events of the stream %q:\n got %s\nwant %s", stream, eventsAtOnce, want)
		}
	})
}

func readAll(events func(func(Event, error) bool)) string {
	var got strings.Builder
	for e, err := range events {
		if errors.Is(err, errTooLarge) {
			return got.String() + "too large"
		}
		fmt.Fprintf(&got, "%q %q %q %v\n", e.Name, e.ID, e.Data, err)
	}
	return got.String()
}

// parseEventsBySpec parses a whole stream by section 9.2.6 of the HTML standard.
func parseEventsBySpec(stream string, limit int) (events string, isWithinLimit bool) {
	var got strings.Builder
	var name, id, eventData string
	lines := strings.Split(strings.TrimPrefix(stream, "\ufeff"), "\n")
	for _, line := range lines[:len(lines)-1] { // the standard ignores text after the last line feed
		line = strings.TrimSuffix(line, "\r")
		if len(line) > limit {
			return "", false
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && eventData != "":
			if name == "" {
				name = "message"
			}
			fmt.Fprintf(&got, "%q %q %q %v\n", name, id, strings.TrimSuffix(eventData, "\n"), nil)
			name, eventData = "", ""
		case line == "":
			name, eventData = "", ""
		case field == "event":
			name = value
		case field == "data":
			eventData += value + "\n"
		case field == "id" && !strings.Contains(value, "\x00"):
			id = value
		}
		if len(eventData) > limit {
			return "", false
		}
	}
	return got.String(), true
}
