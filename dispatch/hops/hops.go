// Package hops measures how long one call takes at each stage between the MCP client and
// the web page, such as the queue or the WebSocket.
//
// A request with the HTTP header Opentabs-Trace starts a Trace, and a [Sampler] traces some
// calls without this header. The server records when the call leaves each stage. The
// browser sends the times of the stages in the browser with the result of the call. Calls
// without a Trace cost nothing, because all methods of a nil *Trace return immediately.
//
// # Concurrency
//
// All methods of a Trace are safe for concurrent use.
package hops

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"time"

	"opentabs/internal/lazyregexp"
	"opentabs/wire"
)

// Header is the HTTP header that requests a trace of the call. The value of the header is
// ignored.
const Header = "Opentabs-Trace"

// Mark is a point that a call passes: the end of one stage and the beginning of the next
// stage.
type Mark int

const (
	// Authorized means that the server has authenticated the HTTP request.
	Authorized Mark = iota
	// Parsed means that the server has parsed the MCP message and found its session.
	Parsed
	// Checked means that the server has validated the arguments against the tool's schema.
	Checked
	// Allowed means that the gates have allowed the call, if necessary after the user's
	// approval.
	Allowed
	// Admitted means that the call has a place in its plugin's queue.
	Admitted
	// Chosen means that the before hooks have run and the dispatcher has chosen a document.
	Chosen
	// Posted means that the WebSocket frame for the browser is ready to be written.
	Posted
	// Answered means that the browser's answer has begun to arrive.
	Answered
	// Decoded means that the server has decoded the browser's answer.
	Decoded
	// Ended means that the dispatcher has returned the result.
	Ended
	// Replied means that the response to the MCP client is ready.
	Replied
	markCount
)

// Trace records the times of one call. If a call is tried in several documents, a Trace
// contains the times of the last attempt.
type Trace struct {
	start time.Time
	// isRequested is true if the client requested the trace.
	isRequested bool
	// parent is the client's trace span, which is set before the call begins, or empty if the
	// client sent none.
	parent  string
	marks   [markCount]atomic.Int64 // when the call passed each Mark, in nanoseconds after start, or 0
	browser atomic.Pointer[wire.BrowserHops]
}

// Mark records that the call passes the mark m now.
func (t *Trace) Mark(m Mark) {
	if t != nil {
		t.MarkAt(m, time.Now())
	}
}

// MarkAt records that the call passed the mark m at the given time.
func (t *Trace) MarkAt(m Mark, at time.Time) {
	if t != nil {
		t.marks[m].Store(max(1, at.Sub(t.start).Nanoseconds()))
	}
}

// SetBrowser records the times that the browser measured, and does nothing if the browser
// sent none.
func (t *Trace) SetBrowser(h *wire.BrowserHops) {
	if t != nil && h != nil {
		t.browser.Store(h)
	}
}

type contextKey struct{}

// NewContext returns a context with a new Trace that the client has requested.
func NewContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextKey{}, &Trace{start: time.Now(), isRequested: true})
}

// FromContext returns the Trace of a context, or nil if the call is not traced.
func FromContext(ctx context.Context) *Trace {
	t, _ := ctx.Value(contextKey{}).(*Trace)
	return t
}

// IsRequested reports whether the client requested the trace. A client that requested the
// trace receives the hops together with the result.
func (t *Trace) IsRequested() bool { return t != nil && t.isRequested }

