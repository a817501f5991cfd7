package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"opentabs/dispatch"
)

// eventPatience is how long a write to a client that does not read may take
// before the client is given up.
const eventPatience = 10 * time.Second

// missedEvent is the name and body of the event that stands for those a slow
// client lost.
const missedEvent = "missed"

type missed struct {
	Missed int `json:"missed"`
}

// events streams the dispatcher's events as server-sent events: the event's
// kind as its name, its Seq as its id, its JSON as its data. A client that
// reads too slowly gets a "missed" event in the place of those it lost.
func (a *API) events(w http.ResponseWriter, r *http.Request) {
	follower := a.options.Calls.Follow(dispatch.FollowOptions{})
	defer follower.Close()
	following, end := context.WithCancel(r.Context())
	defer end()
	defer context.AfterFunc(a.stopping, end)()
	out := eventWriter{w: w, c: http.NewResponseController(w)}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	// The comment tells the client that it misses nothing from here on.
	if out.write(": following\n\n") != nil {
		return
	}
	for {
		ctx, cancel := context.WithTimeout(following, a.options.Heartbeat)
		list, lost, err := follower.Next(ctx)
		cancel()
		switch {
		case err == nil:
			err = out.events(list, lost)
		case following.Err() != nil:
			return // the client has gone, or the server stops
		case errors.Is(err, context.DeadlineExceeded):
			err = out.write(": still here\n\n")
		}
		if err != nil {
			return // the client does not read
		}
	}
}

// eventWriter writes events to one client.
type eventWriter struct {
	w http.ResponseWriter
	c *http.ResponseController
}

func (e eventWriter) events(list []*dispatch.Event, lost int) error {
	var text []byte
	if lost > 0 {
		text = fmt.Appendf(text, "event: %s\ndata: {\"missed\":%d}\n\n", missedEvent, lost)
	}
	for _, event := range list {
		data, err := json.Marshal(event)
		if err != nil {
			return fmt.Errorf("encode an event: %w", err)
		}
		text = fmt.Appendf(text, "event: %s\nid: %d\ndata: %s\n\n", event.Kind, event.Seq, data)
	}
	return e.write(string(text))
}

func (e eventWriter) write(text string) error {
	// The test recorder has no deadlines; a connection always has.
	if err := e.c.SetWriteDeadline(time.Now().Add(eventPatience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := e.w.Write([]byte(text)); err != nil {
		return err
	}
	return e.c.Flush()
}
