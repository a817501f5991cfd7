package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"opentabs/internal/sse"
)

// The server disconnects a client of an event stream if one write takes longer than eventTimeout.
const eventTimeout = 10 * time.Second

const missedEventName = "missed"

type missedEventsBody struct {
	// The field Missed is the minimum number of lost events, counted over all calls.
	Missed int `json:"missed"`
}

// eventStreams are the open responses with server-sent events. All event streams end when the
// server stops.
type eventStreams struct {
	instanceID  serverInstanceID
	heartbeat   time.Duration
	shutdownCtx context.Context
	stop        context.CancelFunc
}

func newStreams(heartbeat time.Duration) *eventStreams {
	s := &eventStreams{instanceID: newServerInstanceID(), heartbeat: heartbeat}
	s.shutdownCtx, s.stop = context.WithCancel(context.Background())
	return s
}

// The context that open returns ends when the client disconnects, the server stops, or the caller calls end.
func (s *eventStreams) open(w http.ResponseWriter, r *http.Request) (outWriter eventWriter, ctx context.Context, endStream func()) {
	ctx, cancel := context.WithCancel(r.Context())
	release := context.AfterFunc(s.shutdownCtx, cancel)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	outWriter = eventWriter{w: w, c: http.NewResponseController(w), instanceID: s.instanceID}
	return outWriter, ctx, func() {
		release()
		cancel()
	}
}

func writeStream[T any](ctx context.Context, heartbeat time.Duration, readBatch func(context.Context) (T, int, error), writeBatch func(items T, lostCount int) error, writeHeartbeat func() error) {
	for {
		heartbeatCtx, cancel := context.WithTimeout(ctx, heartbeat)
		items, lostCount, err := readBatch(heartbeatCtx)
		cancel()
		switch {
		case err == nil:
			err = writeBatch(items, lostCount)
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			err = writeHeartbeat()
		}
		if err != nil {
			return // the client has disconnected or does not read, or the server stops
		}
	}
}

// eventWriter writes server-sent events to one client.
type eventWriter struct {
	w          http.ResponseWriter
	c          *http.ResponseController
	instanceID serverInstanceID
}

func (e eventWriter) writeHeartbeat(comment string, seq uint64) error {
	if err := e.writeFrames(fmt.Appendf(nil, ": %s\nid: %s\n\n", comment, e.instanceID.id(seq))); err != nil {
		return err
	}
	return e.c.Flush()
}

func (e eventWriter) writeFrames(frames ...[]byte) error {
	// Write deadlines are not supported by the response recorder of tests.
	if err := e.c.SetWriteDeadline(time.Now().Add(eventTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	for _, sseText := range frames {
		if _, err := e.w.Write(sseText); err != nil {
			return err
		}
	}
	return nil
}

// A server-sent comment keeps an idle connection open.
func (e eventWriter) writeComment(comment string) error {
	if err := e.writeFrames(fmt.Appendf(nil, ": %s\n\n", comment)); err != nil {
		return err
	}
	return e.c.Flush()
}

// readStream returns ErrStreamEnded if the server ends the stream.
func (c *Client) readStream(ctx context.Context, path string, onStreamStart func() error, onEvent func(sse.Event) error) error {
	resp, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		if isClosedByServer(err) {
			return fmt.Errorf("%w: %w", ErrStreamEnded, err)
		}
		return err
	}
	defer resp.Body.Close()
	if onStreamStart != nil {
		if err := onStreamStart(); err != nil {
			return err
		}
	}
	for e, err := range sse.Read(resp.Body, maxAnswerBytes) {
		if err != nil {
			return fmt.Errorf("%w: %w", ErrStreamEnded, err)
		}
		if err := onEvent(e); err != nil {
			return err
		}
	}
	return ErrStreamEnded
}

// A stopping server closes its connections without a response.
func isClosedByServer(err error) bool {
	var opErr *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &opErr) && opErr.Op != "dial" && !opErr.Timeout()
}

func dispatchEvent[T any](e sse.Event, lostCount func(int) error, event func(value T, rawJSON []byte) error) error {
	var m missedEventsBody
	var value T
	target := any(&value)
	if e.Name == missedEventName {
		target = &m
	}
	if err := json.Unmarshal(e.Data, target); err != nil {
		return fmt.Errorf("read an event: %w", err)
	}
	if e.Name == missedEventName {
		return lostCount(m.Missed)
	}
	return event(value, e.Data)
}
