package wsbridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// documentEndings are the error codes of calls whose document is gone.
var documentEndings = []wire.ErrorCode{wire.ErrNavigated, wire.ErrTabClosed, wire.ErrPageCrashed, wire.ErrTabDiscarded}

// answer finishes a run with the answer to its tool.dispatch.
func (b *browser) answer(l *link, e wire.Envelope) {
	r := b.runs.remove(e.ID)
	if r == nil {
		l.log.Debug().Str("call", inbound.Text(e.ID, 128)).Msg("answer for an unknown or finished run")
		return
	}
	output, err := r.readOutcome(e)
	event := l.log.Debug().Str("call", e.ID).Int("bytes", len(output))
	if err != nil {
		event = event.Str("code", string(err.Code))
	}
	event.Msg("run answered")
	if err != nil && err.NotStarted && slices.Contains(documentEndings, err.Code) {
		b.tabs.documentGone(l, r.tabID, r.documentID)
	}
	r.sink.Finish(output, err)
}

// readOutcome reads the answer for a run that has been removed from the table.
func (r *run) readOutcome(e wire.Envelope) (json.RawMessage, *wire.CallError) {
	if e.Error != nil {
		return nil, inbound.CallError(e.Error)
	}
	res, err := wire.DecodeDispatchResult(e.Result)
	if err != nil {
		return nil, internalError("the browser's answer is not a result")
	}
	switch {
	case res.Output != nil && res.Parts != 0:
		return nil, internalError("the browser's answer has both a whole result and parts")
	case res.Output != nil:
		if len(res.Output) > r.limit {
			return nil, tooLarge(r.limit)
		}
		return bytes.Clone(res.Output), nil
	case res.Parts == 0:
		return nil, nil // undefined
	}
	output := r.parts.Join()
	switch {
	case res.Parts != r.next:
		return nil, internalError(fmt.Sprintf("%d of %d parts of the result arrived", r.next, res.Parts))
	case !json.Valid(output):
		return nil, notJSON()
	}
	return output, nil
}

func internalError(message string) *wire.CallError {
	return &wire.CallError{Code: wire.ErrInternal, Message: message}
}

func tooLarge(limit int) *wire.CallError {
	return &wire.CallError{Code: wire.ErrResultTooLarge, Message: fmt.Sprintf("the result is larger than %d bytes", limit)}
}

func notJSON() *wire.CallError {
	return &wire.CallError{Code: wire.ErrInvalidResult, Message: "the tool's result is not valid JSON"}
}
