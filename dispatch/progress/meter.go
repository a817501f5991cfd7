package progress

import (
	"math"
	"slices"
	"time"
)

// meter turns reports into notifications with strictly increasing progress, at most one
// per interval. meter is not safe for concurrent use.
type meter struct {
	// Interval is the least time between two notifications. With a negative Interval,
	// every accepted report is queued.
	Interval time.Duration

	numbers         numberLine
	highestProgress float64 // the greatest progress sent or queued
	hasQueued       bool    // set once a notice was sent or queued
	lastTotal       float64 // the last reported total; 0 before the first
	lastHasTotal    bool    // the last report with numbers had a total
	lastText        Text    // the last text accepted
	// hasFinalReport is set when the first final report is accepted. isFinalSent is set
	// when the first final report is sent.
	hasFinalReport, isFinalSent bool

	// queue contains the accepted notices that are not sent. With an interval, the
	// queue has at most one due notice, maxKept kept notices and the first final
	// report. Before and after the final report, the queue has at most one more notice
	// for each audience and one more reminder.
	queue      []notice
	keptCount  int       // kept notices in the queue
	lastSentAt time.Time // the time of the last notification
	hasSent    bool
}

// maxKept is the maximum of kept notices in a queue. maxKept bounds the queue of a tool
// that asks the user again and again while its client reads slowly.
const maxKept = 8

// notice is a queued notification.
type notice struct {
	Text
	// progress is the tool's number if isExact is set; otherwise popNotice chooses a
	// number. total is the last total that was reported before the notice.
	progress, total   float64
	isExact, hasTotal bool
	// isFinal marks the first final report, which is sent at once and never merged.
	isFinal bool
	// isDue marks a notice that the rate limit already allows. isKept marks a notice from
	// before a suspension. Due notices and kept notices are never replaced.
	isDue, isKept bool
	// isReminder marks a message of opentabs. A reminder never replaces a message that
	// the tool has sent for the user.
	isReminder bool
}

func (n *notice) isForUser() bool { return n.Audience == AudienceUser }

// Accept queues the report that arrived at now. Accept drops a report whose numbers do
// not increase, unless its text is new or it is the first final report.
func (m *meter) Accept(now time.Time, n Numbers, text Text) {
	e := notice{Text: text, isDue: len(m.queue) == 0 && now.Sub(m.lastSentAt) >= m.Interval}
	if n.HasTotal {
		m.lastTotal = n.Total
	}
	if n.HasProgress || n.HasTotal {
		m.lastHasTotal = n.HasTotal
	}
	e.total, e.hasTotal = m.lastTotal, m.lastHasTotal
	e.isFinal = n.IsFinal() && !m.hasFinalReport
	if e.isFinal && m.Interval >= 0 && n.Progress > m.numbers.lastSent {
		m.lowerNumbersAbove(n.Progress)
	}
	switch {
	case n.HasProgress && (!m.hasQueued || n.Progress > m.highestProgress):
		e.isExact, e.progress = true, n.Progress
		m.numbers.recordNumber(n.Progress)
		m.highestProgress = n.Progress
	case n.HasProgress && !e.isFinal && text.repeats(m.lastText):
		return
	}
	m.hasQueued = true
	m.hasFinalReport = m.hasFinalReport || e.isFinal
	if !text.isEmpty() {
		m.lastText = text
	}
	m.push(e)
}

// Remind queues a message of opentabs for the user.
func (m *meter) Remind(now time.Time, message string) {
	m.hasQueued = true
	m.push(notice{
		Text: Text{Message: message, Audience: AudienceUser}, isReminder: true,
		isDue: len(m.queue) == 0 && now.Sub(m.lastSentAt) >= m.Interval,
		total: m.lastTotal, hasTotal: m.lastHasTotal,
	})
}

// KeepQueued protects the queued messages for the user from being replaced. KeepQueued
// is called before a suspension, because the queued messages explain the question to
// the user.
func (m *meter) KeepQueued() {
	for i := range m.queue {
		e := &m.queue[i]
		if m.Interval >= 0 && m.keptCount < maxKept && !e.isDue && !e.isKept && e.isForUser() && !e.isEmpty() && !e.isReminder {
			e.isKept = true
			m.keptCount++
		}
	}
}

// lowerNumbersAbove makes room for the first final report: queued notices with a greater
// number get a smaller number.
func (m *meter) lowerNumbersAbove(progress float64) {
	for i := range m.queue {
		if m.queue[i].progress >= progress {
			m.queue[i].isExact = false
		}
	}
	m.highestProgress = min(m.highestProgress, m.numbers.lastSent)
}

// push queues e. The latest notice replaces the previous notice, but an internal notice
// or a reminder never replaces a notice for the user.
func (m *meter) push(e notice) {
	lastIndex := len(m.queue) - 1
	if m.Interval < 0 || lastIndex < 0 || !e.canReplace(&m.queue[lastIndex]) {
		m.queue = append(m.queue, e)
		return
	}
	e.fillFrom(&m.queue[lastIndex])
	// If the text from fillFrom makes e a notice for the user, e also replaces the
	// previous notices for the user.
	for e.isForUser() && lastIndex > 0 && e.canReplace(&m.queue[lastIndex-1]) {
		lastIndex--
		e.fillFrom(&m.queue[lastIndex])
	}
	m.queue[lastIndex] = e
	m.queue = m.queue[:lastIndex+1]
}

