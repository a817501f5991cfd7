// Package calldetails collects what the side panel loads of one call: where the time of the
// call went and, for a failed call of a plugin, what the plugin's log has about the failure.
package calldetails

import (
	"errors"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/pluginlog"
	"opentabs/internal/waterfall"
	"opentabs/wire"
)

// errUnknownCall is a sentence for the user of a side panel.
var errUnknownCall = errors.New("the call is not recorded any more")

// maxDepth limits the parent calls that are read to find the call of the client.
const maxDepth = 16

// Source has the calls and the logs of a daemon. Its functions are required, except
// TraceIDOf.
type Source struct {
	// Find returns a call in the server's memory.
	Find func(callID string) (dispatch.View, bool)
	// FindRecord returns a recorded call.
	FindRecord func(callID string) (v dispatch.View, ok bool, err error)
	// ReadLog returns the log entries of a plugin in a period, oldest first.
	ReadLog func(f pluginlog.Filter, from, to time.Time) ([]pluginlog.Entry, error)
	// TraceIDOf returns the ID of the trace that is sent for a call of a client. Default:
	// no traces are sent.
	TraceIDOf func(rootCallID string) string
	// UndoOf returns the call that undoes a call which was created at the time created; nil
	// if there is none.
	UndoOf func(callID string, created time.Time) (*wire.CallUndo, error)
}

// Inspect returns the details of a call. The error is a sentence for the user.
func (s *Source) Inspect(p wire.CallInspectParams) (r wire.CallInspectResult, err error) {
	v, err := s.find(p.CallID)
	if err != nil {
		return r, err
	}
	for _, p := range waterfall.Phases(&v, time.Now()) {
		r.Phases = append(r.Phases, wire.CallPhase{Name: p.Name, StartMs: milliseconds(p.Start), Ms: milliseconds(p.Duration)})
	}
	r.HasTrace, r.TraceID = v.Trace != nil, s.traceID(&v)
	if r.Undo, err = s.UndoOf(v.CallID, v.Created); err != nil {
		return r, err
	}
	if v.Status.IsFailure() && v.Ended != nil {
		entries, err := s.ReadLog(pluginlog.Filter{Plugin: v.Plugin}, v.Created, v.Ended.Add(maxLogDelay))
		if err != nil {
			return r, err
		}
		r.Failure = failureOf(&v, entries)
	}
	return r, nil
}

// find returns a call from the server's memory or from the recorder.
func (s *Source) find(callID string) (dispatch.View, error) {
	if v, ok := s.Find(callID); ok {
		return v, nil
	}
	v, ok, err := s.FindRecord(callID)
	if err == nil && !ok {
		err = errUnknownCall
	}
	return v, err
}

// traceID returns the ID of the trace to which a call belongs: that of the client, or the
// one that is sent; empty for none.
func (s *Source) traceID(v *dispatch.View) string {
	if v.Trace == nil {
		return ""
	}
	if v.Trace.TraceID != "" || s.TraceIDOf == nil {
		return v.Trace.TraceID
	}
	rootCallID, parentCallID := v.CallID, v.ParentCallID
	for depth := 0; parentCallID != "" && depth < maxDepth; depth++ {
		parent, err := s.find(parentCallID)
		if err != nil {
			return ""
		}
		rootCallID, parentCallID = parent.CallID, parent.ParentCallID
	}
	return s.TraceIDOf(rootCallID)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
