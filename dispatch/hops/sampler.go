package hops

import (
	"context"
	"sync/atomic"
	"time"
)

// sampleInterval is the shortest time between the starts of two traces of a Sampler. A
// trace costs 30 us per call, so the interval protects fast sequences of calls.
const sampleInterval = 100 * time.Millisecond

// Sampler selects which calls are traced without a request of the client: at most one
// call every 100 ms. A typical agent makes one call every few seconds, so all of its
// calls are traced. The zero Sampler is ready to use. A Sampler is safe for concurrent
// use.
type Sampler struct {
	// TracesAll is true if every call is traced.
	TracesAll bool
	lastStart atomic.Int64 // the start of the last trace, in nanoseconds since 1970
}

// TraceOf returns the trace that the client requested, a new trace, or nil if the call is
// not traced.
func (s *Sampler) TraceOf(ctx context.Context) *Trace {
	if t := FromContext(ctx); t != nil {
		return t
	}
	now := time.Now()
	last := s.lastStart.Load()
	isTooEarly := now.UnixNano()-last < int64(sampleInterval)
	if !s.TracesAll && (isTooEarly || !s.lastStart.CompareAndSwap(last, now.UnixNano())) {
		return nil
	}
	return &Trace{start: now}
}
