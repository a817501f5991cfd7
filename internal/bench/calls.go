package main

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"
)

// measured is the result of the order calls. Times are in nanoseconds.
type measured struct {
	// EachNs is how long each call took, from before the write of the request to
	// the last byte of the response.
	EachNs []int64 `json:"eachNs"`
	// AllNs is the time from the first request to the last response.
	AllNs int64 `json:"allNs"`
	// Failed counts the calls that ended with an error. Problem is one such error.
	Failed  int    `json:"failed"`
	Problem string `json:"problem,omitempty"`
	// Bytes is the length of the last response.
	Bytes int `json:"bytes"`
}

// measureCalls makes o.Calls calls, o.InFlight at a time, each on its own keep-alive
// connection.
func measureCalls(t *target, o order) (measured, error) {
	workers := make([]worker, max(1, o.InFlight))
	var next atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for i := range workers {
		w := &workers[i]
		w.target, w.order, w.began = t, o, began
		all.Go(func() { w.err = w.makeCalls(&next) })
	}
	all.Wait()
	m := measured{AllNs: time.Since(began).Nanoseconds(), EachNs: make([]int64, 0, o.Calls)}
	for _, w := range workers {
		if w.err != nil {
			return m, w.err
		}
		m.EachNs = append(m.EachNs, w.eachNs...)
		m.Failed += w.failed
		if w.problem != "" {
			m.Problem = w.problem
		}
		m.Bytes = max(m.Bytes, w.bytes)
	}
	return m, nil
}

// worker makes one call at a time.
type worker struct {
	target  *target
	order   order
	began   time.Time
	eachNs  []int64
	failed  int
	problem string
	bytes   int
	err     error
}

// makeCalls makes calls until next reaches the number of calls of the order.
func (w *worker) makeCalls(next *atomic.Int64) error {
	c, err := w.target.acquire()
	if err != nil {
		return err
	}
	every := time.Duration(w.order.EveryMs * float64(time.Millisecond))
	var body []byte
	for {
		i := next.Add(1) - 1
		if i >= int64(w.order.Calls) {
			w.target.release(c)
			return nil
		}
		if every > 0 {
			time.Sleep(time.Until(w.began.Add(time.Duration(i) * every)))
		}
		body, _ = w.target.call(body[:0], w.order.Tool, w.order.Args, false)
		began := time.Now()
		response, err := c.post(body)
		if err != nil {
			c.close()
			return err
		}
		w.eachNs = append(w.eachNs, time.Since(began).Nanoseconds())
		w.bytes = len(response)
		if text := responseError(response); text != "" {
			w.failed++
			w.problem = text
		}
	}
}

// streamed is the result of the order stream: one call with its notifications and
// its response. Times are milliseconds since 1970.
type streamed struct {
	BeganMs float64 `json:"beganMs"`
	EndedMs float64 `json:"endedMs"`
	Events  []event `json:"events"`
	// Result is the response, a JSON-RPC message.
	Result json.RawMessage `json:"result"`
}

// event is one notification and when it was read.
type event struct {
	AtMs    float64         `json:"atMs"`
	Message json.RawMessage `json:"message"`
}

// epochMs returns t in milliseconds since 1970, with fractions.
func epochMs(t time.Time) float64 { return float64(t.UnixMicro()) / 1000 }

// measureStream makes one call with a progress token.
func measureStream(t *target, o order) (streamed, error) {
	c, err := t.acquire()
	if err != nil {
		return streamed{}, err
	}
	body, _ := t.call(nil, o.Tool, o.Args, true)
	s := streamed{BeganMs: epochMs(time.Now())}
	err = c.requestEvents(body, func(data []byte, at time.Time) {
		s.Events = append(s.Events, event{epochMs(at), json.RawMessage(append([]byte(nil), data...))})
	})
	s.EndedMs = epochMs(time.Now())
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

// cancelled is the result of the order cancel.
type cancelled struct {
	// SentMs is when the notification was written, in milliseconds since 1970.
	SentMs float64 `json:"sentMs"`
}

// measureCancel makes one call, waits for its first progress report, which shows that the
// call runs, and cancels it with an MCP notification in a separate request.
func measureCancel(t *target, o order) (cancelled, error) {
	var answer cancelled
	running, err := t.acquire()
	if err != nil {
		return answer, err
	}
	defer running.close() // a cancelled call's stream ends without an answer
	notice, err := t.acquire()
	if err != nil {
		return answer, err
	}
	body, id := t.call(nil, o.Tool, o.Args, true)
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id, "reason": "bench"},
	})
	if err != nil {
		return answer, err
	}
	failed := make(chan error, 1)
	reported := make(chan struct{}, 1)
	go func() {
		failed <- running.requestEvents(body, func([]byte, time.Time) {
			select {
			case reported <- struct{}{}:
			default:
			}
		})
	}()
	select {
	case <-reported:
	case err := <-failed:
		return answer, err
	}
	answer.SentMs = epochMs(time.Now())
	if _, err := notice.post(text); err != nil {
		notice.close()
		return answer, err
	}
	t.release(notice)
	<-failed // the benchmark ignores how the stream of a cancelled call ends
	return answer, nil
}
