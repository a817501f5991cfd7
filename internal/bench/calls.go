package main

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"opentabs/dispatch/hops"
)

// callsMeasurement is the result of the benchmark action "calls". All times in
// callsMeasurement are in nanoseconds.
type callsMeasurement struct {
	// CallDurationsNs is the duration of each call, from just before the client wrote the request until
	// the client read the last byte of the response.
	CallDurationsNs []int64 `json:"eachNs"`
	// TotalNs is the time from the start of the first call to the end of the last call.
	TotalNs int64 `json:"allNs"`
	// The field FailedCalls is the number of calls that ended with an error. Problem is the
	// error message of one of the failed calls.
	FailedCalls int    `json:"failed"`
	Problem     string `json:"problem,omitempty"`
	// Bytes is the length of the body of the last call's response, in bytes.
	Bytes int `json:"bytes"`
	// The field Hops contains the hops of each traced call with their times, in the order
	// of the calls in CallDurationsNs. The field Hops is empty if the request did not ask for
	// traced calls.
	Hops [][]hops.Hop `json:"hops,omitempty"`
}

// measureCalls makes up to o.ConcurrentCalls calls at once, each on a separate keep-alive connection.
func measureCalls(t *target, o request) (callsMeasurement, error) {
	workers := make([]callWorker, max(1, o.ConcurrentCalls))
	var nextCall atomic.Int64
	var wg sync.WaitGroup
	startTime := time.Now()
	for i := range workers {
		w := &workers[i]
		w.target, w.request, w.startTime = t, o, startTime
		wg.Go(func() { w.err = w.makeCalls(&nextCall) })
	}
	wg.Wait()
	m := callsMeasurement{TotalNs: time.Since(startTime).Nanoseconds(), CallDurationsNs: make([]int64, 0, o.Calls)}
	for _, w := range workers {
		if w.err != nil {
			return m, w.err
		}
		m.CallDurationsNs = append(m.CallDurationsNs, w.durationsNs...)
		m.Hops = append(m.Hops, w.hops...)
		m.FailedCalls += w.failedCalls
		if w.problemText != "" {
			m.Problem = w.problemText
		}
		m.Bytes = max(m.Bytes, w.bytes)
	}
	return m, nil
}

// The type callWorker makes tool calls over one connection, one call at a time.
type callWorker struct {
	target      *target
	request     request
	startTime   time.Time
	durationsNs []int64
	failedCalls int
	problemText string
	bytes       int
	hops        [][]hops.Hop
	err         error
}

func (w *callWorker) makeCalls(nextCall *atomic.Int64) error {
	c, err := w.target.acquireConn()
	if err != nil {
		return err
	}
	interval := time.Duration(w.request.CallIntervalMs * float64(time.Millisecond))
	var body []byte
	for {
		i := nextCall.Add(1) - 1
		if i >= int64(w.request.Calls) {
			w.target.release(c)
			return nil
		}
		if interval > 0 {
			time.Sleep(time.Until(w.startTime.Add(time.Duration(i) * interval)))
		}
		body, _ = w.target.makeCallRequest(body[:0], w.request.Tool, w.request.Args, false)
		startTime := time.Now()
		response, err := c.post(body)
		if err != nil {
			c.close()
			return err
		}
		w.durationsNs = append(w.durationsNs, time.Since(startTime).Nanoseconds())
		w.bytes = len(response)
		if errorText := responseError(response); errorText != "" {
			w.failedCalls++
			w.problemText = errorText
		}
		if w.target.isTraced {
			traceHops, err := decodeTraceHops(response)
			if err != nil {
				return err
			}
			w.hops = append(w.hops, traceHops)
		}
	}
}

func decodeTraceHops(response []byte) ([]hops.Hop, error) {
	var r struct {
		Result struct {
			Meta struct {
				Hops []hops.Hop `json:"opentabs/hops"`
			} `json:"_meta"`
		} `json:"result"`
	}
	err := json.Unmarshal(response, &r)
	return r.Result.Meta.Hops, err
}

// streamMeasurement is the result of the benchmark action "stream": one call with its
// notifications and its response. All times in streamMeasurement are in milliseconds
// since 1970.
type streamMeasurement struct {
	StartedAtMs float64 `json:"beganMs"`
	EndedAtMs   float64 `json:"endedMs"`
	Events      []event `json:"events"`
	// Result is the server's JSON-RPC response to the measured tools/call request.
	Result json.RawMessage `json:"result"`
}

// The type event is an MCP notification and the time at which the client read it.
type event struct {
	ReadAtMs float64         `json:"atMs"`
	Message  json.RawMessage `json:"message"`
}

// epochMs converts t to milliseconds since 1970, with a precision of 1 µs.
func epochMs(t time.Time) float64 { return float64(t.UnixMicro()) / 1000 }

func measureStream(t *target, o request) (streamMeasurement, error) {
	c, err := t.acquireConn()
	if err != nil {
		return streamMeasurement{}, err
	}
	body, _ := t.makeCallRequest(nil, o.Tool, o.Args, true)
	s := streamMeasurement{StartedAtMs: epochMs(time.Now())}
	err = c.requestEvents(body, func(eventData []byte, arrivalTime time.Time) {
		s.Events = append(s.Events, event{epochMs(arrivalTime), json.RawMessage(append([]byte(nil), eventData...))})
	})
	s.EndedAtMs = epochMs(time.Now())
	if err != nil {
		c.close()
		return s, err
	}
	t.release(c)
	if n := len(s.Events); n > 0 {
		s.Result, s.Events = s.Events[n-1].Message, s.Events[:n-1]
	}
	return s, nil
}

// cancelMeasurement is the result of the benchmark action "cancel".
type cancelMeasurement struct {
	// SentMs is when the client sent the notification "notifications/cancelled", in
	// milliseconds since 1970.
	SentMs float64 `json:"sentMs"`
}

func measureCancel(t *target, o request) (cancelMeasurement, error) {
	var measurement cancelMeasurement
	callConn, err := t.acquireConn()
	if err != nil {
		return measurement, err
	}
	defer callConn.close() // the stream of a cancelled call ends without a response
	cancelConn, err := t.acquireConn()
	if err != nil {
		return measurement, err
	}
	body, id := t.makeCallRequest(nil, o.Tool, o.Args, true)
	encodedJSON, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id, "reason": "bench"},
	})
	if err != nil {
		return measurement, err
	}
	callErr := make(chan error, 1)
	progressSignal := make(chan struct{}, 1)
	go func() {
		callErr <- callConn.requestEvents(body, func([]byte, time.Time) {
			select {
			case progressSignal <- struct{}{}:
			default:
			}
		})
	}()
	select {
	case <-progressSignal:
	case err := <-callErr:
		return measurement, err
	}
	measurement.SentMs = epochMs(time.Now())
	if _, err := cancelConn.post(encodedJSON); err != nil {
		cancelConn.close()
		return measurement, err
	}
	t.release(cancelConn)
	<-callErr // the benchmark ignores how the stream of a cancelled call ends
	return measurement, nil
}
