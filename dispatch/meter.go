package dispatch

import (
	"math"
	"slices"
	"time"
)

// meter turns reports into notifications whose progress increases strictly and
// that come no faster than one an interval. It is not safe for concurrent use.
type meter struct {
	// interval is the least time between two notifications; negative means
	// none, and then every accepted report is kept.
	interval time.Duration

	line  numberLine
	reach float64 // the greatest progress sent or queued, if any
	any   bool    // something was sent or queued
	total float64 // the last one that was reported, 0 before
	// hasTotal says that the last report with numbers had a total.
	hasTotal bool
	text     said // the last message accepted, with its word
	// final says that the first final report was accepted, done that it was sent.
	final, done bool

	// queue holds what was accepted and not sent. If interval >= 0 it has at most
	// one due notice, maxKept kept ones, the first final report, and before and
	// after that one for each audience and a reminder.
	queue   []notice
	kept    int       // the kept notices in the queue
	sent    time.Time // when the last one was sent
	sentAny bool
}

// maxKept is how many notices keep keeps at once. It bounds the queue of a tool
// that asks the user again and again while its client reads slowly.
const maxKept = 8

// notice is a notification that waits to be sent.
type notice struct {
	said
	// progress is the tool's own if exact is set; else it is chosen when the notice
	// is sent. total is the one that was known when the report came.
	progress, total float64
	exact, hasTotal bool
	// final marks the first final report, which is sent at once and never merged.
	final bool
	// due marks a notice that the rate allowed at once when it was accepted, and
	// kept one that came before a suspension: neither is replaced.
	due, kept bool
	// reminder marks a message of opentabs, which replaces none of the tool's for
	// the user.
	reminder bool
}

// said is what a report says: a message, the tool's own word for what it does, and
// for whom both are.
type said struct{ message, word, audience string }

func (s said) isEmpty() bool { return s.message == "" && s.word == "" }

// repeats reports whether s says nothing beyond what was said before.
func (s said) repeats(before said) bool {
	return s.isEmpty() || s.message == before.message && s.word == before.word
}

func (n *notice) forUser() bool { return n.audience == AudienceUser }

// accept takes a report that comes at now. One whose numbers do not increase is
// dropped unless it has a new message or is the first final one.
func (m *meter) accept(now time.Time, n numbers, text said) {
	e := notice{said: text, due: len(m.queue) == 0 && now.Sub(m.sent) >= m.interval}
	if n.hasTotal {
		m.total = n.total
	}
	if n.hasProgress || n.hasTotal {
		m.hasTotal = n.hasTotal
	}
	e.total, e.hasTotal = m.total, m.hasTotal
	e.final = n.final() && !m.final
	if e.final && m.interval >= 0 && n.progress > m.line.high {
		m.yield(n.progress)
	}
	switch {
	case n.hasProgress && (!m.any || n.progress > m.reach):
		e.exact, e.progress = true, n.progress
		m.line.report(n.progress)
		m.reach = n.progress
	case n.hasProgress && !e.final && text.repeats(m.text):
		return
	}
	m.any = true
	m.final = m.final || e.final
	if !text.isEmpty() {
		m.text = text
	}
	m.push(e)
}

// remind takes a message of opentabs for the user that comes at now.
func (m *meter) remind(now time.Time, message string) {
	m.any = true
	m.push(notice{
		said: said{message: message, audience: AudienceUser}, reminder: true,
		due:   len(m.queue) == 0 && now.Sub(m.sent) >= m.interval,
		total: m.total, hasTotal: m.hasTotal,
	})
}

// keep has the messages for the user that wait sent whatever comes after them:
// the tool asks the user something next.
func (m *meter) keep() {
	for i := range m.queue {
		e := &m.queue[i]
		if m.interval >= 0 && m.kept < maxKept && !e.due && !e.kept && e.forUser() && !e.isEmpty() && !e.reminder {
			e.kept = true
			m.kept++
		}
	}
}

// yield makes room for the first final report: what waits with a greater number
// is sent before it with a smaller one.
func (m *meter) yield(progress float64) {
	for i := range m.queue {
		if m.queue[i].progress >= progress {
			m.queue[i].exact = false
		}
	}
	m.reach = min(m.reach, m.line.high)
}

