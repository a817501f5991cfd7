// Package hops measures the time that one call spends at each station between the client
// and the page.
//
// A request with the HTTP header Opentabs-Trace starts a Trace, and a [Sampler] selects
// some of the other calls for a Trace. Each station of the server records when the call
// leaves the station. The browser sends the times of its stations with the result of the
// call. A call without a Trace measures nothing, because all methods of a nil *Trace
// return immediately.
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

// Header is the HTTP header of a request whose call is traced. Header may have any
// value.
const Header = "Opentabs-Trace"

// Mark is a time in the life of a call: the end of one station and the beginning of the
// next station.
type Mark int

const (
	// Authorized means that the guard has accepted the request.
	Authorized Mark = iota
	// Parsed means that the MCP message is parsed and its session is found.
	Parsed
	// Checked means that the arguments match the tool's schema.
	Checked
	// Allowed means that the gates have allowed the call, after an approval if one is
	// necessary.
	Allowed
	// Admitted means that the call has a place in its plugin's queue.
	Admitted
	// Chosen means that the before hooks have run and the document is chosen.
	Chosen
	// Posted means that the frame for the browser is ready to be written.
	Posted
	// Answered means that the browser's answer began to arrive.
	Answered
	// Decoded means that the hub has read the answer.
	Decoded
	// Ended means that the dispatcher has returned the result.
	Ended
	// Replied means that the reply to the client is ready.
	Replied
	markCount
)

// Trace has the times of one call. For a call with several attempts, a Trace has the
// times of the last attempt.
type Trace struct {
	start time.Time
	// isRequested is true if the client requested the trace.
	isRequested bool
	// parent is the client's trace span, set before the call begins; "" if the client
	// sent none.
	parent  string
	marks   [markCount]atomic.Int64 // nanoseconds since start; 0 if the call has not reached the mark
	browser atomic.Pointer[wire.BrowserHops]
}

// Mark records that the call reaches m now.
func (t *Trace) Mark(m Mark) {
	if t != nil {
		t.MarkAt(m, time.Now())
	}
}

// MarkAt records that the call reached m at the time at.
func (t *Trace) MarkAt(m Mark, at time.Time) {
	if t != nil {
		t.marks[m].Store(max(1, at.Sub(t.start).Nanoseconds()))
	}
}

// SetBrowser records the times of the browser's stations; nil if the browser sent none.
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

// FromContext returns the Trace of a context; nil if the call is not traced.
func FromContext(ctx context.Context) *Trace {
	t, _ := ctx.Value(contextKey{}).(*Trace)
	return t
}

// IsRequested reports whether the client requested the trace and therefore receives the
// hops with the result.
func (t *Trace) IsRequested() bool { return t != nil && t.isRequested }

// traceParent matches the header traceparent of W3C Trace Context, version 00.
var traceParent = lazyregexp.New(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// SetParent sets the client's trace span from a JSON string in the format of W3C Trace
// Context (https://www.w3.org/TR/trace-context/). SetParent ignores any other value. Call
// SetParent before the call begins.
func (t *Trace) SetParent(value json.RawMessage) {
	if t == nil || len(value) == 0 {
		return
	}
	var parent string
	if json.Unmarshal(value, &parent) == nil && traceParent().MatchString(parent) {
		t.parent = parent
	}
}

// Parent returns the client's trace span; "" if the client sent none.
func (t *Trace) Parent() string {
	if t == nil {
		return ""
	}
	return t.parent
}

// Hop is the time that a call spent at one station, in microseconds. The same station
// occurs twice if the call passes the station in both directions.
type Hop struct {
	Station string `json:"station"`
	// StartUs is the time since the request arrived. The clocks of server, worker and
	// page differ, so StartUs of a station in the browser is an estimate: the way to a
	// process and the way back count as equally long.
	StartUs float64 `json:"startUs"`
	Us      float64 `json:"us"`
}

// View is the state of a Trace at one moment.
type View struct {
	// Start is the time at which the client's request arrived.
	Start time.Time `json:"start"`
	Hops  []Hop     `json:"hops"`
	// TraceID is the ID of the client's trace; absent if the client sent none.
	TraceID string `json:"trace_id,omitempty"`
}

// View returns the start time and the recorded hops of the Trace; nil if the call is not
// traced. root is the trace of the client's call, which has the ID of the client's trace.
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

// Hops returns the recorded hops of a call in order. A call that did not reach a page has
// no hops of the browser.
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

// hopList builds the hops of a call.
type hopList struct {
	marks []float64 // in microseconds since the request arrived
	hops  []Hop
	atUs  float64 // the end of the last hop
}

// add adds a hop that ends at endUs. add adds nothing for a mark that the call did not
// reach, and for a time that earlier hops cover.
func (l *hopList) add(station string, endUs float64) {
	if endUs <= l.atUs {
		return
	}
	l.hops = append(l.hops, Hop{Station: station, StartUs: l.atUs, Us: endUs - l.atUs})
	l.atUs = endUs
}

// addFor adds a hop that lasts us microseconds, also if us is 0.
func (l *hopList) addFor(station string, us float64) {
	l.hops = append(l.hops, Hop{Station: station, StartUs: l.atUs, Us: us})
	l.atUs += us
}

// addBrowser adds the hops between the post of the frame and the arrival of the answer.
// A page may send any times, so addBrowser limits each time to the time that remains.
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
