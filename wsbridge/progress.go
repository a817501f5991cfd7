package wsbridge

import (
	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// maxReportCount limits the number of progress reports that one frame from a browser may
// claim. No real page sends a billion progress reports in one frame. maxReportCount keeps
// the total number of a call's reports within the range of an int.
const maxReportCount = 1 << 30

func (rt *runTable) handleProgress(l *link, params []byte) error {
	p, err := wire.DecodeProgress(params)
	if err != nil {
		return err
	}
	rt.forwardReports(l, p)
	return nil
}

func (rt *runTable) forwardReports(l *link, p wire.ToolProgressParams) {
	rt.mu.Lock()
	r := rt.runs[p.DispatchID]
	hasNewReports := false
	if r != nil {
		r.markConfirmed()
		hasNewReports = r.dropRepeatedReports(&p)
	}
	rt.mu.Unlock()
	if r == nil {
		l.inbox.countUnknownRunReport(p.DispatchID)
		return
	}
	if !hasNewReports {
		return
	}
	inbound.CleanReports(p.Reports)
	r.sink.Reports(p.Reports, p.SkippedReports)
}

// The caller of dropRepeatedReports holds runTable.mu.
func (r *toolRun) dropRepeatedReports(p *wire.ToolProgressParams) bool {
	p.SkippedReports = min(max(0, p.SkippedReports), maxReportCount)
	if p.Seq == nil {
		r.reportCount += len(p.Reports)
		return true
	}
	seq, n := *p.Seq, len(p.Reports)
	if seq < 0 || seq > maxReportCount {
		return false
	}
	repeatedReportCount := r.reportCount - seq
	switch {
	case repeatedReportCount > 0 && repeatedReportCount >= n:
		return false
	case repeatedReportCount > 0:
		p.Reports, p.SkippedReports = p.Reports[repeatedReportCount:], 0
	default:
		p.SkippedReports -= repeatedReportCount
	}
	r.reportCount = seq + n
	return true
}

func (in *inbox) countUnknownRunReport(id string) {
	in.unknownRunReportCount++
	event := in.link.log.Debug()
	if !in.hasWarned {
		in.hasWarned = true
		event = in.link.log.Warn()
	}
	event.Str("call", inbound.CleanText(id, 128)).Int("stray", in.unknownRunReportCount).Msg("report for an unknown or finished run; later reports are logged at debug level")
}
