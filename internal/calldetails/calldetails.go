// Package calldetails collects the details of a call for the side panel, such as how long
// each phase of the call took. For a failed call, package calldetails also collects the
// lines of the plugin's log that possibly explain the failure.
package calldetails

import (
	"errors"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/pluginlog"
	"opentabs/internal/waterfall"
	"opentabs/wire"
)

// The side panel shows the text of errCallNotRecorded to the user.
var errCallNotRecorded = errors.New("the call is not recorded any more")

// maxDepth limits how many parent calls of a nested call are read.
const maxDepth = 16

// Source gives access to the calls and the plugin logs of a daemon. All functions in a
// Source are required, except TraceIDOf.
type Source struct {
	// Find returns a call that is still in the server's memory.
	Find func(callID string) (dispatch.View, bool)
	// FindRecord returns an ended call that the recorder has stored on the disk.
	FindRecord func(callID string) (v dispatch.View, ok bool, err error)
	// ReadLog returns the log entries between the times from and to that match the filter
	// f, oldest first.
	ReadLog func(f pluginlog.Filter, from, to time.Time) ([]pluginlog.Entry, error)
	// TraceIDOf returns the ID of the trace that opentabs exports for a client's call. By
	// default, opentabs exports no traces.
	TraceIDOf func(rootCallID string) string
	// UndoOf returns the call that undoes the given call, or nil if no call can undo it.
	// The parameter createdTime is the time at which the given call was created.
	UndoOf func(callID string, createdTime time.Time) (*wire.CallUndo, error)
}

// Inspect returns the details of a call for the side panel. If Inspect fails, the text of
// the error is a sentence for the user.
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
		logEntries, err := s.ReadLog(pluginlog.Filter{Plugin: v.Plugin}, v.Created, v.Ended.Add(maxLogDelay))
		if err != nil {
			return r, err
		}
		r.Failure = explainFailure(&v, logEntries)
	}
	return r, nil
}

func (s *Source) find(callID string) (dispatch.View, error) {
	if v, ok := s.Find(callID); ok {
		return v, nil
	}
	v, ok, err := s.FindRecord(callID)
	if err == nil && !ok {
		err = errCallNotRecorded
	}
	return v, err
}

// traceID returns the client's trace ID, the ID of the exported trace, or "" for a call without a trace.
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
