package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"opentabs/internal/httpjson"
	"opentabs/internal/pluginlog"
	"opentabs/internal/sse"
)

// Logs reads the log entries of adapters. *pluginlog.Log implements this interface.
type Logs interface {
	LastEntries(f pluginlog.Filter, n int) []pluginlog.Entry
	Follow(f pluginlog.Filter, n int) ([]pluginlog.Entry, *pluginlog.Subscriber)
}

var _ Logs = (*pluginlog.Log)(nil)

const logEvent = "log"

const defaultLogEntries = 100

// LogQuery selects log entries of adapters by plugin and level.
type LogQuery struct {
	pluginlog.Filter
	// MaxEntries is the maximum number of stored log entries to return. Older entries are left
	// out.
	MaxEntries int
}

var logParameters = map[string]func(*LogQuery, string) error{
	"plugin": func(q *LogQuery, v string) error { q.Plugin = v; return nil },
	"level": func(q *LogQuery, v string) (err error) {
		q.Level, err = pluginlog.ParseLevel(v)
		return err
	},
	"last": func(q *LogQuery, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return fmt.Errorf("last is %.100q: give it a number of entries, 0 or more", v)
		}
		q.MaxEntries = n
		return nil
	},
	"follow": func(_ *LogQuery, v string) error {
		if v != "1" {
			return fmt.Errorf("follow is %.100q: make it 1, or leave it out", v)
		}
		return nil
	},
}

func parseLogQuery(queryValues url.Values) (q LogQuery, err error) {
	q.MaxEntries = defaultLogEntries
	for name, parameterValues := range queryValues {
		setParameter := logParameters[name]
		if setParameter == nil || len(parameterValues) > 1 {
			return q, fmt.Errorf("the parameter %.100q is not known, or is there twice: use %s, each once at most", name, strings.Join(slices.Sorted(maps.Keys(logParameters)), ", "))
		}
		if err := setParameter(&q, parameterValues[0]); err != nil {
			return q, err
		}
	}
	return q, nil
}

// logList is the response of /logs without follow=1. The log entries are ordered from
// oldest to newest.
type logList struct {
	Entries []pluginlog.Entry `json:"entries"`
}

// logRoute serves /logs.
type logRoute struct {
	entries      Logs
	eventStreams *eventStreams
}

// A "log" event has one log entry, and a "missed" event the number of entries that a slow client lost.
func (l logRoute) serveLogs(w http.ResponseWriter, r *http.Request) {
	queryValues := r.URL.Query()
	query, err := parseLogQuery(queryValues)
	if err != nil {
		httpjson.SendError(w, http.StatusBadRequest, err.Error())
		return
	}
	if !queryValues.Has("follow") {
		httpjson.Send(w, http.StatusOK, logList{l.entries.LastEntries(query.Filter, query.MaxEntries)})
		return
	}
	logEntries, subscription := l.entries.Follow(query.Filter, query.MaxEntries)
	defer subscription.Close()
	outWriter, streamCtx, closeStream := l.eventStreams.open(w, r)
	defer closeStream()
	if outWriter.writeComment("following") != nil || outWriter.writeEntries(logEntries, 0) != nil {
		return
	}
	writeStream(streamCtx, l.eventStreams.heartbeat, subscription.Next, outWriter.writeEntries, func() error { return outWriter.writeComment("still here") })
}

func (e eventWriter) writeEntries(logEntries []pluginlog.Entry, lostEntries int) error {
	var encodedEntries []byte
	for _, logEntry := range logEntries {
		encodedJSON, err := json.Marshal(logEntry)
		if err != nil {
			return err
		}
		encodedEntries = fmt.Appendf(encodedEntries, "event: %s\nid: %d\ndata: %s\n\n", logEvent, logEntry.Seq, encodedJSON)
	}
	if lostEntries > 0 {
		encodedEntries = fmt.Appendf(encodedEntries, "event: %s\ndata: {\"missed\":%d}\n\n", missedEventName, lostEntries)
	}
	if len(encodedEntries) == 0 {
		return nil
	}
	if err := e.writeFrames(encodedEntries); err != nil {
		return err
	}
	return e.c.Flush()
}

func (q LogQuery) urlValues() url.Values {
	queryValues := url.Values{"last": {strconv.Itoa(q.MaxEntries)}}
	if q.Plugin != "" {
		queryValues.Set("plugin", q.Plugin)
	}
	if q.Level != "" {
		queryValues.Set("level", string(q.Level))
	}
	return queryValues
}

// LogsClient reads the log entries of adapters from a running server. The methods of
// LogsClient return the errors listed at [Client].
type LogsClient struct{ client *Client }

// LogListener has the callbacks of [LogsClient.Follow]. Follow runs all callbacks one at
// a time on its own goroutine.
type LogListener struct {
	// The function Entry is called for each log entry.
	Entry func(pluginlog.Entry) error
	// The function Missed is called if log entries were dropped. The argument n is the
	// number of entries dropped before the next entry.
	Missed func(n int) error
}

// Follow calls the functions of the listener l for each log entry that the query q
// selects: first the stored entries, then new entries. Follow blocks until ctx ends or a
// function of l returns an error. Follow returns [ErrStreamEnded] if the server ends the
// stream.
func (c LogsClient) Follow(ctx context.Context, q LogQuery, l LogListener) error {
	queryValues := q.urlValues()
	queryValues.Set("follow", "1")
	return c.client.readStream(ctx, "/logs?"+queryValues.Encode(), nil, l.handleEvent)
}

func (l LogListener) handleEvent(e sse.Event) error {
	return dispatchEvent(e, l.Missed, func(logEntry pluginlog.Entry, _ []byte) error { return l.Entry(logEntry) })
}
