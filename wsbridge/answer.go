package wsbridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

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

// part takes one part of a large result.
func (b *browser) part(l *link, params []byte) error {
	var p struct {
		DispatchID string          `json:"dispatchId"`
		Seq        int             `json:"seq"`
		Text       json.RawMessage `json:"text"`
	}
	if err := json.Unmarshal(orEmpty(params), &p); err != nil {
		return err
	}
	b.mu.Lock()
	r := b.runs[p.DispatchID]
	if r == nil {
		b.mu.Unlock()
		l.strayReport(p.DispatchID)
		return nil
	}
	r.sure = true
	// A part that came before the link was lost may come again; one that is
	// missing shows when the answer tells how many there are.
	if p.Seq != r.next {
		b.mu.Unlock()
		return nil
	}
	if err := r.addPart(p.Text); err != nil {
		b.mu.Unlock()
		return err
	}
	if len(r.parts) <= r.limit {
		b.mu.Unlock()
		return nil
	}
	delete(b.runs, p.DispatchID)
	if b.link != nil {
		b.link.post(cancelFrame(p.DispatchID, "the result is too large"))
	}
	b.mu.Unlock()
	r.sink.Finish(nil, tooLarge(r.limit))
	return nil
}

// addPart appends the next part. Parts are cut between UTF-16 units, so one
// may end with the first half of a character and the next begin with the
// second; the first half waits in r.half.
func (r *run) addPart(text json.RawMessage) error {
	joined := text
	if len(r.half) > 0 && len(text) > 0 && text[0] == '"' {
		joined = append(append([]byte{'"'}, r.half...), text[1:]...)
	}
	joined, half := splitHalf(joined)
	var s string
	if err := json.Unmarshal(joined, &s); err != nil {
		return err
	}
	r.half = half
	r.parts = append(r.parts, s...)
	r.next++
	return nil
}

// endParts appends a half of a character that nothing followed, as JSON
// decoders read it.
func (r *run) endParts() {
	if len(r.half) > 0 {
		r.parts = utf8.AppendRune(r.parts, utf8.RuneError)
		r.half = nil
	}
}

// halfLen is the length of an escape such as \ud83d.
const halfLen = 6

// splitHalf takes the escape of a first half of a character off the end of a
// JSON string.
func splitHalf(text []byte) (rest, half []byte) {
	at := len(text) - 1 - halfLen // of the backslash
	if at < 1 || text[at] != '\\' || text[at+1] != 'u' || (text[at+2]|0x20) != 'd' || !bytes.ContainsRune([]byte("89abAB"), rune(text[at+3])) {
		return text, nil
	}
	escapes := 0
	for i := at - 1; i >= 0 && text[i] == '\\'; i-- {
		escapes++
	}
	if escapes%2 == 1 { // the backslash is a character itself
		return text, nil
	}
	half = bytes.Clone(text[at : at+halfLen])
	return append(bytes.Clone(text[:at]), '"'), half
}

// progress reads the parameters of tool.progress and hands them on. The reports
// come as the page's text, which the browser did not parse: they may not bring
// a second dispatchId. An odd number in a report does not make it worthless: it
// still shows that its tool is alive.
func (b *browser) progress(l *link, params []byte) error {
	var p wire.ToolProgressParams
	var odd *json.UnmarshalTypeError
	err := wire.Members(orEmpty(params), func(key, value []byte) error {
		switch string(key) {
		case "dispatchId":
			return json.Unmarshal(value, &p.DispatchID)
		case "skipped":
			return json.Unmarshal(value, &p.Skipped)
		case "reports":
			if err := json.Unmarshal(value, &p.Reports); err != nil && !errors.As(err, &odd) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.report(l, p)
	if odd != nil {
		return odd
	}
	return nil
}

// report hands reports to their run.
func (b *browser) report(l *link, p wire.ToolProgressParams) {
	b.mu.Lock()
	r := b.runs[p.DispatchID]
	if r != nil {
		r.sure = true
	}
	b.mu.Unlock()
	if r == nil {
		l.strayReport(p.DispatchID)
		return
	}
	r.sink.Reports(p.Reports, max(0, p.Skipped))
}

// strayReport counts reports of runs that this browser does not have: they
// ended, or they are another browser's.
func (l *link) strayReport(id string) {
	l.stray++
	event := l.log.Debug()
	if !l.warned {
		l.warned = true
		event = l.log.Warn()
	}
	event.Str("call", clean(id, 128)).Int("stray", l.stray).Msg("report of a run that this browser does not have (any more); later ones are logged at debug level")
}

// known are the codes that a browser may give.
var known = map[wire.ErrorCode]bool{
	wire.ErrIdleTimeout: true, wire.ErrDeadlineExceeded: true, wire.ErrCancelled: true,
	wire.ErrTabClosed: true, wire.ErrNavigated: true, wire.ErrBrowserLost: true, wire.ErrLinkLost: true,
	wire.ErrDenied: true, wire.ErrNotReviewed: true, wire.ErrRateLimited: true,
	wire.ErrInvalidArguments: true, wire.ErrResultTooLarge: true, wire.ErrInvalidResult: true,
	wire.ErrToolError: true, wire.ErrUnknownTool: true, wire.ErrNoBrowser: true, wire.ErrNoTab: true,
	wire.ErrAmbiguousTarget: true, wire.ErrNotReady: true, wire.ErrShutdown: true, wire.ErrInternal: true,
}

// callError makes a browser's error fit to be shown: a known code, bounded
// texts without control characters.
func callError(e *wire.RPCError) *wire.CallError {
	if e.Data == nil {
		return internal(fmt.Sprintf("the browser refused the call (%d): %s", e.Code, clean(e.Message, maxErrorMessage)))
	}
	out := wire.CallError{Code: e.Data.Code, Message: clean(e.Data.Message, maxErrorMessage)}
	if !known[out.Code] {
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
