package wsbridge

import (
	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// maxCount limits the number of reports that a browser may claim in one frame.
// No page makes more, and the sum over a call can't overflow an int.
const maxCount = 1 << 30

// handleProgress decodes a tool.progress and forwards its reports.
func (rt *runTable) handleProgress(l *link, params []byte) error {
	p, err := wire.DecodeProgress(params)
	if err != nil {
		return err
	}
	rt.report(l, p)
	return nil
}

// report forwards reports to their run.
func (rt *runTable) report(l *link, p wire.ToolProgressParams) {
	rt.mu.Lock()
	r := rt.runs[p.DispatchID]
	fresh := false
	if r != nil {
		r.confirm()
		fresh = r.dropRepeated(&p)
	}
	rt.mu.Unlock()
	if r == nil {
		l.in.strayReport(p.DispatchID)
		return
	}
	if !fresh {
		return
	}
	inbound.CleanReports(p.Reports)
	r.sink.Reports(p.Reports, p.Skipped)
}

// dropRepeated removes reports from p that arrived before on a lost link, and
// reports whether p has anything new. Missing reports count as skipped.
// Impossible counts are ignored. The caller holds runTable.mu.
func (r *run) dropRepeated(p *wire.ToolProgressParams) bool {
	p.Skipped = min(max(0, p.Skipped), maxCount)
	if p.Seq == nil {
		r.reports += len(p.Reports)
		return true
	}
	seq, n := *p.Seq, len(p.Reports)
	if seq < 0 || seq > maxCount {
		return false
	}
	known := r.reports - seq
	switch {
	case known > 0 && known >= n:
		return false
	case known > 0:
		p.Reports, p.Skipped = p.Reports[known:], 0
	default:
		p.Skipped -= known
	}
	r.reports = seq + n
	return true
}

// strayReport counts reports for runs that this browser does not have: finished
// runs, or runs of another browser.
func (in *inbox) strayReport(id string) {
	in.stray++
	event := in.link.log.Debug()
	if !in.warned {
		in.warned = true
		event = in.link.log.Warn()
	}
	event.Str("call", inbound.Text(id, 128)).Int("stray", in.stray).Msg("report for an unknown or finished run; later ones are logged at debug level")
}
