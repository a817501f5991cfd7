package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"opentabs/dispatch"
)

const (
	// eventTimeout is how long a write to a client may block before the client is
	// disconnected.
	eventTimeout = 10 * time.Second
	// eventChunk is the approximate size of one write to a client, in bytes.
	eventChunk = 32 << 10
)

// missedEvent is the name and body of the event that replaces lost events.
const missedEvent = "missed"

type missed struct {
	// Missed is the minimum number of lost events, of all calls.
	Missed int `json:"missed"`
}

// serverMark is the prefix of all event ids of one server process, so that a client
// that reconnects to another process receives a missed event.
type serverMark string

func newServerMark() serverMark { return serverMark(strings.ToLower(rand.Text()[:8])) }

// id returns the id of the event with this Seq.
func (m serverMark) id(seq uint64) string { return string(m) + "-" + strconv.FormatUint(seq, 10) }

// seq returns the Seq in an event id, and false if id is malformed. For an id of
// another server process it returns math.MaxUint64, which this server never reaches.
func (m serverMark) seq(id string) (uint64, bool) {
	mark, number, marked := strings.Cut(id, "-")
	if !marked {
		mark, number = string(m), id
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if mark != string(m) {
		return math.MaxUint64, err == nil && mark != ""
	}
	return n, err == nil
}

// eventFilters has a setter for each query parameter of /events.
var eventFilters = map[string]func(*dispatch.FollowOptions, string){
	"call":     func(o *dispatch.FollowOptions, v string) { o.CallID = v },
	"tool":     func(o *dispatch.FollowOptions, v string) { o.Tool = v },
	"audience": func(o *dispatch.FollowOptions, v string) { o.Audience = v },
	"after":    func(*dispatch.FollowOptions, string) {}, // read by followOptions
}

// followOptions returns the options in a request to /events.
func (a *API) followOptions(r *http.Request) (o dispatch.FollowOptions, err error) {
	query := r.URL.Query()
	for name, values := range query {
		set := eventFilters[name]
		if set == nil || len(values) > 1 {
			return o, fmt.Errorf("the parameter %.100q is not known, or is there twice: use %s, each once at most", name, strings.Join(slices.Sorted(maps.Keys(eventFilters)), ", "))
		}
		set(&o, values[0])
	}
	// A browser that reconnects repeats the URL and adds the header, so the header is
	// newer than the parameter.
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = query.Get("after")
	}
	if after == "" {
		return o, nil
	}
	o.FromStart = true
	var ok bool
	if o.After, ok = a.mark.seq(after); !ok {
		return o, fmt.Errorf("%.100q is not the id of an event: give Last-Event-ID or after the id of the last event that you have", after)
	}
	return o, nil
}

// events streams the dispatcher's events as server-sent events: the event's kind
// as its name, its JSON as its data. The parameters call, tool and audience select
// events ([dispatch.FollowOptions]). A client that reconnects sends the id of its last
// event, in Last-Event-ID or in the parameter after, and gets all later events. If
// events were dropped, because the client read too slowly or reconnected too late, it
// gets a "missed" event in their place.
func (a *API) events(w http.ResponseWriter, r *http.Request) {
	options, err := a.followOptions(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	follower := a.options.Calls.Follow(options)
	defer follower.Close()
	following, end := context.WithCancel(r.Context())
	defer end()
	defer context.AfterFunc(a.stopping, end)()
	out := a.stream(w)
	// The comment confirms that the stream has started; the id is its position.
	if out.quiet("following", follower.Position()) != nil {
		return
	}
	for {
		ctx, cancel := context.WithTimeout(following, a.options.Heartbeat)
		list, lost, err := follower.Next(ctx)
		cancel()
		switch {
		case err == nil:
			var done func()
			if done, err = a.turns.acquire(following); err == nil {
				err = out.events(list, lost)
				done()
			}
		case following.Err() != nil:
			return // the client has disconnected, or the server stops
		case errors.Is(err, context.DeadlineExceeded):
			err = out.quiet("still here", follower.Position())
		}
		if err != nil {
			return // the client has disconnected or does not read
		}
	}
}

// stream starts a response of server-sent events.
func (a *API) stream(w http.ResponseWriter) eventWriter {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	return eventWriter{w: w, c: http.NewResponseController(w), mark: a.mark}
}

// eventWriter writes events to one client.
type eventWriter struct {
	w    http.ResponseWriter
	c    *http.ResponseController
	mark serverMark
}

// chunks is a pool of buffers in which events are encoded. A client uses a buffer
// only during a write.
var chunks = sync.Pool{New: func() any { return new([]byte) }}

// events writes events, and a "missed" event if lost > 0. All clients share the JSON
// of an event.
func (e eventWriter) events(list []*dispatch.Event, lost int) error {
	chunk := chunks.Get().(*[]byte)
	defer chunks.Put(chunk)
	text := (*chunk)[:0]
	defer func() { *chunk = text }()
	if lost > 0 {
		text = fmt.Appendf(text, "event: %s\ndata: {\"missed\":%d}\n\n", missedEvent, lost)
	}
	for _, event := range list {
		data := event.JSON()
		text = append(append(text, "event: "...), event.Kind...)
		text = append(append(append(text, "\nid: "...), e.mark...), '-')
		text = append(strconv.AppendUint(text, event.Seq, 10), "\ndata: "...)
		if len(text)+len(data) > eventChunk {
			if err := e.write(text, data); err != nil {
				return err
			}
			text = append(text[:0], "\n\n"...)
			continue
		}
		text = append(append(text, data...), "\n\n"...)
	}
	if err := e.write(text); err != nil {
		return err
	}
	return e.c.Flush()
}

// quiet writes a comment, and the id of the last event that the client has or that
// its filters leave out.
func (e eventWriter) quiet(comment string, seq uint64) error {
	if err := e.write(fmt.Appendf(nil, ": %s\nid: %s\n\n", comment, e.mark.id(seq))); err != nil {
		return err
	}
	return e.c.Flush()
}

func (e eventWriter) write(texts ...[]byte) error {
	// The response recorder of tests does not support deadlines; a connection does.
	if err := e.c.SetWriteDeadline(time.Now().Add(eventTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	for _, text := range texts {
		if _, err := e.w.Write(text); err != nil {
			return err
		}
	}
	return nil
}
