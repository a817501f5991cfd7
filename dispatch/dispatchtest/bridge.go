// Package dispatchtest contains a fake dispatch.Bridge, for tests that run calls without a
// browser.
package dispatchtest

import (
	"context"
	"encoding/json"

	"opentabs/dispatch"
	"opentabs/wire"
)

// Bridge is a fake dispatch.Bridge whose methods call the functions in its fields. If a
// field is nil, the method for the field has a default: Targets returns only the document
// [DefaultTarget], Cancel reports "aborted" at once, and each other method does nothing.
type Bridge struct {
	TargetsFunc func(want dispatch.TargetChoice) dispatch.Targets
	StartFunc   func(ctx context.Context, toolRun dispatch.Run, sink dispatch.Sink) *wire.CallError
	CancelFunc  func(id, cancelReason string, onOutcome func(wire.CancelOutcome))
	AnswerFunc  func(id string, askIndex int, toolOutput json.RawMessage, err *wire.CallError)
	ResyncFunc  func(id, activityType string)
}

var _ dispatch.Bridge = (*Bridge)(nil)

// DefaultTarget is the only document that a fake Bridge offers if its field TargetsFunc is nil.
var DefaultTarget = dispatch.Target{
	Browser: "b1", BrowserName: "Chrome", TabID: 7, DocumentID: "d1",
	URL: "http://localhost/", Title: "Messages",
}

// Targets implements dispatch.Bridge.
func (b *Bridge) Targets(_ context.Context, targetChoice dispatch.TargetChoice) dispatch.Targets {
	if b.TargetsFunc != nil {
		return b.TargetsFunc(targetChoice)
	}
	return dispatch.Targets{BrowserCount: 1, LiveTargets: []dispatch.Target{DefaultTarget}}
}

// Start implements dispatch.Bridge.
func (b *Bridge) Start(ctx context.Context, toolRun dispatch.Run, sink dispatch.Sink) *wire.CallError {
	if b.StartFunc != nil {
		return b.StartFunc(ctx, toolRun, sink)
	}
	return nil
}

// Cancel implements dispatch.Bridge.
func (b *Bridge) Cancel(id, cancelReason string, onOutcome func(wire.CancelOutcome)) {
	if b.CancelFunc != nil {
		b.CancelFunc(id, cancelReason, onOutcome)
		return
	}
	onOutcome(wire.CancelAborted)
}

// Answer implements dispatch.Bridge.
func (b *Bridge) Answer(id string, askID int, toolOutput json.RawMessage, err *wire.CallError) {
	if b.AnswerFunc != nil {
		b.AnswerFunc(id, askID, toolOutput, err)
	}
}

// The method RequestActivityResync implements dispatch.Bridge.
func (b *Bridge) RequestActivityResync(id, activityType string) {
	if b.ResyncFunc != nil {
		b.ResyncFunc(id, activityType)
	}
}
