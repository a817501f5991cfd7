// Package sse reads streams of server-sent events (html.spec.whatwg.org/multipage/server-sent-events.html) whose lines
// end with LF or CRLF.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Event is one server-sent event. For an event without a name in the stream, Name is "message". ID is the last event ID
// that the server has sent in the stream, up to the event.
type Event struct {
	Name string
	ID   string
	Data []byte
}

var errTooLarge = errors.New("an event is too large")

// Read iterates over the events of a stream as they arrive. If the data of an event
// exceeds limit bytes, Read yields an error and stops. Read ignores an incomplete event
// at the end of the stream.
func Read(stream io.Reader, limit int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewReaderSize(stream, 64<<10)
		event, hasData := Event{}, false
		for isFirstLine := true; ; isFirstLine = false {
			line, err := readLine(lines, limit)
			if isFirstLine { // a stream may begin with a byte order mark
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(Event{}, err)
				}
				return
			}
			if len(line) == 0 {
				if hasData && !yield(event.withDefaultName(), nil) {
					return
				}
				event, hasData = Event{ID: event.ID}, false
				continue
			}
			if event.addLine(line, !hasData) {
				hasData = true
			}
			if len(event.Data) > limit {
				yield(Event{}, fmt.Errorf("%w: the limit is %d bytes", errTooLarge, limit))
				return
			}
		}
	}
}

func (e *Event) addLine(line []byte, isFirstData bool) bool {
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		e.Name = string(value)
	case "id":
		if !bytes.ContainsRune(value, 0) { // the specification ignores an event ID with a NUL character
			e.ID = string(value)
		}
	case "data":
		if isFirstData {
			e.Data = value
		} else {
			e.Data = append(append(e.Data, '\n'), value...)
		}
		return true
	}
	return false
}

func (e Event) withDefaultName() Event {
	if e.Name == "" {
		e.Name = "message"
	}
	return e
}

func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		chunk, err := r.ReadSlice('\n')
		line = append(line, chunk...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > limit+len("data: "):
			return nil, fmt.Errorf("%w: the limit is %d bytes", errTooLarge, limit)
		}
	}
}
