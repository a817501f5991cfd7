package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/httpjson"
	"opentabs/internal/recorder"
)

// Records has the methods of [recorder.Recorder] that the HTTP routes use.
type Records interface {
	ReadPage(recorder.Query) (recorder.Page, error)
	Find(callID string) (recorder.Entry, bool, error)
}

var _ Records = (*recorder.Recorder)(nil)

// emptyRecords implements Records without any recorded call.
type emptyRecords struct{}

func (emptyRecords) ReadPage(recorder.Query) (recorder.Page, error)     { return recorder.Page{}, nil }
func (emptyRecords) Find(string) (e recorder.Entry, ok bool, err error) { return e, false, nil }

const (
	defaultRecordCount = 200
	maxRecordCount     = 1000
)

var recordFilters = map[string]func(*recorder.Query, string) error{
	"since": func(q *recorder.Query, v string) (err error) {
		q.Since, err = recorder.ParseSince(v, time.Now())
		return err
	},
	"tool":   func(q *recorder.Query, v string) error { q.Tool = v; return nil },
	"client": func(q *recorder.Query, v string) error { q.Client = v; return nil },
	"text":   func(q *recorder.Query, v string) error { q.Text = v; return nil },
	"before": func(q *recorder.Query, v string) error { q.Before = v; return nil },
	"failed": func(q *recorder.Query, v string) (err error) {
		if q.OnlyFailed, err = strconv.ParseBool(v); err != nil {
			return fmt.Errorf("the parameter failed is %.100q: give 1 or 0", v)
		}
		return nil
	},
	"limit": func(q *recorder.Query, v string) (err error) {
		if q.Limit, err = strconv.Atoi(v); err != nil || q.Limit < 1 || q.Limit > maxRecordCount {
			return fmt.Errorf("the parameter limit is %.100q: give a number from 1 to %d", v, maxRecordCount)
		}
		return nil
	},
}

func recordQuery(parameters url.Values) (q recorder.Query, err error) {
	q.Limit = defaultRecordCount
	for name, valueNames := range parameters {
		setFilter := recordFilters[name]
		if setFilter == nil {
			return q, fmt.Errorf("there is no parameter %.100q: use %s", name, strings.Join(slices.Sorted(maps.Keys(recordFilters)), ", "))
		}
		if len(valueNames) > 1 {
			return q, fmt.Errorf("the parameter %.100q occurs more than once: give it once", name)
		}
		if err := setFilter(&q, valueNames[0]); err != nil {
			return q, err
		}
	}
	return q, nil
}

// recordPage is the response of /calls to a request with query parameters. To get the next
// page, a client sends the value of Next as the query parameter "before".
type recordPage struct {
	Calls []json.RawMessage `json:"calls"`
	Next  string            `json:"next,omitempty"`
}

func (c callRoutes) serveRecords(w http.ResponseWriter, r *http.Request) {
	query, err := recordQuery(r.URL.Query())
	if err != nil {
		httpjson.SendError(w, http.StatusBadRequest, err.Error())
		return
	}
	page, err := c.records.ReadPage(query)
	switch {
	case errors.Is(err, recorder.ErrInvalidCursor):
		httpjson.SendError(w, http.StatusBadRequest, err.Error())
		return
	case err != nil:
		httpjson.SendError(w, http.StatusInternalServerError, err.Error())
		return
	}
	response := recordPage{Calls: make([]json.RawMessage, len(page.Entries)), Next: page.Next}
	for i, e := range page.Entries {
		response.Calls[i] = e.Line
	}
	httpjson.Send(w, http.StatusOK, response)
}

// findRecord returns a view in memory instead of the stored View, which lacks activities and complete texts.
func (c callRoutes) findRecord(callID string, callView dispatch.View, isInMemory bool) (recorder.Record, bool) {
	recordedEntry, ok, err := c.records.Find(callID)
	switch {
	case err != nil || !ok:
		return recorder.Record{View: callView}, isInMemory
	case isInMemory:
		recordedEntry.View = callView
	}
	return recordedEntry.Record, true
}
