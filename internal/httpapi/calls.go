package httpapi

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"

	"opentabs/dispatch"
	"opentabs/dispatch/shape"
	"opentabs/internal/httpjson"
	"opentabs/internal/plaintext"
	"opentabs/internal/recorder"
)

// Calls has the methods of [dispatch.Dispatcher] that the HTTP routes use.
type Calls interface {
	Calls() []dispatch.View
	Find(callID string) (dispatch.View, bool)
	Cancel(callID, by, reason string) bool
	Decide(callID, ticketID string, r dispatch.Resolution) (dispatch.DecisionResult, error)
	Subscribe(dispatch.SubscribeOptions) *dispatch.Subscriber
}

var _ Calls = (*dispatch.Dispatcher)(nil)

// callRoutes serves the routes below /calls.
type callRoutes struct {
	calls    Calls
	records  Records
	undoCall func(callID string) (UndoResponse, error)
}

func (c callRoutes) serveList(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery != "" {
		c.serveRecords(w, r)
		return
	}
	calls := shape.List{Calls: c.calls.Calls()}
	if calls.Calls == nil {
		calls.Calls = []dispatch.View{}
	}
	httpjson.Send(w, http.StatusOK, calls)
}

func (c callRoutes) serveCall(w http.ResponseWriter, r *http.Request) {
	callView, ok := c.calls.Find(r.PathValue("id"))
	if ok && callView.Ended == nil {
		httpjson.Send(w, http.StatusOK, callView)
		return
	}
	callRecord, ok := c.findRecord(r.PathValue("id"), callView, ok)
	if !ok {
		newUnknownCallError(w)
		return
	}
	httpjson.Send(w, http.StatusOK, callRecord)
}

func newUnknownCallError(w http.ResponseWriter) {
	httpjson.SendError(w, http.StatusNotFound, "no such call: list the calls with `opentabs calls`")
}

// cancelResult is the response of /calls/{id}/cancel. Cancelled is false if the call
// ended before the request arrived.
type cancelResult struct {
	Cancelled bool `json:"cancelled"`
}

// cancelBody is the optional body of POST /calls/{id}/cancel. Reason is sent to the page
// and written to the audit log.
type cancelBody struct {
	Reason string `json:"reason,omitempty"`
}

const maxReasonChars = 200

func (c callRoutes) cancel(w http.ResponseWriter, r *http.Request) {
	body := bufio.NewReader(r.Body)
	var cancellation cancelBody
	if _, err := body.Peek(1); err == nil {
		r.Body = io.NopCloser(body)
		var ok bool
		if cancellation, ok = decodeBody[cancelBody](w, r); !ok {
			return
		}
	}
	id := r.PathValue("id")
	if _, ok := c.calls.Find(id); !ok {
		newUnknownCallError(w)
		return
	}
	httpjson.Send(w, http.StatusOK, cancelResult{Cancelled: c.calls.Cancel(id, CommandLine, plaintext.Line(cancellation.Reason, maxReasonChars))})
}

// CallsClient reads, cancels and decides calls of a running server. The methods of
// CallsClient return the errors listed at [Client].
type CallsClient struct{ client *Client }

// Get fetches one call from the server, with the call's activities and timeline. If the
// call has not ended, the returned Record contains only the embedded View.
func (c CallsClient) Get(ctx context.Context, callID string) (r recorder.Record, err error) {
	err = c.client.sendWithTimeout(ctx, requestTimeout, http.MethodGet, "/calls/"+url.PathEscape(callID), &r)
	return r, err
}

// List requests the running and waiting calls, oldest first, followed by the most
// recently ended calls, newest first.
func (c CallsClient) List(ctx context.Context) ([]dispatch.View, error) {
	var calls shape.List
	err := c.client.sendWithTimeout(ctx, requestTimeout, http.MethodGet, "/calls", &calls)
	return calls.Calls, err
}

// Cancel cancels a call. An empty reason means that the user gave no reason. Cancel
// returns false if the call has already ended.
func (c CallsClient) Cancel(ctx context.Context, callID, reason string) (bool, error) {
	var result cancelResult
	err := c.client.post(ctx, "/calls/"+url.PathEscape(callID)+"/cancel", cancelBody{Reason: reason}, &result)
	return result.Cancelled, err
}

// Decide sends the user's decision about a call that is waiting for approval.
func (c CallsClient) Decide(ctx context.Context, callID string, d Decision) (result DecideResponse, err error) {
	err = c.client.post(ctx, "/calls/"+url.PathEscape(callID)+"/decide", d, &result)
	return result, err
}
