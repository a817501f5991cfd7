package progress

import (
	"math"
	"slices"
	"time"
)

// The type meter turns progress reports into notifications with strictly increasing
// progress, at most one per Interval. A meter is not safe for concurrent use.
type meter struct {
	// Interval is the shortest time between two notifications. If Interval is negative, every
	// accepted report becomes a notification.
	Interval time.Duration

	numbers                     numberSequence
	highestProgress             float64
	hasQueuedBefore             bool
	lastTotal                   float64
	hasLastTotal                bool
	lastText                    Text
	hasFinalReport, isFinalSent bool

	// With a positive Interval, the queue contains at most one notification with isSendable, maxKeptNotifications
	// notifications with isKept, and the first final report.
	queue                 []queuedNotification
	keptNotificationCount int
	lastSentAt            time.Time
	hasSentBefore         bool
}

// Without the limit maxKeptNotifications, the queue would grow if a tool repeatedly asks the user for something while
// its client reads slowly.
const maxKeptNotifications = 8

// queuedNotification is a notification that waits in the queue of a meter.
type queuedNotification struct {
	Text
	// progress is the tool's number if isToolNumber is true; without isToolNumber, popNotification chooses a number.
	progress, totalProgress float64
	isToolNumber, hasTotal  bool
	// isFinal is true for the notification of the call's first final report, which is
	// sent without delay and never replaced.
	isFinal bool
	// isSendable marks a notification that the rate limit already allows. isKept marks a notification that was queued before
	// a suspension.
	isSendable, isKept bool
	// A reminder in the queue never replaces a message that a tool sent to the user.
	isReminder bool
}

func (n *queuedNotification) isForUser() bool { return n.Audience == AudienceUser }

// If a report's number does not increase, the report is dropped, unless its text is new or it is the first final
// report.
func (m *meter) AddReport(now time.Time, n Numbers, reportText Text) {
	e := queuedNotification{Text: reportText, isSendable: len(m.queue) == 0 && now.Sub(m.lastSentAt) >= m.Interval}
	if n.HasTotal {
		m.lastTotal = n.Total
	}
	if n.HasProgress || n.HasTotal {
		m.hasLastTotal = n.HasTotal
	}
	e.totalProgress, e.hasTotal = m.lastTotal, m.hasLastTotal
	e.isFinal = n.IsFinal() && !m.hasFinalReport
	if e.isFinal && m.Interval >= 0 && n.Progress > m.numbers.lastSent {
		m.lowerQueuedNumbers(n.Progress)
	}
	switch {
	case n.HasProgress && (!m.hasQueuedBefore || n.Progress > m.highestProgress):
		e.isToolNumber, e.progress = true, n.Progress
		m.numbers.recordNumber(n.Progress)
		m.highestProgress = n.Progress
	case n.HasProgress && !e.isFinal && reportText.isRepeatOf(m.lastText):
		return
	}
	m.hasQueuedBefore = true
	m.hasFinalReport = m.hasFinalReport || e.isFinal
	if !reportText.isEmpty() {
		m.lastText = reportText
	}
	m.push(e)
}

func (m *meter) SendReminder(now time.Time, reportMessage string) {
	m.hasQueuedBefore = true
	m.push(queuedNotification{
		Text: Text{Message: reportMessage, Audience: AudienceUser}, isReminder: true,
		isSendable:    len(m.queue) == 0 && now.Sub(m.lastSentAt) >= m.Interval,
		totalProgress: m.lastTotal, hasTotal: m.hasLastTotal,
	})
}

// KeepQueuedNotifications ensures that later messages do not replace the queued messages for the user.
// The dispatcher calls KeepQueuedNotifications before a call is suspended, because the queued messages
// may explain the question to the user.
func (m *meter) KeepQueuedNotifications() {
	for i := range m.queue {
		e := &m.queue[i]
		if m.Interval >= 0 && m.keptNotificationCount < maxKeptNotifications && !e.isSendable && !e.isKept && e.isForUser() && !e.isEmpty() && !e.isReminder {
			e.isKept = true
			m.keptNotificationCount++
		}
	}
}

// lowerQueuedNumbers lowers the queued progress numbers, because the progress of the first final report must exceed all
// earlier numbers.
func (m *meter) lowerQueuedNumbers(progress float64) {
	for i := range m.queue {
		if m.queue[i].progress >= progress {
			m.queue[i].isToolNumber = false
		}
	}
	m.highestProgress = min(m.highestProgress, m.numbers.lastSent)
}

func (m *meter) push(e queuedNotification) {
	lastIndex := len(m.queue) - 1
	if m.Interval < 0 || lastIndex < 0 || !e.canReplace(&m.queue[lastIndex]) {
		m.queue = append(m.queue, e)
		return
	}
	e.mergeEarlier(&m.queue[lastIndex])
	for e.isForUser() && lastIndex > 0 && e.canReplace(&m.queue[lastIndex-1]) {
		lastIndex--
		e.mergeEarlier(&m.queue[lastIndex])
	}
	m.queue[lastIndex] = e
	m.queue = m.queue[:lastIndex+1]
}

