package wsbridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

var documentGoneCodes = []wire.ErrorCode{wire.ErrNavigated, wire.ErrTabClosed, wire.ErrPageCrashed, wire.ErrTabDiscarded}

func (b *browser) finishRun(l *link, e wire.Envelope) {
	r := b.runTable.removeRun(e.ID)
	if r == nil {
		l.log.Debug().Str("call", inbound.CleanText(e.ID, 128)).Msg("answer for an unknown or finished run")
		if receiveLateAnswer := l.hub.opts.ReceiveLateAnswer; receiveLateAnswer != nil && inbound.IsID(e.ID) {
			lateAnswer := dispatch.LateAnswer{IsOutputLost: inbound.IsResultInParts(e)} // the parts of the result are lost, because handlePart drops parts for an ended call
			if !lateAnswer.IsOutputLost {
				lateAnswer.Output, lateAnswer.Err = (&toolRun{maxResultBytes: wire.DefaultMaxResultBytes}).decodeOutcome(e)
			}
			receiveLateAnswer(b.id, e.ID, lateAnswer)
		}
		return
	}
	r.trace.RecordAt(hops.CheckpointAnswered, l.frameReader.frameStartTime)
	toolOutput, err := r.decodeOutcome(e)
	event := l.log.Debug().Str("call", e.ID).Int("bytes", len(toolOutput))
	if err != nil {
		event = event.Str("code", string(err.Code))
	}
	event.Msg("run answered")
	if err != nil && err.NotStarted && slices.Contains(documentGoneCodes, err.Code) {
		b.tabs.removeDocument(l, r.tabID, r.documentID)
	}
	r.trace.Record(hops.CheckpointDecoded)
	r.sink.Finish(toolOutput, err)
}

// The caller must remove the call from the run table before it calls decodeOutcome.
func (r *toolRun) decodeOutcome(e wire.Envelope) (json.RawMessage, *wire.CallError) {
	if e.Error != nil {
		r.trace.SetBrowser(e.Error.Hops)
		return nil, inbound.ToCallError(e.Error)
	}
	res, err := wire.DecodeDispatchResult(e.Result)
	if err != nil {
		return nil, inbound.NewInternalError("the browser's answer is not a result")
	}
	r.trace.SetBrowser(res.Hops)
	switch {
	case res.Output != nil && res.Parts != 0:
		return nil, inbound.NewInternalError("the browser's answer has both a whole result and parts")
	case res.Output != nil:
		if len(res.Output) > r.maxResultBytes {
			return nil, inbound.NewTooLargeError(r.maxResultBytes)
		}
		return bytes.Clone(res.Output), nil
	case res.Parts == 0:
		return nil, nil
	}
	output := r.resultParts.Join()
	switch {
	case res.Parts != r.nextPartIndex:
		return nil, inbound.NewInternalError(fmt.Sprintf("%d of %d parts of the result arrived", r.nextPartIndex, res.Parts))
	case !wire.IsJSON(output):
		return nil, inbound.NewNotJSONError()
	}
	return output, nil
}
