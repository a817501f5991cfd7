package progress

import (
	"math"
	"slices"
	"time"
)

// meter turns reports into notifications with strictly increasing progress, at most one
// per interval. meter is not safe for concurrent use.
type meter struct {
	// Interval is the least time between two notifications. A negative interval
	// switches the limit off; then every accepted report is queued.
	Interval time.Duration

	line     numberLine
	reach    float64 // the greatest progress sent or queued
	hasAny   bool    // a notice was sent or queued
	total    float64 // the last reported total, 0 before
	hasTotal bool    // the last report with numbers had a total
	text     Text    // the last text accepted
	// hasFinal is set when the first final report is accepted, sentFinal when it is
	// sent.
	hasFinal, sentFinal bool

	// queue contains the accepted notices that are not sent. With an interval, the
	// queue has at most one due notice, maxKept kept notices and the first final
	// report. Before and after the final report there is at most one notice for each
	// audience and a reminder.
	queue   []notice
	kept    int       // kept notices in the queue
	sentAt  time.Time // the time of the last notification
	sentAny bool
}

// maxKept is the maximum of kept notices in a queue. maxKept bounds the queue of a tool
// that asks the user again and again while its client reads slowly.
const maxKept = 8

// notice is a queued notification.
type notice struct {
	Text
	// progress is the tool's number if exact is set; else pop chooses it. total is
	// the last total that was reported before the notice.
	progress, total float64
	exact, hasTotal bool
	// final marks the first final report: sent at once, never merged.
	final bool
	// due marks a notice that is within the rate limit; kept marks one from before a
	// suspension. Neither is replaced.
	due, kept bool
	// reminder marks a message of opentabs. reminder replaces no message of the tool
	// for the user.
	reminder bool
}

func (n *notice) isForUser() bool { return n.Audience == AudienceUser }

// Accept queues the report that arrived at now. Accept drops a report whose numbers do
// not increase, unless its text is new or it is the first final report.
func (m *meter) Accept(now time.Time, n Numbers, text Text) {
	e := notice{Text: text, due: len(m.queue) == 0 && now.Sub(m.sentAt) >= m.Interval}
	if n.HasTotal {
		m.total = n.Total
	}
	if n.HasProgress || n.HasTotal {
		m.hasTotal = n.HasTotal
	}
	e.total, e.hasTotal = m.total, m.hasTotal
	e.final = n.IsFinal() && !m.hasFinal
	if e.final && m.Interval >= 0 && n.Progress > m.line.high {
		m.lowerAbove(n.Progress)
	}
	switch {
	case n.HasProgress && (!m.hasAny || n.Progress > m.reach):
		e.exact, e.progress = true, n.Progress
		m.line.record(n.Progress)
		m.reach = n.Progress
	case n.HasProgress && !e.final && text.repeats(m.text):
		return
	}
	m.hasAny = true
	m.hasFinal = m.hasFinal || e.final
	if !text.isEmpty() {
		m.text = text
	}
	m.push(e)
}

// Remind queues a message of opentabs for the user.
func (m *meter) Remind(now time.Time, message string) {
	m.hasAny = true
	m.push(notice{
		Text: Text{Message: message, Audience: AudienceUser}, reminder: true,
		due:   len(m.queue) == 0 && now.Sub(m.sentAt) >= m.Interval,
		total: m.total, hasTotal: m.hasTotal,
	})
}

// KeepQueued protects the queued messages for the user from being replaced. KeepQueued
// precedes a suspension: the messages explain the question that follows.
func (m *meter) KeepQueued() {
	for i := range m.queue {
		e := &m.queue[i]
		if m.Interval >= 0 && m.kept < maxKept && !e.due && !e.kept && e.isForUser() && !e.isEmpty() && !e.reminder {
			e.kept = true
			m.kept++
		}
	}
}

// lowerAbove makes room for the first final report: queued notices with a greater
// number get a smaller one.
func (m *meter) lowerAbove(progress float64) {
	for i := range m.queue {
		if m.queue[i].progress >= progress {
			m.queue[i].exact = false
		}
	}
	m.reach = min(m.reach, m.line.high)
}

// push queues e. The latest notice replaces the previous notice, but an internal notice
// or a reminder never replaces a notice for the user.
func (m *meter) push(e notice) {
	last := len(m.queue) - 1
	if m.Interval < 0 || last < 0 || !e.replaces(&m.queue[last]) {
		m.queue = append(m.queue, e)
		return
	}
	e.fillFrom(&m.queue[last])
	// When the absorbed text makes e a notice for the user, e also replaces the
	// notices for the user before it.
	for e.isForUser() && last > 0 && e.replaces(&m.queue[last-1]) {
		last--
		e.fillFrom(&m.queue[last])
	}
	m.queue[last] = e
	m.queue = m.queue[:last+1]
}

