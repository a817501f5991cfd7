// Package hops measures how long one call takes at each stage between the MCP client and
// the web page, such as the queue or the WebSocket.
//
// A call is traced if its HTTP request has the header Opentabs-Trace, or if a [Sampler]
// selects the call. For each traced call, the server records when the call leaves each stage.
// The browser measures the stages in the browser, and sends the times together with the
// result of the call. Calls without a Trace cost nothing, because all methods of a nil *Trace
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

// Header is the HTTP header that requests a trace of the call. The server ignores the value
// of the header Opentabs-Trace.
const Header = "Opentabs-Trace"

// Checkpoint is a point that a call passes: the end of one stage and the beginning of the next
// stage.
type Checkpoint int

const (
	// CheckpointAuthorized means that the server has authenticated the HTTP request.
	CheckpointAuthorized Checkpoint = iota
	// CheckpointParsed means that the server has parsed the MCP message and found its session.
	CheckpointParsed
	// CheckpointValidated means that the server has validated the arguments against the
	// tool's schema.
	CheckpointValidated
	// CheckpointAllowed means that the gates have allowed the call, if necessary after the
	// user's approval.
	CheckpointAllowed
	// CheckpointAdmitted means that the call has a place in its plugin's queue.
	CheckpointAdmitted
	// CheckpointTargetChosen means that the before hooks have run and the dispatcher has
	// chosen a document.
	CheckpointTargetChosen
	// CheckpointSent means that the WebSocket frame for the browser is ready to be written.
	CheckpointSent
	// CheckpointAnswered means that the browser's answer has begun to arrive.
	CheckpointAnswered
	// CheckpointDecoded means that the server has decoded the browser's answer.
	CheckpointDecoded
	// CheckpointEnded means that the dispatcher has returned the result.
	CheckpointEnded
	// CheckpointReplied means that the response to the MCP client is ready.
	CheckpointReplied
	checkpointCount
)

// Trace records the times of one call. If a call is tried in several documents, a Trace
// contains the times of the last attempt.
type Trace struct {
	startedAt   time.Time
	isRequested bool
	// The field parent is the client's trace span, which is set before the call begins, or
	// empty if the client sent none.
	parent  string
	times   [checkpointCount]atomic.Int64
	browser atomic.Pointer[wire.BrowserHops]
}

// Record records that the call passes the checkpoint m now.
func (t *Trace) Record(m Checkpoint) {
	if t != nil {
		t.RecordAt(m, time.Now())
	}
}

// RecordAt records that the call passed the checkpoint m at the given time.
func (t *Trace) RecordAt(m Checkpoint, at time.Time) {
	if t != nil {
		t.times[m].Store(max(1, at.Sub(t.startedAt).Nanoseconds()))
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

// NewContext returns a context with a new Trace for a call whose client requested the
// trace.
func NewContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextKey{}, &Trace{startedAt: time.Now(), isRequested: true})
}

// FromContext returns the Trace of a context, or nil if the call is not traced.
func FromContext(ctx context.Context) *Trace {
	t, _ := ctx.Value(contextKey{}).(*Trace)
	return t
}

// IsRequested reports whether the client requested the trace. A client that requested the
// trace receives the hops together with the result.
func (t *Trace) IsRequested() bool { return t != nil && t.isRequested }

