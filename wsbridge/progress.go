package wsbridge

import (
	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// maxReportCount limits the number of progress reports that one frame from a browser may
// claim. No real page sends a billion progress reports in one frame. maxReportCount keeps
// the total number of a call's reports within the range of an int.
const maxReportCount = 1 << 30

// handleProgress decodes a tool.progress notification and forwards its progress reports.
func (rt *runTable) handleProgress(l *link, params []byte) error {
	p, err := wire.DecodeProgress(params)
	if err != nil {
		return err
	}
	rt.forwardReports(l, p)
	return nil
}

// forwardReports forwards progress reports from a page to the sink of their tool call.
func (rt *runTable) forwardReports(l *link, p wire.ToolProgressParams) {
	rt.mu.Lock()
	r := rt.runs[p.DispatchID]
	hasNew := false
	if r != nil {
		r.confirm()
		hasNew = r.dropRepeated(&p)
	}
	rt.mu.Unlock()
	if r == nil {
		l.inbox.countStrayReport(p.DispatchID)
		return
	}
	if !hasNew {
		return
	}
	inbound.CleanReports(p.Reports)
	r.sink.Reports(p.Reports, p.SkippedReports)
}

// dropRepeated removes from p the progress reports that already arrived before the link was
// lost. dropRepeated returns false if p contains nothing new. dropRepeated counts lost reports
// as skipped, and ignores a notification with an impossible Seq. The caller holds runTable.mu.
func (r *toolRun) dropRepeated(p *wire.ToolProgressParams) bool {
	p.SkippedReports = min(max(0, p.SkippedReports), maxReportCount)
	if p.Seq == nil {
		r.reportCount += len(p.Reports)
		return true
	}
	seq, n := *p.Seq, len(p.Reports)
	if seq < 0 || seq > maxReportCount {
		return false
	}
	knownCount := r.reportCount - seq
	switch {
	case knownCount > 0 && knownCount >= n:
		return false
	case knownCount > 0:
		p.Reports, p.SkippedReports = p.Reports[knownCount:], 0
	default:
		p.SkippedReports -= knownCount
	}
	r.reportCount = seq + n
	return true
}

// countStrayReport counts reports for calls that the browser does not run, such as finished
// calls and calls of another browser.
func (in *inbox) countStrayReport(id string) {
	in.strayCount++
	event := in.link.log.Debug()
	if !in.hasWarned {
		in.hasWarned = true
		event = in.link.log.Warn()
	}
	event.Str("call", inbound.CleanText(id, 128)).Int("stray", in.strayCount).Msg("report for an unknown or finished run; later reports are logged at debug level")
}
