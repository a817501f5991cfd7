package dispatch

import (
	"math"
	"time"
)

// meter applies rules 3 and 4 of design section 6: it turns reports into
// notifications whose progress increases strictly and that come no faster than
// one an interval. It is not safe for concurrent use.
type meter struct {
	// interval is the least time between two notifications; negative means
	// none, and then every accepted report is kept.
	interval time.Duration

	high    float64 // progress of the last accepted notification
	any     bool    // one was accepted
	numbers bool    // a report with numbers came
	total   float64 // of the last report with numbers, if hasTotal
	hasTot  bool
	message string // the last message accepted

	pending []Progress // accepted, not yet taken; one at most if interval >= 0
	urgent  bool       // pending may go before the interval is over
	final   bool       // a final report was accepted
	sent    time.Time  // when the last one was taken
	sentAny bool
}

// accept takes a report. Reports without progress count 1, 2, 3 ... until the
// first number comes; from then on they need a new message.
func (m *meter) accept(n numbers, message, audience string) {
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
	m.push(p)
}

// push makes p the pending notification. A message that was not sent yet is
// kept if p brings none.
func (m *meter) push(p Progress) {
	if m.interval < 0 || len(m.pending) == 0 {
		m.pending = append(m.pending, p)
		return
	}
	last := &m.pending[0]
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
	if m.interval > 0 && m.sentAny && !m.urgent {
		if d := m.interval - now.Sub(m.sent); d > 0 {
			return Progress{}, false, d
		}
	}
	return m.pop(now), true, 0
}

// pop takes the next notification whatever the time is.
func (m *meter) pop(now time.Time) Progress {
	p := m.pending[0]
	if len(m.pending) == 1 {
		m.pending = m.pending[:0]
	} else {
		m.pending = m.pending[1:]
	}
	m.sent, m.sentAny, m.urgent = now, true, false
	return p
}
