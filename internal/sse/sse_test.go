package sse

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

func readEvents(stream string, limit int) (string, error) {
	var got strings.Builder
	for e, err := range Read(iotest.OneByteReader(strings.NewReader(stream)), limit) {
		if err != nil {
			return got.String(), err
		}
		fmt.Fprintf(&got, "%s|%s|%s;", e.Name, e.ID, e.Data)
	}
	return got.String(), nil
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ stream, want string }{
		{"data: a\n\n", "message||a;"},
		{"data:a\r\n\r\n", "message||a;"},
		{"event: x\nid: 7\ndata: a\ndata:\ndata: b\n\ndata: c\n\n", "x|7|a\n\nb;message|7|c;"},
		{": comment\n\nretry: 5\n\ndata: a\n\n", "message||a;"},
		{"data\n\n", "message||;"},
		{"data: incomplete", ""},
		{"data: incomplete\n", ""},
		{"", ""},
		{"event: nothing\n\ndata: a\n\n", "message||a;"},
	} {
		if got, err := readEvents(c.stream, 100); got != c.want || err != nil {
			t.Errorf("events of the stream %q = %q, error %v; want %q", c.stream, got, err, c.want)
		}
	}
}

func TestReadLimit(t *testing.T) {
	if _, err := readEvents("data: "+strings.Repeat("a", 100)+"\n\n", 100); err != nil {
		t.Errorf("event whose data has exactly the limit: error %v, want none", err)
	}
	for _, stream := range []string{
		"data: " + strings.Repeat("a", 101) + "\n\n",
		strings.Repeat("data: aaaaaaaaaa\n", 20),
		strings.Repeat("a", 200<<10),
	} {
		if _, err := readEvents(stream, 100); !errors.Is(err, errTooLarge) {
			t.Errorf("stream %.20q: error %v; want the error %v", stream, err, errTooLarge)
		}
	}
}

func TestReadError(t *testing.T) {
	errReadFailed := errors.New("broken")
	for _, err := range Read(iotest.ErrReader(errReadFailed), 100) {
		if !errors.Is(err, errReadFailed) {
			t.Errorf("Read yielded the error %v; want the error %v of the stream", err, errReadFailed)
		}
		return
	}
	t.Error("Read yielded no error, want the error of the stream")
}

func TestReadStopsAfterBreak(t *testing.T) {
	n := 0
	for range Read(strings.NewReader("data: 1\n\ndata: 2\n\n"), 100) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("the loop with a break received %d events; want 1", n)
	}
}
