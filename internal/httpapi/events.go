package httpapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"opentabs/dispatch"
	"opentabs/internal/httpjson"
	"opentabs/internal/sse"
)

// maxChunkBytes is the approximate size of one write to a client, in bytes.
const maxChunkBytes = 32 << 10

// serverInstanceID is the prefix of all event ids of one server process, so that a client
// that reconnects to another process receives a missed event.
type serverInstanceID string

func newServerInstanceID() serverInstanceID {
	return serverInstanceID(strings.ToLower(rand.Text()[:8]))
}

// id returns the id of the event with the given sequence number.
func (m serverInstanceID) id(seq uint64) string { return string(m) + "-" + strconv.FormatUint(seq, 10) }

// parseID returns the Seq in an event id, and false if id is malformed. For an id of
// another server process, parseID returns math.MaxUint64, which no event's sequence
// number reaches.
func (m serverInstanceID) parseID(id string) (uint64, bool) {
	mark, seqText, hasMark := strings.Cut(id, "-")
	if !hasMark {
		mark, seqText = string(m), id
	}
	n, err := strconv.ParseUint(seqText, 10, 64)
	if mark != string(m) {
		return math.MaxUint64, err == nil && mark != ""
	}
	return n, err == nil
}

// eventRoute is the route /events.
type eventRoute struct {
	calls   Calls
	streams *streams
	turns   writeTurns
}

// eventFilters has a setter for each query parameter of /events.
var eventFilters = map[string]func(*dispatch.FollowOptions, string){
	"call":     func(o *dispatch.FollowOptions, v string) { o.CallID = v },
	"tool":     func(o *dispatch.FollowOptions, v string) { o.Tool = v },
	"audience": func(o *dispatch.FollowOptions, v string) { o.Audience = v },
	"after":    func(*dispatch.FollowOptions, string) {}, // followOptions reads the parameter "after"
}

// followOptions returns the options in a request to /events.
func (e eventRoute) followOptions(r *http.Request) (o dispatch.FollowOptions, err error) {
	query := r.URL.Query()
	for name, values := range query {
		setFilter := eventFilters[name]
		if setFilter == nil || len(values) > 1 {
			return o, fmt.Errorf("the parameter %.100q is not known, or is there twice: use %s, each once at most", name, strings.Join(slices.Sorted(maps.Keys(eventFilters)), ", "))
		}
		setFilter(&o, values[0])
	}
	// A reconnecting browser repeats the URL and adds the header Last-Event-ID, so the
	// header is newer than the parameter after.
	afterID := r.Header.Get("Last-Event-ID")
	if afterID == "" {
		afterID = query.Get("after")
	}
	if afterID == "" {
		return o, nil
	}
	o.FromStart = true
	var ok bool
	if o.After, ok = e.streams.mark.parseID(afterID); !ok {
		return o, fmt.Errorf("%.100q is not the id of an event: give Last-Event-ID or after the id of the last event that you have", afterID)
	}
	return o, nil
}

// serveEvents streams the dispatcher's events as server-sent events, with the event's
// kind as name and its JSON as data. The parameters call, tool and audience select
// events ([dispatch.FollowOptions]). A client that reconnects sends the id of its last
// event, in Last-Event-ID or in the parameter after, and gets all later events. If the
// client read too slowly or reconnected too late, the client gets a "missed" event in
// place of the dropped events.
func (e eventRoute) serveEvents(w http.ResponseWriter, r *http.Request) {
	options, err := e.followOptions(r)
	if err != nil {
		httpjson.SendError(w, http.StatusBadRequest, err.Error())
		return
	}
	follower := e.calls.Follow(options)
	defer follower.Close()
	out, streamCtx, endStream := e.streams.open(w, r)
	defer endStream()
	writePosition := func(comment string) error { return out.writeHeartbeat(comment, follower.Position()) }
	// The comment "following" confirms that the stream has started; the id with it is
	// the stream's position.
	if writePosition("following") != nil {
		return
	}
	write := func(events []*dispatch.Event, lostEvents int) error {
		releaseTurn, err := e.turns.acquire(streamCtx)
		if err != nil {
			return err
		}
		defer releaseTurn()
		return out.writeEvents(events, lostEvents)
	}
	writeStream(streamCtx, e.streams.heartbeat, follower.Next, write, func() error { return writePosition("still here") })
}

// chunkPool is a pool of buffers in which events are encoded. A client uses a buffer
// only during a write.
var chunkPool = sync.Pool{New: func() any { return new([]byte) }}

// writeEvents writes events, and a "missed" event if lostEvents > 0. All clients share
// the JSON of an event.
func (e eventWriter) writeEvents(events []*dispatch.Event, lostEvents int) error {
	chunk := chunkPool.Get().(*[]byte)
	defer chunkPool.Put(chunk)
	text := (*chunk)[:0]
	defer func() { *chunk = text }()
	if lostEvents > 0 {
		text = fmt.Appendf(text, "event: %s\ndata: {\"missed\":%d}\n\n", missedEvent, lostEvents)
	}
	for _, event := range events {
		data := event.JSON()
		text = append(append(text, "event: "...), event.Kind...)
		text = append(append(append(text, "\nid: "...), e.mark...), '-')
		text = append(strconv.AppendUint(text, event.Seq, 10), "\ndata: "...)
		if len(text)+len(data) > maxChunkBytes {
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

// Listener receives the events of [CallsClient.Follow]. The functions of Listener are
// called one at a time, by the goroutine that called Follow.
type Listener struct {
	// Following is called when the server has started to send events.
	Following func() error
	// Event receives an event and its JSON.
	Event func(e dispatch.Event, raw []byte) error
	// Missed receives the number of events that were lost before the next event.
	Missed func(n int) error
}

// Follow receives the events that o selects until ctx ends, the server ends the stream
// (ErrStreamEnded), or one of the listener's functions returns an error.
func (c CallsClient) Follow(ctx context.Context, o dispatch.FollowOptions, l Listener) error {
	query := url.Values{}
	for name, value := range map[string]string{"call": o.CallID, "tool": o.Tool, "audience": o.Audience} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if o.After > 0 {
		query.Set("after", strconv.FormatUint(o.After, 10))
	}
	return c.client.readStream(ctx, "/events?"+query.Encode(), l.Following, l.handleEvent)
}

func (l Listener) handleEvent(e sse.Event) error { return dispatchEvent(e, l.Missed, l.Event) }
