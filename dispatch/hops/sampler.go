package hops

import (
	"context"
	"sync/atomic"
	"time"
)

// sampleInterval is the shortest time between two traces of a Sampler. A trace costs 30 us
// per call, so calls in quick succession are not slowed down.
const sampleInterval = 100 * time.Millisecond

// Sampler decides which calls are traced without a request of the client: at most one
// every 100 ms. So the calls of an agent, which are seconds apart, all have a trace. The
// zero value is ready. A Sampler is safe for concurrent use.
type Sampler struct {
	// TracesAll is set if every call is traced.
	TracesAll bool
	last      atomic.Int64 // the start of the last trace, in nanoseconds since 1970
}

// TraceOf returns the trace that the client requested, or a new trace, or nil for a call
// that is not traced.
func (s *Sampler) TraceOf(ctx context.Context) *Trace {
	if t := FromContext(ctx); t != nil {
		return t
	}
	now := time.Now()
	last := s.last.Load()
	isTooEarly := now.UnixNano()-last < int64(sampleInterval)
	if !s.TracesAll && (isTooEarly || !s.last.CompareAndSwap(last, now.UnixNano())) {
		return nil
	}
	return &Trace{start: now}
}