// traceParent matches the header traceparent of W3C Trace Context, version 00.
var traceParent = lazyregexp.New(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// SetParent sets the client's trace span from a JSON string in the format of W3C Trace
// Context (https://www.w3.org/TR/trace-context/). SetParent ignores any other value, and
// must be called before the tool call begins.
func (t *Trace) SetParent(value json.RawMessage) {
	if t == nil || len(value) == 0 {
		return
	}
	var parent string
	if json.Unmarshal(value, &parent) == nil && traceParent().MatchString(parent) {
		t.parent = parent
	}
}

// Parent returns the client's trace span in the format of W3C Trace Context, or an empty
// string if the client sent none.
func (t *Trace) Parent() string {
	if t == nil {
		return ""
	}
	return t.parent
}

// Hop is the time that a call spent in one stage, in microseconds. A stage occurs twice if
// the call passes it in both directions.
type Hop struct {
	Station string `json:"station"`
	// StartUs is when the call entered the stage, in microseconds after the request arrived.
	// Because server, service worker and page have different clocks, StartUs of a stage in the
	// browser is an estimate. The estimate assumes that messages to a process and back take
	// equally long.
	StartUs float64 `json:"startUs"`
	Us      float64 `json:"us"`
}

// View is the JSON form of a Trace at one moment.
type View struct {
	// Start is when the client's request arrived.
	Start time.Time `json:"start"`
	Hops  []Hop     `json:"hops"`
	// TraceID is the ID of the client's trace, absent if the client sent none.
	TraceID string `json:"trace_id,omitempty"`
}

// View returns the start time and the recorded hops of a Trace, or nil if the call is not
// traced. The argument root is the Trace of the client's call, which may have the ID of the
// client's trace.
func (t *Trace) View(root *Trace) *View {
	if t == nil {
		return nil
	}
	v := &View{Start: t.start, Hops: t.Hops()}
	if parts := strings.Split(root.Parent(), "-"); len(parts) == 4 {
		v.TraceID = parts[1]
	}
	return v
}

// Hops returns the recorded hops of a call in order. For a call that did not reach a page,
// the list contains no hops of the browser.
func (t *Trace) Hops() []Hop {
	l := hopList{marks: make([]float64, markCount)}
	for m := range l.marks {
		l.marks[m] = float64(t.marks[m].Load()) / 1000
	}
	l.add("guard", l.marks[Authorized])
	l.add("parse", l.marks[Parsed])
	l.add("check", l.marks[Checked])
	l.add("gates", l.marks[Allowed])
	l.add("queue", l.marks[Admitted])
	l.add("target", l.marks[Chosen])
	l.add("hub", l.marks[Posted])
	if b := t.browser.Load(); b != nil && l.marks[Answered] > 0 {
		l.addBrowser(b)
	}
	l.add("browser", l.marks[Answered])
	l.add("hub", l.marks[Decoded])
	l.add("dispatch", l.marks[Ended])
	l.add("reply", l.marks[Replied])
	return l.hops
}

// hopList builds the list of a call's hops.
type hopList struct {
	marks []float64 // the time of each Mark, in microseconds after the request arrived
	hops  []Hop
	atUs  float64 // the end of the last hop, in microseconds after the request arrived
}

// add appends a hop that ends at endUs. If the call did not pass the mark, or if earlier
// hops cover the time, no hop is appended.
func (l *hopList) add(station string, endUs float64) {
	if endUs <= l.atUs {
		return
	}
	l.hops = append(l.hops, Hop{Station: station, StartUs: l.atUs, Us: endUs - l.atUs})
	l.atUs = endUs
}

// addFor appends a hop that lasts us microseconds, even if us is 0.
func (l *hopList) addFor(station string, us float64) {
	l.hops = append(l.hops, Hop{Station: station, StartUs: l.atUs, Us: us})
	l.atUs += us
}

// addBrowser appends the hops between the marks Posted and Answered. Because a page may
// send arbitrary times, addBrowser limits their sum to the time between Posted and
// Answered.
func (l *hopList) addBrowser(b *wire.BrowserHops) {
	roundTrip := l.marks[Answered] - l.atUs
	left := roundTrip
	limit := func(us int) float64 {
		limited := min(max(float64(us), 0), left)
		left -= limited
		return limited
	}
	page := b.Page
	bridgeIn, hostIn, schema := limit(page.BridgeInUs), limit(page.HostInUs), limit(page.SchemaUs)
	handler, result := limit(page.HandlerUs), limit(page.ResultUs)
	workerIn, workerOut := limit(b.WorkerInUs), limit(b.WorkerOutUs)
	port := limit(b.DocumentUs - page.SumUs())
	socket := left

	l.addFor("websocket", socket/2)
	l.addFor("worker", workerIn)
	l.addFor("port", port/2)
	l.addFor("bridge", bridgeIn)
	l.addFor("host", hostIn)
	l.addFor("schema", schema)
	l.addFor("handler", handler)
	l.addFor("result", result)
	l.addFor("port", port/2)
	l.addFor("worker", workerOut)
	l.addFor("websocket", socket/2)
	l.atUs = l.marks[Answered]
}
