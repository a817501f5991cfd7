package hops

import (
	"context"
	"sync/atomic"
	"time"
)

// sampleInterval is the shortest time between two traced calls that a Sampler selects.
// Tracing costs about 30 µs per call, so fast sequences of calls are mostly not traced.
const sampleInterval = 100 * time.Millisecond

// Sampler selects calls to trace although the client did not request a trace: at most one
// call every 100 ms. All calls of a typical agent are traced, because agents make only one
// call every few seconds. The zero Sampler is ready to use and safe for concurrent use.
type Sampler struct {
	// TracesAll makes TraceOf return a Trace for every call.
	TracesAll   bool
	lastStartNs atomic.Int64 // lastStartNs is when the last selected call began, in nanoseconds since 1970
}

// TraceOf returns the Trace that the client requested, or a new Trace if the Sampler
// selects the call, or nil.
func (s *Sampler) TraceOf(ctx context.Context) *Trace {
	if t := FromContext(ctx); t != nil {
		return t
	}
	now := time.Now()
	lastStartNs := s.lastStartNs.Load()
	isRateLimited := now.UnixNano()-lastStartNs < int64(sampleInterval)
	if !s.TracesAll && (isRateLimited || !s.lastStartNs.CompareAndSwap(lastStartNs, now.UnixNano())) {
		return nil
	}
	return &Trace{startedAt: now}
}
