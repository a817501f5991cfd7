package dispatch

import (
	"math"
	"slices"
	"time"
)

// window is how many notifications may come within that many intervals, and burst
// how many of them at once: a short tool says three things in 100 ms, and a
// client should hear them all.
const (
	window = 10
	burst  = 4
)

// meter applies rules 3 and 4 of design section 6: it turns reports into
// notifications whose progress increases strictly, and of which at most ten come
// within ten intervals: a few at once, the others an interval apart. It is not
// safe for concurrent use.
type meter struct {
	// interval is the time between two notifications; negative means none, and then
	// every accepted report is kept.
	interval time.Duration

	high    float64 // progress of the last accepted notification
	any     bool    // one was accepted
	numbers bool    // a report with numbers came
	total   float64 // of the last report with numbers, if hasTotal
	hasTot  bool
	message string // the last message accepted

	pending []Progress // accepted, not yet taken; if there is an interval, what may go at once and one
	urgent  bool       // the last of pending may go before the interval is over
	final   bool       // a final report was accepted
	// sent are the times of the last notifications, oldest first.
	sent []time.Time
}

// accept takes a report. Reports without progress count 1, 2, 3 ... until the
// first number comes; from then on they need a new message.
func (m *meter) accept(n numbers, message, audience string, now time.Time) {
	p := Progress{Progress: n.progress, Message: message, Audience: audience}
	total, hasTotal := n.total, n.hasTotal
	if n.hasProgress {
		m.numbers, m.total, m.hasTot = true, n.total, n.hasTotal
	}
	switch {
	case !n.hasProgress && !m.numbers:
		p.Progress, hasTotal = m.high+1, false
	case !n.hasProgress || (m.any && n.progress <= m.high):
		if message == "" || message == m.message {
			return
		}
		p.Progress = math.Nextafter(m.high, math.Inf(1))
		if !n.hasProgress {
			total, hasTotal = m.total, m.hasTot
		}
	}
	if math.IsInf(p.Progress, 0) { // after the greatest number there is no larger one
		return
	}
	if hasTotal && p.Progress-total <= total*epsilon {
		p.Total, p.HasTotal = total, true
	}
	m.high, m.any = p.Progress, true
	if message != "" {
		m.message = message
	}
	if n.final() && !m.final {
		m.final, m.urgent = true, true
	}
	m.push(p, now)
}

// push makes p the last pending notification: in the place of the one before,
// unless both may go at once. A message that was not sent yet is kept if p brings
// none.
func (m *meter) push(p Progress, now time.Time) {
	if m.interval < 0 || len(m.pending) == 0 || m.recent(now)+len(m.pending) < burst {
		m.pending = append(m.pending, p)
		return
	}
	last := &m.pending[len(m.pending)-1]
	if p.Message == "" {
		p.Message, p.Audience = last.Message, last.Audience
	}
	*last = p
}

// take returns the next notification that may be sent at now. If there is none
// yet, wait is how long until there is; wait is 0 if nothing is pending.
func (m *meter) take(now time.Time) (p Progress, ok bool, wait time.Duration) {
	if len(m.pending) == 0 {
		return Progress{}, false, 0
	}
	if m.interval > 0 && !m.urgent {
		if wait := m.next(now).Sub(now); wait > 0 {
			return Progress{}, false, wait
		}
	}
	return m.pop(now), true, 0
}

// recent is how many notifications were taken within the window before now.
func (m *meter) recent(now time.Time) int {
	n := 0
	for _, at := range m.sent {
		if now.Sub(at) < window*m.interval {
			n++
		}
	}
	return n
}

// next is when the next notification may be taken: at once while few were in the
// window, then an interval after the last, but not before there is room in the
// window.
func (m *meter) next(now time.Time) time.Time {
	n := m.recent(now)
	if n < burst {
		return now
	}
	oldest := m.sent[len(m.sent)-n:]
	quiet := oldest[n-burst].Add(window * m.interval) // then few are in it again
	paced := m.sent[len(m.sent)-1].Add(m.interval)
	if n >= window {
		if room := oldest[n-window].Add(window * m.interval); room.After(paced) {
			paced = room
		}
	}
	if quiet.Before(paced) {
		return quiet
	}
	return paced
}

// pop takes the next notification whatever the time is.
func (m *meter) pop(now time.Time) Progress {
	p := m.pending[0]
	if len(m.pending) == 1 {
		m.pending = m.pending[:0]
	} else {
		m.pending = m.pending[1:]
	}
	if len(m.pending) == 0 {
		m.urgent = false
	}
	if len(m.sent) == window {
		m.sent = slices.Delete(m.sent, 0, 1)
	}
	m.sent = append(m.sent, now)
	return p
}
