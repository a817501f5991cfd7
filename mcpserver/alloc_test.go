package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"opentabs/dispatch"
	"opentabs/dispatch/joblist"
	"opentabs/internal/alloctest"
	"opentabs/plugin/plugintest"
)

// discardResponse is an http.ResponseWriter that stores only the status and the length of
// the response.
type discardResponse struct {
	header     http.Header
	httpStatus int
	bytes      int
}

func (d *discardResponse) Header() http.Header        { return d.header }
func (d *discardResponse) WriteHeader(httpStatus int) { d.httpStatus = httpStatus }
func (d *discardResponse) Write(b []byte) (int, error) {
	d.bytes += len(b)
	return len(b), nil
}

// Each call must allocate a parsed request, a cancellable context, a response stream with its heartbeat, and a key for
// the request.
func TestCallAllocations(t *testing.T) {
	toolResult := json.RawMessage(`{"text":"hello"}`)
	caller := callerFunc(func(context.Context, dispatch.Call) (dispatch.Result, error) {
		return dispatch.Result{Output: toolResult}, nil
	})
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)
	// The test uses the options with which the daemon serves clients whose timeout is unknown.
	options := Options{
		Jobs: joblist.New(dispatch.New(nil, dispatch.Options{}), joblist.Options{}), Detach: fixedDetachPolicy(DetachPolicy{DetachBeforeTimeout: true}), LearnedTimeouts: newTimeoutTable(),
	}
	s := newServer(t, caller, options, plugintest.Package{Tools: []plugintest.Tool{{Name: "echo", Description: "d", Input: schema, Output: schema}}})
	t.Cleanup(func() { _ = s.Shutdown(context.Background()) })
	handler := s.Handler()
	initializeResponse := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader([]byte(initializeText("alloc"))))
	r.Header.Set("Content-Type", "application/json")
	handler.ServeHTTP(initializeResponse, r)
	body := []byte(callText(`7`, `{"text":"hello"}`, `{"progressToken":7}`))
	reader := bytes.NewReader(body)
	r = httptest.NewRequest(http.MethodPost, "/", reader)
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Session-Id": {initializeResponse.Header().Get("Mcp-Session-Id")}, "Mcp-Protocol-Version": {"2025-11-25"},
	}
	r.Body = io.NopCloser(reader)
	w := &discardResponse{header: http.Header{}}
	alloctest.Check(t, "a tools/call", 20, 6, func() {
		reader.Reset(body)
		handler.ServeHTTP(w, r)
	})
	if w.httpStatus != http.StatusOK || w.bytes == 0 {
		t.Errorf("response: status %d, %d bytes; want status 200 and a non-empty body", w.httpStatus, w.bytes)
	}
}
