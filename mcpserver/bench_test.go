package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/plugin/plugintest"
)

// The median time of a tools/call request must be at most 1.5 times the median time of the plain Go server.
func BenchmarkCall(b *testing.B) {
	s := serveTools(b, callerFunc(echoArguments), Options{}, plugintest.Package{Tools: []plugintest.Tool{{
		Name: "echo", Description: "d",
		Input: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer"}},"required":["text"],"additionalProperties":false}`),
	}}})
	minimalServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var v any
		if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
			b.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(v); err != nil {
			b.Error(err)
		}
	}))
	defer minimalServer.Close()
	c := s.open(b, "bench")
	baselineClient := &client{t: b, url: minimalServer.URL, http: c.http, headers: http.Header{}, session: c.session, version: c.version}
	body := callText(`7`, `{"text":"hello","count":3}`, `{"progressToken":7}`)
	for range 300 {
		c.measureRequest(body)
		baselineClient.measureRequest(body)
	}
	var calls, baselineDurations []time.Duration
	for b.Loop() { // measure opentabs and the plain server in turns, so that both have the same load
		calls = append(calls, c.measureRequest(body))
		baselineDurations = append(baselineDurations, baselineClient.measureRequest(body))
	}
	call, base := medianTime(calls), medianTime(baselineDurations)
	b.ReportMetric(float64(call.Nanoseconds()), "call-p50-ns")
	b.ReportMetric(float64(base.Nanoseconds()), "floor-p50-ns")
	b.ReportMetric(float64(call)/float64(base), "ratio")
}

func (c *client) measureRequest(requestBody string) time.Duration {
	r := c.newRequest(context.Background(), http.MethodPost, requestBody)
	startTime := time.Now()
	res := c.do(r)
	_, err := io.Copy(io.Discard, res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK {
		c.t.Fatal(res.Status, err)
	}
	return time.Since(startTime)
}

func medianTime(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func BenchmarkLargeResult(b *testing.B) {
	jsonItem := `{"id":"0123456789","text":"a message with \"quotes\" and more words"},`
	largeResult := `{"items":[` + strings.Repeat(jsonItem, 10<<20/len(jsonItem)) + `{}]}`
	s := serveTools(b, callerReturning(largeResult), Options{})
	c := s.open(b, "bench")
	b.SetBytes(int64(len(largeResult)))
	for b.Loop() {
		c.measureRequest(callText(`1`, `{}`, `{}`))
	}
}

func BenchmarkProgress(b *testing.B) {
	s := serveTools(b, callerFunc(func(_ context.Context, c dispatch.Call) (dispatch.Result, error) {
		n := 0.0
		for b.Loop() {
			n++
			c.Progress(dispatch.Progress{Progress: n, Total: 1e9, HasTotal: true, Message: "page"})
		}
		return dispatch.Result{Output: json.RawMessage(`{}`)}, nil
	}), Options{})
	c := s.open(b, "bench")
	b.ReportAllocs()
	c.measureRequest(callText(`1`, `{}`, `{"progressToken":1}`))
}

func BenchmarkToolsList(b *testing.B) {
	var tools []plugintest.Tool
	for i := range 50 {
		tools = append(tools, plugintest.Tool{Name: "tool_" + string(rune('a'+i/26)) + string(rune('a'+i%26)), Description: strings.Repeat("d", 200)})
	}
	var packages []plugintest.Package
	for i := range 50 {
		packages = append(packages, plugintest.Package{Name: "p" + string(rune('a'+i/26)) + string(rune('a'+i%26)), Tools: tools})
	}
	s := serveTools(b, callerFunc(echoArguments), Options{}, packages...)
	c := s.open(b, "bench")
	var size bytes.Buffer
	res := c.postRequest(context.Background(), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if _, err := size.ReadFrom(res.Body); err != nil {
		b.Fatal(err)
	}
	res.Body.Close()
	b.SetBytes(int64(size.Len()))
	for b.Loop() {
		c.measureRequest(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	}
}
