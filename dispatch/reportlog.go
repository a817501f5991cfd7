package dispatch

import (
	"time"

	"opentabs/dispatch/events"
	"opentabs/dispatch/progress"
	"opentabs/wire"
)

const (
	maxLastMessages     = 20
	maxLastMessageBytes = 400
)

// reportLog is what surfaces show of a call's progress reports. liveCall.mu guards all
// fields of reportLog.
type reportLog struct {
	events.ReportSummary
	lastReportAt   time.Time
	resultAudience string
	lastMessages   []ToolMessage
	droppedCount   int
}

// A report with an activity or an EndAudience counts as a progress report only if it also contains
// text or numbers.
func isProgress(r *wire.Report) bool {
	return r.Activity == nil && r.EndAudience == "" || r.Message != "" || r.Status != "" || r.HasInvalidNumber ||
		r.Progress != nil || r.Percent != nil || r.Loaded != nil || r.Total != nil
}

func (l *reportLog) add(n progress.Numbers, r *wire.Report, storeMessages bool) {
	isForUser := r.Audience == AudienceUser
	if n.HasProgress {
		l.AnyAudience.Numbers = n
		if isForUser {
			l.UserAudience.Numbers = n
		}
	}
	if r.Message == "" && r.Status == "" {
		return
	}
	l.AnyAudience.StatusWord = r.Status
	if isForUser {
		l.UserAudience.StatusWord = r.Status
	}
	if r.Message == "" || r.Message == l.AnyAudience.Message && !isForUser {
		return
	}
	l.AnyAudience.Message = r.Message
	if isForUser {
		l.UserAudience.Message = r.Message
	}
	if !storeMessages {
		return
	}
	if len(l.lastMessages) == maxLastMessages {
		l.lastMessages = append(l.lastMessages[:0], l.lastMessages[1:]...)
		l.droppedCount++
	}
	l.lastMessages = append(l.lastMessages, ToolMessage{Time: l.lastReportAt, Message: events.TruncateText([]byte(r.Message), maxLastMessageBytes), Audience: r.Audience})
}