// push puts e into the queue. The latest notice replaces the one before, except
// that one for the user is not replaced by an internal one or by a reminder.
func (m *meter) push(e notice) {
	last := len(m.queue) - 1
	if m.interval < 0 || last < 0 || !e.replaces(&m.queue[last]) {
		m.queue = append(m.queue, e)
		return
	}
	e.absorb(&m.queue[last])
	// What is for the user and waits before an internal notice is replaced too
	// when that becomes one for the user.
	for e.forUser() && last > 0 && e.replaces(&m.queue[last-1]) {
		last--
		e.absorb(&m.queue[last])
	}
	m.queue[last] = e
	m.queue = m.queue[:last+1]
}

// replaces reports whether e may take the place of the notice before it.
func (e *notice) replaces(before *notice) bool {
	switch {
	case before.final || before.due || before.kept:
		return false
	case e.reminder && before.forUser() && !before.isEmpty():
		return before.reminder
	case !before.forUser() || e.forUser():
		return true
	default: // a message is kept with its audience if e has none
		return e.isEmpty() && !before.isEmpty()
	}
}

// absorb takes over what the notice before has and e lacks.
func (e *notice) absorb(before *notice) {
	if e.isEmpty() && !before.isEmpty() {
		e.said, e.reminder = before.said, before.reminder
	}
	if !e.exact && !e.final && before.exact {
		e.exact, e.progress, e.total, e.hasTotal = true, before.progress, before.total, before.hasTotal
	}
}

// take returns the next notification that may be sent at now. If there is none
// yet, wait is how long until there is; wait is 0 if nothing can be sent.
func (m *meter) take(now time.Time) (p Progress, ok bool, wait time.Duration) {
	if len(m.queue) == 0 {
		return Progress{}, false, 0
	}
	urgent := m.final && !m.done
	if m.interval > 0 && !urgent {
		if d := m.interval - now.Sub(m.sent); d > 0 {
			return Progress{}, false, d
		}
	}
	p, ok = m.pop(now, false)
	return p, ok, 0
}

// rest returns the next notification whatever the time is, and false after the
// last: the call has ended, and no more reports come.
func (m *meter) rest(now time.Time) (Progress, bool) {
	return m.pop(now, true)
}

// pop takes the next notice out of the queue and gives it its numbers. A message
// for which there is no number waits for the next report, unless that was the
// last.
func (m *meter) pop(now time.Time, last bool) (Progress, bool) {
	for len(m.queue) > 0 {
		e := m.queue[0]
		p, ok := m.number(&e)
		if !ok && len(m.queue) == 1 {
			if !last {
				return Progress{}, false
			}
			// No final report can come any more, so the total may be passed.
			p.Progress = m.line.high + gapAbove(m.line.high)
			p.Total, p.HasTotal = 0, false
			ok = !math.IsInf(p.Progress, 0)
		}
		if e.kept {
			m.kept--
		}
		m.shift()
		if !ok {
			m.displace(e)
			continue
		}
		m.line.high = p.Progress
		m.reach = max(m.reach, p.Progress)
		m.done = m.done || e.final
		m.sent, m.sentAny = now, true
		return p, true
	}
	return Progress{}, false
}

// displace handles a notice for which there is no number before the next one. The
// next one takes its message over if it has none; else a message for the user
// follows the next number, unless a later one for the user comes before that.
func (m *meter) displace(e notice) {
	if len(m.queue) == 0 || e.isEmpty() {
		return
	}
	if m.queue[0].isEmpty() {
		m.queue[0].said = e.said
		return
	}
	for i := range m.queue {
		next := &m.queue[i]
		switch {
		case !e.forUser():
			return
		case next.exact && next.progress > m.line.high: // it is sent, and makes room
			behind := notice{said: e.said, total: e.total, hasTotal: e.hasTotal, reminder: e.reminder}
			m.queue = slices.Insert(m.queue, i+1, behind)
			return
		case next.forUser() && !next.isEmpty():
			return
		}
	}
}

// number is the notification of a notice. It reports false if there is no number
// between those before and those behind it.
func (m *meter) number(e *notice) (Progress, bool) {
	p := Progress{Message: e.message, StatusWord: e.word, Audience: e.audience}
	if e.exact && (!m.sentAny || e.progress > m.line.high) {
		p.Progress, p.Total, p.HasTotal = e.progress, e.total, e.hasTotal
		m.line.send(e.progress)
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
	p.Progress, ok = m.line.step(ceiling)
	if e.hasTotal && !m.done && !e.final && p.Progress <= e.total {
		p.Total, p.HasTotal = e.total, true
	}
	return p, ok
}

// shift removes the first notice.
func (m *meter) shift() {
	if len(m.queue) > 8 { // there is no rate, and copying would take long
		m.queue = m.queue[1:]
		return
	}
	m.queue = append(m.queue[:0], m.queue[1:]...)
}
