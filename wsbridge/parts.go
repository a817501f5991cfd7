package wsbridge

import (
	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

func (rt *runTable) handlePart(l *link, params []byte) error {
	p, chunk, err := wire.DecodeResultPart(params)
	if err != nil {
		return err
	}
	rt.mu.Lock()
	r := rt.runs[p.DispatchID]
	if r == nil {
		rt.mu.Unlock()
		l.inbox.countUnknownRunReport(p.DispatchID)
		return nil
	}
	r.markConfirmed()
	// The server drops a part of a result that a reconnected browser sends again. The number
	// of parts, which the browser sends last, reveals missing parts.
	if p.Seq != r.nextPartIndex {
		rt.mu.Unlock()
		return nil
	}
	r.resultParts.Append(chunk)
	r.nextPartIndex++
	if r.resultParts.Len() <= r.maxResultBytes {
		rt.mu.Unlock()
		r.sink.ReceivePart()
		return nil
	}
	delete(rt.runs, p.DispatchID)
	if rt.link != nil {
		rt.link.postFrame(cancelFrame(p.DispatchID, "the result is too large"))
	}
	rt.mu.Unlock()
	r.sink.Finish(nil, inbound.NewTooLargeError(r.maxResultBytes))
	return nil
}
