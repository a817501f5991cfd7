package wsbridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"opentabs/wire"
)

// The longest texts of an error that are kept, in characters.
const (
	maxErrorMessage  = 4000
	maxErrorCode     = 200
	maxErrorCategory = 100
)

// take takes a run out of the table; nil if it is not there. Whoever takes a
// run ends it.
func (b *browser) take(id string) *run {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[id]
	delete(b.runs, id)
	return r
}

// documentEndings are the codes of calls whose document is gone.
var documentEndings = []wire.ErrorCode{wire.ErrNavigated, wire.ErrTabClosed, wire.ErrPageCrashed, wire.ErrTabDiscarded}

// answer ends a run with the answer to its tool.dispatch.
func (b *browser) answer(l *link, e wire.Envelope) {
	r := b.take(e.ID)
	if r == nil {
		l.log.Debug().Str("call", clean(e.ID, 128)).Msg("answer of a run that is not here (any more)")
		return
	}
	output, err := r.outcome(e)
	event := l.log.Debug().Str("call", e.ID).Int("bytes", len(output))
	if err != nil {
		event = event.Str("code", string(err.Code))
	}
	event.Msg("run answered")
	if err != nil && err.NotStarted && slices.Contains(documentEndings, err.Code) {
		b.documentGone(l, r.tabID, r.documentID)
	}
	r.sink.Finish(output, err)
}

// outcome reads the answer of a run that was taken out of the table.
func (r *run) outcome(e wire.Envelope) (json.RawMessage, *wire.CallError) {
	if e.Error != nil {
		return nil, callError(e.Error)
	}
	// Not json.Unmarshal: it would read a large output twice more, and Parse has
	// found it valid.
	var res wire.ToolDispatchResult
	err := wire.Members(e.Result, func(key, value []byte) error {
		switch string(key) {
		case "output":
			res.Output = value
		case "parts":
			return json.Unmarshal(value, &res.Parts)
		}
		return nil
	})
	if err != nil {
		return nil, internal("the browser's answer is not a result")
	}
	switch {
	case res.Output != nil && res.Parts != 0:
		return nil, internal("the browser's answer has both a whole result and parts")
	case res.Output != nil:
		if len(res.Output) > r.limit {
			return nil, tooLarge(r.limit)
		}
		return bytes.Clone(res.Output), nil
	case res.Parts == 0:
		return nil, nil // undefined
	}
	r.endParts()
	switch {
	case res.Parts != r.next:
		return nil, internal(fmt.Sprintf("%d of %d parts of the result came", r.next, res.Parts))
	case !json.Valid(r.parts):
		return nil, notJSON()
	}
	return r.parts, nil
}

// callError makes a browser's error fit to be shown: a known code, bounded
// texts without control characters.
func callError(e *wire.RPCError) *wire.CallError {
	if e.Data == nil {
		return internal(fmt.Sprintf("the browser refused the call (%d): %s", e.Code, clean(e.Message, maxErrorMessage)))
	}
	out := wire.CallError{Code: e.Data.Code, Message: clean(e.Data.Message, maxErrorMessage), NotStarted: e.Data.NotStarted}
	if !slices.Contains(wire.ErrorCodes(), out.Code) {
		out.Code = wire.ErrInternal
	}
	if out.Message == "" {
		out.Message = "the browser gave no reason"
	}
	if t := e.Data.Tool; t != nil && out.Code == wire.ErrToolError {
		tool := *t
		tool.Code, tool.Category = clean(t.Code, maxErrorCode), clean(t.Category, maxErrorCategory)
		if t.RetryAfterMs != nil && *t.RetryAfterMs < 0 {
			tool.RetryAfterMs = nil
		}
		out.Tool = &tool
	}
	return &out
}

func internal(message string) *wire.CallError {
	return &wire.CallError{Code: wire.ErrInternal, Message: message}
}

func tooLarge(limit int) *wire.CallError {
	return &wire.CallError{Code: wire.ErrResultTooLarge, Message: fmt.Sprintf("the result is larger than %d bytes", limit)}
}

func notJSON() *wire.CallError {
	return &wire.CallError{Code: wire.ErrInvalidResult, Message: "the tool's result is not valid JSON"}
}