// replaces reports whether e may replace the notice before it.
func (e *notice) replaces(before *notice) bool {
	switch {
	case before.final || before.due || before.kept:
		return false
	case e.reminder && before.isForUser() && !before.isEmpty():
		return before.reminder
	case !before.isForUser() || e.isForUser():
		return true
	default: // a text keeps its audience if e has no text
		return e.isEmpty() && !before.isEmpty()
	}
}

// fillFrom copies the text and the number that e lacks from the notice before it.
func (e *notice) fillFrom(before *notice) {
	if e.isEmpty() && !before.isEmpty() {
		e.Text, e.reminder = before.Text, before.reminder
	}
	if !e.exact && !e.final && before.exact {
		e.exact, e.progress, e.total, e.hasTotal = true, before.progress, before.total, before.hasTotal
	}
}

// Next returns the next notification that may be sent at now. If the rate forbids
// one, wait is the time until the next; wait is 0 if nothing can be sent.
func (m *meter) Next(now time.Time) (p Notification, ok bool, wait time.Duration) {
	if len(m.queue) == 0 {
		return Notification{}, false, 0
	}
	isUrgent := m.hasFinal && !m.sentFinal
	if m.Interval > 0 && !isUrgent {
		if d := m.Interval - now.Sub(m.sentAt); d > 0 {
			return Notification{}, false, d
		}
	}
	p, ok = m.pop(now, false)
	return p, ok, 0
}

// Drain returns the next notification at any rate, and false after the last. Use
// it after the end of the call, when no more reports come.
func (m *meter) Drain(now time.Time) (Notification, bool) {
	return m.pop(now, true)
}

// pop removes the next notice from the queue and chooses its numbers. A message
// without a possible number waits for the next report, unless isLast is set.
func (m *meter) pop(now time.Time, isLast bool) (Notification, bool) {
	for len(m.queue) > 0 {
		e := m.queue[0]
		p, ok := m.assignNumber(&e)
		if !ok && len(m.queue) == 1 {
			if !isLast {
				return Notification{}, false
			}
			// No final report can follow, so progress may exceed the total.
			p.Progress = m.line.high + gapAbove(m.line.high)
			p.Total, p.HasTotal = 0, false
			ok = !math.IsInf(p.Progress, 0)
		}
		if e.kept {
			m.kept--
		}
		m.removeFirst()
		if !ok {
			m.displace(e)
			continue
		}
		m.line.high = p.Progress
		m.reach = max(m.reach, p.Progress)
		m.sentFinal = m.sentFinal || e.final
		m.sentAt, m.sentAny = now, true
		return p, true
	}
	return Notification{}, false
}

// displace handles a notice that has no number below the next notice. If the next
// notice has no text, displace moves the text to that notice. A displaced message for
// the user follows the next number, unless a later message for the user precedes that
// number.
func (m *meter) displace(e notice) {
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
		case next.exact && next.progress > m.line.high: // next will be sent exactly, and e can have a number above it
			behind := notice{Text: e.Text, total: e.total, hasTotal: e.hasTotal, reminder: e.reminder}
			m.queue = slices.Insert(m.queue, i+1, behind)
			return
		case next.isForUser() && !next.isEmpty():
			return
		}
	}
}

// assignNumber returns the notification of a notice. assignNumber returns false if no number is
// free between the notices before and behind it.
func (m *meter) assignNumber(e *notice) (Notification, bool) {
	p := Notification{Message: e.Message, StatusWord: e.StatusWord, Audience: e.Audience}
	if e.exact && (!m.sentAny || e.progress > m.line.high) {
		p.Progress, p.Total, p.HasTotal = e.progress, e.total, e.hasTotal
		m.line.restartAt(e.progress)
		return p, true
	}
	ceiling := math.Inf(1)
	if m.total > m.line.high {
		ceiling = m.total
	}
	for i := 1; i < len(m.queue); i++ {
		if m.queue[i].exact {
			ceiling = min(ceiling, m.queue[i].progress)
			break
		}
	}
	var ok bool
	m.line.total = e.total
	p.Progress, ok = m.line.advanceStep(ceiling)
	if e.hasTotal && !m.sentFinal && !e.final && p.Progress <= e.total {
		p.Total, p.HasTotal = e.total, true
	}
	return p, ok
}

// removeFirst removes the first notice.
func (m *meter) removeFirst() {
	if len(m.queue) > 8 { // without an interval the queue is long, and copying would be slow
		m.queue = m.queue[1:]
		return
	}
	m.queue = append(m.queue[:0], m.queue[1:]...)
}