// canReplace reports whether e may replace an earlier notice.
func (e *notice) canReplace(earlier *notice) bool {
	switch {
	case earlier.isFinal || earlier.isDue || earlier.isKept:
		return false
	case e.isReminder && earlier.isForUser() && !earlier.isEmpty():
		return earlier.isReminder
	case !earlier.isForUser() || e.isForUser():
		return true
	default: // a text keeps its audience if e has no text
		return e.isEmpty() && !earlier.isEmpty()
	}
}

// fillFrom copies the text and the number that e lacks from an earlier notice.
func (e *notice) fillFrom(earlier *notice) {
	if e.isEmpty() && !earlier.isEmpty() {
		e.Text, e.isReminder = earlier.Text, earlier.isReminder
	}
	if !e.isExact && !e.isFinal && earlier.isExact {
		e.isExact, e.progress, e.total, e.hasTotal = true, earlier.progress, earlier.total, earlier.hasTotal
	}
}

// Next returns the next notification that may be sent at now. If the rate limit forbids
// a notification now, wait is the time until the next notification. wait is 0 if
// nothing can be sent.
func (m *meter) Next(now time.Time) (p Notification, ok bool, wait time.Duration) {
	if len(m.queue) == 0 {
		return Notification{}, false, 0
	}
	isUrgent := m.hasFinalReport && !m.isFinalSent
	if m.Interval > 0 && !isUrgent {
		if d := m.Interval - now.Sub(m.lastSentAt); d > 0 {
			return Notification{}, false, d
		}
	}
	p, ok = m.popNotice(now, false)
	return p, ok, 0
}

// Drain returns the next notification at any rate, and false after the last. Call Drain
// after the end of the call, when no more reports come.
func (m *meter) Drain(now time.Time) (Notification, bool) {
	return m.popNotice(now, true)
}

// popNotice removes the next notice from the queue and chooses its numbers. A message
// without a possible number waits for the next report, unless isLast is set.
func (m *meter) popNotice(now time.Time, isLast bool) (Notification, bool) {
	for len(m.queue) > 0 {
		e := m.queue[0]
		p, ok := m.assignNumber(&e)
		if !ok && len(m.queue) == 1 {
			if !isLast {
				return Notification{}, false
			}
			// After the call no final report can follow, so progress may exceed the
			// total.
			p.Progress = m.numbers.lastSent + gapAbove(m.numbers.lastSent)
			p.Total, p.HasTotal = 0, false
			ok = !math.IsInf(p.Progress, 0)
		}
		if e.isKept {
			m.keptCount--
		}
		m.removeFirst()
		if !ok {
			m.moveText(e)
			continue
		}
		m.numbers.lastSent = p.Progress
		m.highestProgress = max(m.highestProgress, p.Progress)
		m.isFinalSent = m.isFinalSent || e.isFinal
		m.lastSentAt, m.hasSent = now, true
		return p, true
	}
	return Notification{}, false
}

// moveText keeps the text of a notice that cannot be sent, because no number is free
// for the notice. If the next notice has no text, moveText moves the text to that
// notice. If the next notice has a text, moveText queues a message for the user after
// the next notice with a number of the tool. If a later message for the user precedes
// that notice, moveText drops the earlier message.
func (m *meter) moveText(e notice) {
	if len(m.queue) == 0 || e.isEmpty() {
		return
	}
	if m.queue[0].isEmpty() {
		m.queue[0].Text = e.Text
		return
	}
	for i := range m.queue {
		next := &m.queue[i]
		switch {
		case !e.isForUser():
			return
		case next.isExact && next.progress > m.numbers.lastSent: // the notice next keeps its number, and the text of the notice e gets a greater number
			textNotice := notice{Text: e.Text, total: e.total, hasTotal: e.hasTotal, isReminder: e.isReminder}
			m.queue = slices.Insert(m.queue, i+1, textNotice)
			return
		case next.isForUser() && !next.isEmpty():
			return
		}
	}
}

// assignNumber returns the notification of a notice. assignNumber returns false if no
// number is free between the previous and the next notice.
func (m *meter) assignNumber(e *notice) (Notification, bool) {
	p := Notification{Message: e.Message, StatusWord: e.StatusWord, Audience: e.Audience}
	if e.isExact && (!m.hasSent || e.progress > m.numbers.lastSent) {
		p.Progress, p.Total, p.HasTotal = e.progress, e.total, e.hasTotal
		m.numbers.restartAt(e.progress)
		return p, true
	}
	ceiling := math.Inf(1)
	if m.lastTotal > m.numbers.lastSent {
		ceiling = m.lastTotal
	}
	for i := 1; i < len(m.queue); i++ {
		if m.queue[i].isExact {
			ceiling = min(ceiling, m.queue[i].progress)
			break
		}
	}
	var ok bool
	m.numbers.total = e.total
	p.Progress, ok = m.numbers.advanceStep(ceiling)
	if e.hasTotal && !m.isFinalSent && !e.isFinal && p.Progress <= e.total {
		p.Total, p.HasTotal = e.total, true
	}
	return p, ok
}

// removeFirst removes the first queued notice.
func (m *meter) removeFirst() {
	if len(m.queue) > 8 { // without an interval the queue is long, and copying would be slow
		m.queue = m.queue[1:]
		return
	}
	m.queue = append(m.queue[:0], m.queue[1:]...)
}
