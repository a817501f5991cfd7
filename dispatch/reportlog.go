package dispatch

import (
	"time"

	"opentabs/dispatch/progress"
	"opentabs/wire"
)

// The maximum of last messages that a call keeps, and their length in bytes.
const (
	maxLastMessages     = 20
	maxLastMessageBytes = 400
)

// reportLog is what surfaces show of the reports of a call. reportLog has no lock:
// liveCall.mu guards it.
type reportLog struct {
	count, invalid int
	lastAt         time.Time
	// all is the text and number of the last reports of any audience; user is that of
	// the last reports for the user.
	all, user   shownReport
	endAudience string
	// messages are the last messages, oldest first.
	messages []LastMessage
}

// shownReport is the last valid numbers, the last message and the last status word.
type shownReport struct {
	numbers             progress.Numbers
	message, statusWord string
}

// isProgress reports whether r reports progress; an empty report does. A report
// with an activity or the audience of the end need not.
func isProgress(r *wire.Report) bool {
	return r.Activity == nil && r.EndAudience == "" || r.Message != "" || r.Status != "" || r.Invalid ||
		r.Progress != nil || r.Percent != nil || r.Loaded != nil || r.Total != nil
}

// add records a report of progress. keepMessages also stores its message.
func (l *reportLog) add(n progress.Numbers, r *wire.Report, keepMessages bool) {
	isForUser := r.Audience == AudienceUser
	if n.HasProgress {
		l.all.numbers = n
		if isForUser {
			l.user.numbers = n
		}
	}
	if r.Message == "" && r.Status == "" {
		return
	}
	l.all.statusWord = r.Status
	if isForUser {
		l.user.statusWord = r.Status
	}
	if r.Message == "" || r.Message == l.all.message && !isForUser {
		return
	}
	l.all.message = r.Message
	if isForUser {
		l.user.message = r.Message
	}
	if !keepMessages {
		return
	}
	if len(l.messages) == maxLastMessages {
		l.messages = append(l.messages[:0], l.messages[1:]...)
	}
	l.messages = append(l.messages, LastMessage{Time: l.lastAt, Message: cutText([]byte(r.Message), maxLastMessageBytes), Audience: r.Audience})
}

// fillView sets the fields of a view that reports determine.
func (l *reportLog) fillView(v *View) {
	v.Reports, v.Invalid, v.EndAudience = l.count, l.invalid, l.endAudience
	v.Message, v.StatusWord = l.all.message, l.all.statusWord
	v.UserMessage, v.UserStatusWord = l.user.message, l.user.statusWord
	fillNumbers(&v.Snapshot, l.all.numbers)
	var forUser Snapshot
	fillNumbers(&forUser, l.user.numbers)
	v.UserProgress = forUser.Progress
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
	case n.IsFinal(): // 0 of 0 is complete
		one := 1.0
		s.Progress = &one
	}
}
