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

const maxChunkBytes = 32 << 10

// serverInstanceID identifies one server process, and is the prefix of all its event IDs.
// If a client continues the stream of an earlier server process, the new process detects
// the other prefix and sends a "missed" event.
type serverInstanceID string

func newServerInstanceID() serverInstanceID {
	return serverInstanceID(strings.ToLower(rand.Text()[:8]))
}

func (m serverInstanceID) id(seq uint64) string { return string(m) + "-" + strconv.FormatUint(seq, 10) }

// For an event ID of another server process, parseID returns math.MaxUint64, higher than every sequence number.
func (m serverInstanceID) parseID(id string) (uint64, bool) {
	streamID, seqText, hasSeparator := strings.Cut(id, "-")
	if !hasSeparator {
		streamID, seqText = string(m), id
	}
	n, err := strconv.ParseUint(seqText, 10, 64)
	if streamID != string(m) {
		return math.MaxUint64, err == nil && streamID != ""
	}
	return n, err == nil
}

// eventRoute serves /events.
type eventRoute struct {
	calls        Calls
	eventStreams *eventStreams
	writeSlots   writeSlots
}

var eventFilters = map[string]func(*dispatch.SubscribeOptions, string){
	"call":     func(o *dispatch.SubscribeOptions, v string) { o.CallID = v },
	"tool":     func(o *dispatch.SubscribeOptions, v string) { o.Tool = v },
	"audience": func(o *dispatch.SubscribeOptions, v string) { o.Audience = v },
	"after":    func(*dispatch.SubscribeOptions, string) {}, // parseFollowOptions reads the parameter "after"
}

func (e eventRoute) parseFollowOptions(r *http.Request) (o dispatch.SubscribeOptions, err error) {
	query := r.URL.Query()
	for name, parameterValues := range query {
		setFilter := eventFilters[name]
		if setFilter == nil || len(parameterValues) > 1 {
			return o, fmt.Errorf("the parameter %.100q is not known, or is there twice: use %s, each once at most", name, strings.Join(slices.Sorted(maps.Keys(eventFilters)), ", "))
		}
		setFilter(&o, parameterValues[0])
	}
	// When a browser reconnects, it sends the original URL and adds the header
	// Last-Event-ID, so the header is newer than the URL parameter "after".
	lastEventID := r.Header.Get("Last-Event-ID")
	if lastEventID == "" {
		lastEventID = query.Get("after")
	}
	if lastEventID == "" {
		return o, nil
	}
	o.IncludesEarlierEvents = true
	var ok bool
	if o.AfterSeq, ok = e.eventStreams.instanceID.parseID(lastEventID); !ok {
		return o, fmt.Errorf("%.100q is not the id of an event: give Last-Event-ID or after the id of the last event that you have", lastEventID)
	}
	return o, nil
}

// serveEvents streams the events of all calls as server-sent events.
//
// A client that reconnects sends its last event ID as Last-Event-ID or as the URL parameter after. If a client reads
// too slowly or reconnects too late, a "missed" event replaces dropped events.
func (e eventRoute) serveEvents(w http.ResponseWriter, r *http.Request) {
	options, err := e.parseFollowOptions(r)
	if err != nil {
		httpjson.SendError(w, http.StatusBadRequest, err.Error())
		return
	}
	subscription := e.calls.Subscribe(options)
	defer subscription.Close()
	outWriter, streamCtx, closeStream := e.eventStreams.open(w, r)
	defer closeStream()
	writePositionComment := func(comment string) error { return outWriter.writeHeartbeat(comment, subscription.Position()) }
	// The comment "following" has an event ID with which a client can reconnect even before the first event.
	if writePositionComment("following") != nil {
		return
	}
	writeEvents := func(events []*dispatch.Event, lostEvents int) error {
		releaseSlot, err := e.writeSlots.acquireSlot(streamCtx)
		if err != nil {
			return err
		}
		defer releaseSlot()
		return outWriter.writeEvents(events, lostEvents)
	}
	writeStream(streamCtx, e.eventStreams.heartbeat, subscription.Next, writeEvents, func() error { return writePositionComment("still here") })
}

var chunkPool = sync.Pool{New: func() any { return new([]byte) }}

// Each event is encoded as JSON only once, and all clients share the JSON.
func (e eventWriter) writeEvents(events []*dispatch.Event, lostEvents int) error {
	chunk := chunkPool.Get().(*[]byte)
	defer chunkPool.Put(chunk)
	encodedEvents := (*chunk)[:0]
	defer func() { *chunk = encodedEvents }()
	if lostEvents > 0 {
		encodedEvents = fmt.Appendf(encodedEvents, "event: %s\ndata: {\"missed\":%d}\n\n", missedEventName, lostEvents)
	}
	for _, event := range events {
		data := event.JSON()
		encodedEvents = append(append(encodedEvents, "event: "...), event.Kind...)
		encodedEvents = append(append(append(encodedEvents, "\nid: "...), e.instanceID...), '-')
		encodedEvents = append(strconv.AppendUint(encodedEvents, event.Seq, 10), "\ndata: "...)
		if len(encodedEvents)+len(data) > maxChunkBytes {
			if err := e.writeFrames(encodedEvents, data); err != nil {
				return err
			}
			encodedEvents = append(encodedEvents[:0], "\n\n"...)
			continue
		}
		encodedEvents = append(append(encodedEvents, data...), "\n\n"...)
	}
	if err := e.writeFrames(encodedEvents); err != nil {
		return err
	}
	return e.c.Flush()
}

// Listener has the callbacks of [CallsClient.Follow]. Follow runs all callbacks one at a
// time on its own goroutine.
type Listener struct {
	// The function StreamStarted is called once, when the server has confirmed that the stream
	// of events has started.
	StreamStarted func() error
	// The function Event is called for each event. The argument rawJSON is the JSON of the
	// event.
	Event func(e dispatch.Event, rawJSON []byte) error
	// The function Missed is called if events were lost. The argument n is the number of
	// events lost before the next event.
	Missed func(n int) error
}

// Follow calls the functions of the listener l for each event that o selects, and blocks
// until ctx ends or a function of l returns an error. Follow returns [ErrStreamEnded] if
// the server ends the stream.
func (c CallsClient) Follow(ctx context.Context, o dispatch.SubscribeOptions, l Listener) error {
	query := url.Values{}
	for name, value := range map[string]string{"call": o.CallID, "tool": o.Tool, "audience": o.Audience} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if o.AfterSeq > 0 {
		query.Set("after", strconv.FormatUint(o.AfterSeq, 10))
	}
	return c.client.readStream(ctx, "/events?"+query.Encode(), l.StreamStarted, l.handleEvent)
}

func (l Listener) handleEvent(e sse.Event) error { return dispatchEvent(e, l.Missed, l.Event) }