// An internal notification or a reminder never replaces a message for the user.
func (e *queuedNotification) canReplace(earlierQueuedNotification *queuedNotification) bool {
	switch {
	case earlierQueuedNotification.isFinal || earlierQueuedNotification.isSendable || earlierQueuedNotification.isKept:
		return false
	case e.isReminder && earlierQueuedNotification.isForUser() && !earlierQueuedNotification.isEmpty():
		return earlierQueuedNotification.isReminder
	case !earlierQueuedNotification.isForUser() || e.isForUser():
		return true
	default: // a notification without text may replace one with text, whose text and audience are kept
		return e.isEmpty() && !earlierQueuedNotification.isEmpty()
	}
}

func (e *queuedNotification) mergeEarlier(earlierQueuedNotification *queuedNotification) {
	if e.isEmpty() && !earlierQueuedNotification.isEmpty() {
		e.Text, e.isReminder = earlierQueuedNotification.Text, earlierQueuedNotification.isReminder
	}
	if !e.isToolNumber && !e.isFinal && earlierQueuedNotification.isToolNumber {
		e.isToolNumber, e.progress, e.totalProgress, e.hasTotal = true, earlierQueuedNotification.progress, earlierQueuedNotification.totalProgress, earlierQueuedNotification.hasTotal
	}
}

// Next returns the next notification of the meter, if the rate limit allows a notification at the given time. If the
// rate limit forbids a notification now, the result waitTime is the time until a notification is allowed.
func (m *meter) Next(now time.Time) (p Notification, ok bool, waitTime time.Duration) {
	if len(m.queue) == 0 {
		return Notification{}, false, 0
	}
	mustSendFinal := m.hasFinalReport && !m.isFinalSent
	if m.Interval > 0 && !mustSendFinal {
		if d := m.Interval - now.Sub(m.lastSentAt); d > 0 {
			return Notification{}, false, d
		}
	}
	p, ok = m.popNotification(now, false)
	return p, ok, 0
}

// TakeNext must be called only after the end of the call, when no more reports arrive.
func (m *meter) TakeNext(now time.Time) (Notification, bool) {
	return m.popNotification(now, true)
}

// If no progress number is available for a message, the message stays in the queue until the next report, unless isLast
// is true.
func (m *meter) popNotification(now time.Time, isLast bool) (Notification, bool) {
	for len(m.queue) > 0 {
		e := m.queue[0]
		p, ok := m.assignNumber(&e)
		if !ok && len(m.queue) == 1 {
			if !isLast {
				return Notification{}, false
			}
			// At the end of a call, no final report can follow, so the progress is allowed to exceed
			// the total.
			p.Progress = m.numbers.lastSent + floatGapAbove(m.numbers.lastSent)
			p.Total, p.HasTotal = 0, false
			ok = !math.IsInf(p.Progress, 0)
		}
		if e.isKept {
			m.keptNotificationCount--
		}
		m.removeFirst()
		if !ok {
			m.copyTextToNext(e)
			continue
		}
		m.numbers.lastSent = p.Progress
		m.highestProgress = max(m.highestProgress, p.Progress)
		m.isFinalSent = m.isFinalSent || e.isFinal
		m.lastSentAt, m.hasSentBefore = now, true
		return p, true
	}
	return Notification{}, false
}

func (m *meter) copyTextToNext(e queuedNotification) {
	if len(m.queue) == 0 || e.isEmpty() {
		return
	}
	if m.queue[0].isEmpty() {
		m.queue[0].Text = e.Text
		return
	}
	for i := range m.queue {
		nextNotification := &m.queue[i]
		switch {
		case !e.isForUser():
			return
		case nextNotification.isToolNumber && nextNotification.progress > m.numbers.lastSent:
			textNotification := queuedNotification{Text: e.Text, totalProgress: e.totalProgress, hasTotal: e.hasTotal, isReminder: e.isReminder}
			m.queue = slices.Insert(m.queue, i+1, textNotification)
			return
		case nextNotification.isForUser() && !nextNotification.isEmpty():
			return
		}
	}
}

func (m *meter) assignNumber(e *queuedNotification) (Notification, bool) {
	p := Notification{Message: e.Message, StatusWord: e.StatusWord, Audience: e.Audience}
	if e.isToolNumber && (!m.hasSentBefore || e.progress > m.numbers.lastSent) {
		p.Progress, p.Total, p.HasTotal = e.progress, e.totalProgress, e.hasTotal
		m.numbers.restartSteps(e.progress)
		return p, true
	}
	upperBound := math.Inf(1)
	if m.lastTotal > m.numbers.lastSent {
		upperBound = m.lastTotal
	}
	for i := 1; i < len(m.queue); i++ {
		if m.queue[i].isToolNumber {
			upperBound = min(upperBound, m.queue[i].progress)
			break
		}
	}
	var ok bool
	m.numbers.totalProgress = e.totalProgress
	p.Progress, ok = m.numbers.advanceStep(upperBound)
	if e.hasTotal && !m.isFinalSent && !e.isFinal && p.Progress <= e.totalProgress {
		p.Total, p.HasTotal = e.totalProgress, true
	}
	return p, ok
}

func (m *meter) removeFirst() {
	if len(m.queue) > 8 { // with a negative Interval the queue may be long, and copying would be slow
		m.queue = m.queue[1:]
		return
	}
	m.queue = append(m.queue[:0], m.queue[1:]...)
}
