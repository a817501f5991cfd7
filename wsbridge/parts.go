package wsbridge

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

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