var traceParent = lazyregexp.New(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// SetParentSpan sets the client's trace span from a JSON string in the format of W3C Trace
// Context (https://www.w3.org/TR/trace-context/). SetParentSpan ignores a value that does not
// have the format of W3C Trace Context, and must be called before the tool call begins.
func (t *Trace) SetParentSpan(valueJSON json.RawMessage) {
	if t == nil || len(valueJSON) == 0 {
		return
	}
	var parent string
	if json.Unmarshal(valueJSON, &parent) == nil && traceParent().MatchString(parent) {
		t.parent = parent
	}
}

// ParentSpan returns the client's trace span in the format of W3C Trace Context, or an empty
// string if the client sent none.
func (t *Trace) ParentSpan() string {
	if t == nil {
		return ""
	}
	return t.parent
}

// Hop is the time that a call spent in one stage, in microseconds. A stage that a call passes in two directions has two
// hops.
type Hop struct {
	Stage string `json:"station"`
	// StartUs is when the call entered the stage, in microseconds after the request arrived. StartUs of a stage in the
	// browser is an estimate: the messages to and from the browser are assumed to take equally long.
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
// traced. The argument root is the Trace of the client's call. The ID of the client's trace,
// if the client sent one, is in root.
func (t *Trace) View(root *Trace) *View {
	if t == nil {
		return nil
	}
	v := &View{Start: t.startedAt, Hops: t.Hops()}
	if traceParentParts := strings.Split(root.ParentSpan(), "-"); len(traceParentParts) == 4 {
		v.TraceID = traceParentParts[1]
	}
	return v
}

// Hops returns the recorded hops of a call in order. If the call did not reach a page, Hops
// returns only the stages in the server.
func (t *Trace) Hops() []Hop {
	l := hopBuilder{checkpointTimesUs: make([]float64, checkpointCount)}
	for m := range l.checkpointTimesUs {
		l.checkpointTimesUs[m] = float64(t.times[m].Load()) / 1000
	}
	l.add("guard", l.checkpointTimesUs[CheckpointAuthorized])
	l.add("parse", l.checkpointTimesUs[CheckpointParsed])
	l.add("check", l.checkpointTimesUs[CheckpointValidated])
	l.add("gates", l.checkpointTimesUs[CheckpointAllowed])
	l.add("queue", l.checkpointTimesUs[CheckpointAdmitted])
	l.add("target", l.checkpointTimesUs[CheckpointTargetChosen])
	l.add("hub", l.checkpointTimesUs[CheckpointSent])
	if b := t.browser.Load(); b != nil && l.checkpointTimesUs[CheckpointAnswered] > 0 {
		l.addBrowser(b)
	}
	l.add("browser", l.checkpointTimesUs[CheckpointAnswered])
	l.add("hub", l.checkpointTimesUs[CheckpointDecoded])
	l.add("dispatch", l.checkpointTimesUs[CheckpointEnded])
	l.add("reply", l.checkpointTimesUs[CheckpointReplied])
	return l.hops
}

// hopBuilder builds the list of a call's hops.
type hopBuilder struct {
	checkpointTimesUs []float64
	hops              []Hop
	currentUs         float64
}

func (l *hopBuilder) add(stage string, endUs float64) {
	if endUs <= l.currentUs {
		return
	}
	l.hops = append(l.hops, Hop{Stage: stage, StartUs: l.currentUs, Us: endUs - l.currentUs})
	l.currentUs = endUs
}

func (l *hopBuilder) addWithDuration(stage string, us float64) {
	l.hops = append(l.hops, Hop{Stage: stage, StartUs: l.currentUs, Us: us})
	l.currentUs += us
}

// addBrowser limits the times that the page reports, because the page may send false times.
func (l *hopBuilder) addBrowser(b *wire.BrowserHops) {
	roundTripUs := l.checkpointTimesUs[CheckpointAnswered] - l.currentUs
	remainingUs := roundTripUs
	limit := func(us int) float64 {
		limitedUs := min(max(float64(us), 0), remainingUs)
		remainingUs -= limitedUs
		return limitedUs
	}
	page := b.Page
	bridgeInUs, hostInUs, schema := limit(page.BridgeInUs), limit(page.HostInUs), limit(page.SchemaUs)
	handler, result := limit(page.HandlerUs), limit(page.ResultUs)
	workerInUs, workerOutUs := limit(b.WorkerInUs), limit(b.WorkerOutUs)
	port := limit(b.DocumentUs - page.TotalUs())
	socketUs := remainingUs

	l.addWithDuration("websocket", socketUs/2)
	l.addWithDuration("worker", workerInUs)
	l.addWithDuration("port", port/2)
	l.addWithDuration("bridge", bridgeInUs)
	l.addWithDuration("host", hostInUs)
	l.addWithDuration("schema", schema)
	l.addWithDuration("handler", handler)
	l.addWithDuration("result", result)
	l.addWithDuration("port", port/2)
	l.addWithDuration("worker", workerOutUs)
	l.addWithDuration("websocket", socketUs/2)
	l.currentUs = l.checkpointTimesUs[CheckpointAnswered]
}
