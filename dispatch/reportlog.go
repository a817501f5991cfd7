package dispatch

import (
	"time"

	"opentabs/dispatch/events"
	"opentabs/dispatch/progress"
	"opentabs/wire"
)

// These constants limit the number and the bytes of the last messages of a call.
const (
	maxLastMessages     = 20
	maxLastMessageBytes = 400
)

// reportLog is what surfaces show of the reports of a call. reportLog has no lock:
// liveCall.mu guards it.
type reportLog struct {
	reportCount, invalidCount int
	lastReportAt              time.Time
	// anyAudience is from the last reports of any audience, userAudience from the last
	// reports for the user.
	anyAudience, userAudience shownReport
	endAudience               string
	// lastMessages are the last messages, oldest first.
	lastMessages []ToolMessage
}

// shownReport is the last valid numbers, the last message and the last status word.
type shownReport struct {
	numbers             progress.Numbers
	message, statusWord string
}

// isProgress reports whether r reports progress. An empty report counts as progress. A
// report with an activity or an EndAudience counts only if it also has text or numbers.
func isProgress(r *wire.Report) bool {
	return r.Activity == nil && r.EndAudience == "" || r.Message != "" || r.Status != "" || r.HasInvalidNumber ||
		r.Progress != nil || r.Percent != nil || r.Loaded != nil || r.Total != nil
}

// add records a report of progress. If keepMessages is set, add also stores the message.
func (l *reportLog) add(n progress.Numbers, r *wire.Report, keepMessages bool) {
	isForUser := r.Audience == AudienceUser
	if n.HasProgress {
		l.anyAudience.numbers = n
		if isForUser {
			l.userAudience.numbers = n
		}
	}
	if r.Message == "" && r.Status == "" {
		return
	}
	l.anyAudience.statusWord = r.Status
	if isForUser {
		l.userAudience.statusWord = r.Status
	}
	if r.Message == "" || r.Message == l.anyAudience.message && !isForUser {
		return
	}
	l.anyAudience.message = r.Message
	if isForUser {
		l.userAudience.message = r.Message
	}
	if !keepMessages {
		return
	}
	if len(l.lastMessages) == maxLastMessages {
		l.lastMessages = append(l.lastMessages[:0], l.lastMessages[1:]...)
	}
	l.lastMessages = append(l.lastMessages, ToolMessage{Time: l.lastReportAt, Message: events.CutText([]byte(r.Message), maxLastMessageBytes), Audience: r.Audience})
}

// fillView sets the fields of a view that reports determine.
func (l *reportLog) fillView(v *View) {
	v.ReportCount, v.InvalidCount, v.EndAudience = l.reportCount, l.invalidCount, l.endAudience
	v.Message, v.StatusWord = l.anyAudience.message, l.anyAudience.statusWord
	v.UserMessage, v.UserStatusWord = l.userAudience.message, l.userAudience.statusWord
	fillNumbers(&v.Snapshot, l.anyAudience.numbers)
	var userSnapshot Snapshot
	fillNumbers(&userSnapshot, l.userAudience.numbers)
	v.UserProgress = userSnapshot.Progress
}

// fillNumbers sets the numbers of a snapshot.
func fillNumbers(s *Snapshot, n progress.Numbers) {
	if n.HasProgress {
		loaded := n.Progress
		if n.HasLoaded {
			loaded = n.Loaded
		}
		s.Loaded = &loaded
	}
	if !n.HasTotal {
		return
	}
	total := n.Total
	s.Total = &total
	switch {
	case n.Total > 0:
		fraction := n.Progress / n.Total
		s.Progress = &fraction
	case n.IsFinal(): // progress 0 of total 0 is complete
		complete := 1.0
		s.Progress = &complete
	}
}
