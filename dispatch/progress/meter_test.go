package progress

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"opentabs/wire"
)

func newFloat(v float64) *float64 { return &v }

func notificationsFor(reports ...wire.Report) []Notification {
	m := meter{Interval: -1}
	for i := range reports {
		m.accept(time.Unix(0, 0), &reports[i])
	}
	return drainMeter(&m)
}

func (m *meter) accept(now time.Time, r *wire.Report) {
	n, _ := NumbersOf(r)
	m.Accept(now, n, Text{r.Message, r.Status, r.Audience})
}

func drainMeter(m *meter) []Notification {
	var sentNotifications []Notification
	for {
		p, ok := m.Drain(time.Unix(0, 0))
		if !ok {
			return sentNotifications
		}
		sentNotifications = append(sentNotifications, p)
	}
}

func compareSent(t *testing.T, got, want []Notification) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("the meter returned %+v, want %+v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("notification %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

func notificationAt(progress float64, reportMessage string) Notification {
	return Notification{Progress: progress, Message: reportMessage}
}

func numberedNotification(progress, totalProgress float64, reportMessage string) Notification {
	return Notification{Progress: progress, Total: totalProgress, HasTotal: true, Message: reportMessage}
}

func TestMeterKeepsProgressStrictlyIncreasing(t *testing.T) {
	r := func(progress, totalProgress float64, reportMessage string) wire.Report {
		return wire.Report{Progress: newFloat(progress), Total: newFloat(totalProgress), Message: reportMessage}
	}
	only := func(progress float64, reportMessage string) wire.Report {
		return wire.Report{Progress: newFloat(progress), Message: reportMessage}
	}
	newMessageReport := func(reportMessage string) wire.Report { return wire.Report{Message: reportMessage} }
	above := math.Nextafter(9e15, math.Inf(1))
	tests := []struct {
		name string
		in   []wire.Report
		want []Notification
	}{
		{"counts", []wire.Report{r(1, 3, ""), r(2, 3, ""), r(3, 3, "")}, []Notification{numberedNotification(1, 3, ""), numberedNotification(2, 3, ""), numberedNotification(3, 3, "")}},
		{"counts after a message", []wire.Report{newMessageReport("a"), r(1, 3, ""), r(2, 3, ""), r(3, 3, "")}, []Notification{notificationAt(0.000001, "a"), numberedNotification(1, 3, ""), numberedNotification(2, 3, ""), numberedNotification(3, 3, "")}},
		{"repeated", []wire.Report{only(1, ""), only(1, "")}, []Notification{notificationAt(1, "")}},
		{"backwards", []wire.Report{only(5, ""), only(3, ""), only(6, "")}, []Notification{notificationAt(5, ""), notificationAt(6, "")}},
		{"backwards with a new message", []wire.Report{only(5, "a"), only(3, "b")}, []Notification{notificationAt(5, "a"), notificationAt(5.000001, "b")}},
		{"repeated with the same message", []wire.Report{only(5, "a"), only(5, "a")}, []Notification{notificationAt(5, "a")}},
		{"a retry", []wire.Report{r(7, 9, ""), r(1, 9, "retry"), r(2, 9, ""), r(8, 9, ""), r(9, 9, "")}, []Notification{numberedNotification(7, 9, ""), numberedNotification(7.000009, 9, "retry"), numberedNotification(8, 9, ""), numberedNotification(9, 9, "")}},
		{"reports without numbers after numbers", []wire.Report{r(5, 9, ""), newMessageReport("a"), {}, newMessageReport("a")}, []Notification{numberedNotification(5, 9, ""), numberedNotification(5.000009, 9, "a"), numberedNotification(5.000018, 9, ""), numberedNotification(5.000027, 9, "a")}},
		{"a message after the end", []wire.Report{r(9, 9, ""), newMessageReport("tidying up")}, []Notification{numberedNotification(9, 9, ""), notificationAt(9.000009, "tidying up")}},
		{"the end twice", []wire.Report{r(9, 9, ""), r(9, 9, ""), r(9, 9, "b")}, []Notification{numberedNotification(9, 9, ""), notificationAt(9.000009, "b")}},
		{"a new phase after the end", []wire.Report{r(3, 3, ""), r(1, 10, "upload"), r(2, 10, ""), r(4, 10, ""), r(10, 10, "")}, []Notification{numberedNotification(3, 3, ""), notificationAt(3.00001, "upload"), numberedNotification(4, 10, ""), numberedNotification(10, 10, "")}},
		{"a smaller phase after the end", []wire.Report{r(9, 9, ""), r(1, 2, "upload"), r(2, 2, "done")}, []Notification{numberedNotification(9, 9, ""), notificationAt(9.000002, "upload"), notificationAt(9.000004, "done")}},
		{"no numbers ever", []wire.Report{{}, newMessageReport("a"), newMessageReport("a")}, []Notification{notificationAt(0.000001, ""), notificationAt(0.000002, "a"), notificationAt(0.000003, "a")}},
		{"not finite", []wire.Report{only(1, ""), only(math.NaN(), "a"), only(math.Inf(1), "")}, []Notification{notificationAt(1, ""), notificationAt(1.000001, "a"), notificationAt(1.000002, "")}},
		{"marked invalid", []wire.Report{{HasInvalidNumber: true, Message: "a"}, {HasInvalidNumber: true, Total: newFloat(5)}}, []Notification{notificationAt(0.000001, "a"), notificationAt(0.000002, "")}},
		{"negative", []wire.Report{only(-1, ""), only(0, ""), r(1, -1, "")}, []Notification{notificationAt(0.000001, ""), notificationAt(0.000002, "")}},
		{"beyond total", []wire.Report{r(150, 100, "a"), r(2, 100, "")}, []Notification{notificationAt(0.000001, "a"), numberedNotification(2, 100, "")}},
		{"beyond total by rounding", []wire.Report{r(100.00000001, 100, "")}, []Notification{numberedNotification(100, 100, "")}},
		{"percent", []wire.Report{{Percent: newFloat(40), Message: "a"}, {Percent: newFloat(101)}, {Percent: newFloat(100)}}, []Notification{numberedNotification(40, 100, "a"), numberedNotification(40.0001, 100, ""), numberedNotification(100, 100, "")}},
		{"total alone", []wire.Report{{Total: newFloat(5)}, r(1, 5, "")}, []Notification{numberedNotification(0.000005, 5, ""), numberedNotification(1, 5, "")}},
		{"total shrinks", []wire.Report{r(5, 10, ""), r(6, 8, ""), newMessageReport("a"), r(8, 8, "")}, []Notification{numberedNotification(5, 10, ""), numberedNotification(6, 8, ""), numberedNotification(6.000008, 8, "a"), numberedNotification(8, 8, "")}},
		{"total shrinks below", []wire.Report{r(5, 10, ""), r(3, 4, "a"), r(4, 4, ""), newMessageReport("b")}, []Notification{numberedNotification(5, 10, ""), notificationAt(5.000004, "a"), notificationAt(5.000008, ""), notificationAt(5.000012, "b")}},
		{"loaded alone", []wire.Report{{Loaded: newFloat(4096)}, newMessageReport("a"), {Loaded: newFloat(8192)}}, []Notification{notificationAt(4096, ""), notificationAt(4096.000001, "a"), notificationAt(8192, "")}},
		{"loaded beside progress", []wire.Report{{Progress: newFloat(1), Total: newFloat(2), Loaded: newFloat(512)}}, []Notification{numberedNotification(1, 2, "")}},
		{"zero of zero", []wire.Report{r(0, 0, ""), newMessageReport("a")}, []Notification{numberedNotification(0, 0, ""), notificationAt(0.000001, "a")}},
		{"zero of zero after a message", []wire.Report{newMessageReport("a"), r(0, 0, "")}, []Notification{notificationAt(0.000001, "a"), notificationAt(0.000002, "")}},
		{"total 1", []wire.Report{newMessageReport("a"), r(0.1, 1, ""), r(0.2, 1, "b"), r(0.2, 1, "c"), r(1, 1, "")}, []Notification{notificationAt(0.000001, "a"), numberedNotification(0.1, 1, ""), numberedNotification(0.2, 1, "b"), numberedNotification(0.200001, 1, "c"), numberedNotification(1, 1, "")}},
		{"nearly the total", []wire.Report{r(0.9999999999999999, 1, ""), newMessageReport("a"), r(1, 1, "")}, []Notification{numberedNotification(0.9999999999999999, 1, ""), numberedNotification(1, 1, "a")}},
		{
			"nearly the total, and a message for the user", []wire.Report{r(0.9999999999999999, 1, ""), {Message: "a", Audience: AudienceUser}, newMessageReport("b"), r(1, 1, "c")},
			[]Notification{numberedNotification(0.9999999999999999, 1, ""), numberedNotification(1, 1, "c"), {Progress: 1.0000000000004656, Message: "a", Audience: AudienceUser}},
		},
		{"nearly the total, and no more", []wire.Report{r(0.9999999999999999, 1, ""), newMessageReport("a")}, []Notification{numberedNotification(0.9999999999999999, 1, ""), notificationAt(1, "a")}},
		{"one by one of very many", []wire.Report{r(1, 1e9, ""), newMessageReport("a"), r(2, 1e9, "")}, []Notification{numberedNotification(1, 1e9, ""), numberedNotification(1.001, 1e9, "a"), numberedNotification(2, 1e9, "")}},
		{"where numbers are far apart", []wire.Report{only(9e15, ""), newMessageReport("a")}, []Notification{notificationAt(9e15, ""), notificationAt(9e15+16*(above-9e15), "a")}},
		{"greatest number", []wire.Report{only(math.MaxFloat64, ""), newMessageReport("a")}, []Notification{notificationAt(math.MaxFloat64, "")}},
		{"denormal numbers", []wire.Report{r(5e-324, 1, ""), r(1e-310, 1e-309, "a"), r(1, 1, "")}, []Notification{numberedNotification(0, 1, ""), notificationAt(0.000001, "a"), numberedNotification(1, 1, "")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			compareSent(t, notificationsFor(tt.in...), tt.want)
		})
	}
}

func TestStepsLeaveRoomForNumbers(t *testing.T) {
	for _, messages := range []int{1, 10, 499, 501, 5000, 20000} {
		for _, scale := range []struct{ firstStep, nextStep, totalProgress float64 }{
			{1, 2, 3}, {1, 2, 100}, {0.001, 0.002, 0.01}, {0.01, 0.02, 1}, {0.001, 0.002, 1}, {1, 2, 1e6}, {1, 2, 1e12},
			{1e9, 2e9, 1e15}, {1, 2, 1e15}, {1e300, 2e300, 1e301}, {5e6, 5e6 + 1, 1e7}, {0.5, 0.501, 1},
		} {
			m := meter{Interval: -1}
			var got []Notification
			lastProgress := -1.0
			step := func(r wire.Report) {
				m.accept(time.Unix(0, 0), &r)
				got = drainMeter(&m)
				if len(got) != 1 || got[0].Progress <= lastProgress {
					t.Fatalf("%d messages, %v: after %v came %+v", messages, scale, lastProgress, got)
				}
				lastProgress = got[0].Progress
			}
			for _, number := range []float64{scale.firstStep, scale.nextStep, scale.totalProgress} {
				for range messages {
					step(wire.Report{Message: "a"})
				}
				step(wire.Report{Progress: newFloat(number), Total: newFloat(scale.totalProgress)})
				if got[0] != numberedNotification(number, scale.totalProgress, "") {
					t.Errorf("%d messages, %v: got %+v, want %v", messages, scale, got[0], number)
				}
			}
		}
	}
}

func TestStepSizeFollowsTheNumbersOfTheTool(t *testing.T) {
	m := meter{Interval: -1}
	reportStep := func(r wire.Report) Notification {
		m.accept(time.Unix(0, 0), &r)
		got := drainMeter(&m)
		if len(got) != 1 {
			t.Fatalf("one report became the notifications %+v; want length 1", got)
		}
		return got[0]
	}
	for _, number := range []float64{0.5, 0.5001, 0.5002, 0.5003} {
		if got := reportStep(wire.Report{Progress: newFloat(number), Total: newFloat(1)}); got != numberedNotification(number, 1, "") {
			t.Errorf("the meter returned %+v, want %v", got, number)
		}
		for range 5000 {
			if number > 0.5 {
				reportStep(wire.Report{Message: "a"})
			}
		}
	}
}

func TestMeterQueue(t *testing.T) {
	user := func(p, totalProgress float64, reportMessage string) wire.Report {
		return wire.Report{Progress: newFloat(p), Total: newFloat(totalProgress), Message: reportMessage, Audience: AudienceUser}
	}
	internal := func(p, totalProgress float64, reportMessage string) wire.Report {
		return wire.Report{Progress: newFloat(p), Total: newFloat(totalProgress), Message: reportMessage}
	}
	forUser := func(p Notification) Notification { p.Audience = AudienceUser; return p }
	tests := []struct {
		name string
		in   []wire.Report
		want []Notification
	}{
		{"the latest wins", []wire.Report{internal(1, 9, "a"), internal(2, 9, "b")}, []Notification{numberedNotification(2, 9, "b")}},
		{"numbers keep the message and its audience", []wire.Report{user(1, 9, "a"), internal(2, 9, "")}, []Notification{forUser(numberedNotification(2, 9, "a"))}},
		{"numbers for the user keep the audience of the message", []wire.Report{internal(1, 9, "a"), user(2, 9, "")}, []Notification{numberedNotification(2, 9, "a")}},
		{"an internal report does not replace a report for the user", []wire.Report{user(1, 9, "a"), internal(2, 9, "b"), internal(3, 9, "c")}, []Notification{forUser(numberedNotification(1, 9, "a")), numberedNotification(3, 9, "c")}},
		{"an internal report does not replace a report without a message", []wire.Report{user(1, 9, ""), internal(2, 9, "")}, []Notification{forUser(numberedNotification(1, 9, "")), numberedNotification(2, 9, "")}},
		{"a later report for the user replaces an earlier report", []wire.Report{user(1, 9, "a"), internal(2, 9, "b"), user(3, 9, "c")}, []Notification{forUser(numberedNotification(3, 9, "c"))}},
		{"a report without a message keeps the earlier message", []wire.Report{user(1, 9, "a"), internal(2, 9, ""), user(3, 9, "")}, []Notification{forUser(numberedNotification(3, 9, "a"))}},
		{"the final report is kept", []wire.Report{internal(1, 3, "a"), internal(3, 3, "b"), internal(3, 3, "c"), {Message: "d"}}, []Notification{numberedNotification(3, 3, "b"), notificationAt(3.000003, "d")}},
		{"a report for the user before the final report is kept", []wire.Report{user(1, 3, "a"), internal(3, 3, "b"), {Message: "c", Audience: AudienceUser}}, []Notification{forUser(numberedNotification(1, 3, "a")), numberedNotification(3, 3, "b"), forUser(notificationAt(3.000003, "c"))}},
		{"the final report keeps an earlier message", []wire.Report{user(1, 3, "a"), internal(3, 3, "")}, []Notification{forUser(numberedNotification(3, 3, "a"))}},
		{"a message keeps the numbers", []wire.Report{internal(1, 3, ""), {Message: "a"}}, []Notification{numberedNotification(1, 3, "a")}},
		{"the final report of a smaller total", []wire.Report{internal(5, 9, "a"), internal(3, 3, "")}, []Notification{numberedNotification(3, 3, "a")}},
		{"a report for the user before the final report of a smaller total", []wire.Report{user(5, 9, "a"), internal(3, 3, "b")}, []Notification{forUser(numberedNotification(0.000009, 9, "a")), numberedNotification(3, 3, "b")}},
		{"a step below the number behind it", []wire.Report{{Message: "a", Audience: AudienceUser}, internal(1e-9, 1, "b")}, []Notification{forUser(notificationAt(1e-15, "a")), numberedNotification(1e-9, 1, "b")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := meter{Interval: time.Second, lastSentAt: time.Unix(0, 0)}
			for i := range tt.in {
				m.accept(time.Unix(0, 0), &tt.in[i])
			}
			compareSent(t, drainMeter(&m), tt.want)
		})
	}
}

func TestMeterKeepsReports(t *testing.T) {
	m := meter{Interval: time.Second}
	currentTime := time.Unix(0, 0)
	for _, reportMessage := range []string{"first", "second", "third"} {
		m.accept(currentTime, &wire.Report{Message: reportMessage, Audience: AudienceUser})
	}
	m.Remind(currentTime, "reminder")
	m.accept(currentTime, &wire.Report{Message: "internal"})
	m.KeepQueued()
	m.Remind(currentTime, "another reminder")
	m.accept(currentTime, &wire.Report{Message: "last", Audience: AudienceUser})
	got := drainMeter(&m)
	var messages []string
	for _, p := range got {
		messages = append(messages, p.Message)
	}
	if want := "first, third, last"; strings.Join(messages, ", ") != want {
		t.Errorf("the meter returned %q, want %s", messages, want)
	}
	if m.keptCount != 0 {
		t.Errorf("%d notices are kept; want 0", m.keptCount)
	}
	for i := range 100 {
		m.accept(currentTime, &wire.Report{Message: fmt.Sprint("question ", i), Audience: AudienceUser})
		m.KeepQueued()
		m.Remind(currentTime, "reminder")
	}
	if n := len(m.queue); n > maxKeptNotifications+2 {
		t.Errorf("%d notices wait", n)
	}
	got = drainMeter(&m)
	if lastNotification := got[len(got)-2]; lastNotification.Message != "question 99" {
		t.Errorf("the last question is lost: %+v; want %q", got, "question 99")
	}
}

func TestMeterProperty(t *testing.T) {
	for seed := range uint64(4000) {
		if problemText := meterProblem(seed); problemText != "" {
			t.Fatalf("seed %d: %s; want %q", seed, problemText, "")
		}
	}
}

var (
	unusualNumbers = []float64{0, 1, 1, 2, 3, 10, 99.999, 100, 1e300, 1e308, -1, math.NaN(), math.Inf(1), 1e-320, 1e-9, 0.001, 0.01}
	audiences      = []string{"", "internal", AudienceUser, "other"}
)

func randomReport(rnd *rand.Rand, _ *float64) wire.Report {
	var r wire.Report
	if rnd.IntN(4) > 0 {
		r.Progress = newFloat(unusualNumbers[rnd.IntN(len(unusualNumbers))])
	}
	if rnd.IntN(2) > 0 {
		r.Total = newFloat(unusualNumbers[rnd.IntN(len(unusualNumbers))])
	}
	if rnd.IntN(20) == 0 {
		r.Loaded = newFloat(unusualNumbers[rnd.IntN(len(unusualNumbers))])
	}
	if rnd.IntN(20) == 0 {
		r.Percent = newFloat(unusualNumbers[rnd.IntN(len(unusualNumbers))])
	}
	return r
}

func randomValidReport(rnd *rand.Rand, done *float64) wire.Report {
	if rnd.IntN(3) == 0 {
		return wire.Report{}
	}
	if *done < 20 && rnd.IntN(3) > 0 {
		*done++
	}
	return wire.Report{Progress: newFloat(*done / 20), Total: newFloat(1)}
}

func meterProblem(seed uint64) string {
	rnd := rand.New(rand.NewPCG(seed, 1))
	m := meter{Interval: 100 * time.Millisecond}
	newReport, tame := randomReport, seed%2 == 0
	if tame {
		newReport = randomValidReport
	}
	c := meterCheck{m: &m, audienceOf: map[string]string{"reminder": AudienceUser}, keptMessages: map[string]bool{}, sentAt: time.Unix(-1, 0), lastProgress: -1}
	currentTime, progressDone := time.Unix(0, 0), 0.0
	for i := range 80 {
		r := newReport(rnd, &progressDone)
		r.Audience = audiences[rnd.IntN(len(audiences))]
		if rnd.IntN(2) == 0 {
			r.Message = fmt.Sprint("message ", i)
			c.audienceOf[r.Message] = r.Audience
			if r.Audience == AudienceUser {
				c.forUser = r.Message
			}
		}
		c.accept(currentTime, &r)
		switch rnd.IntN(12) {
		case 0:
			m.Remind(currentTime, "reminder")
		case 1:
			m.KeepQueued()
			c.keep()
		}
		if len(m.queue) > maxKeptNotifications+8 {
			return fmt.Sprintf("%d notices wait", len(m.queue))
		}
		currentTime = currentTime.Add(time.Duration(rnd.IntN(80)) * time.Millisecond)
		for {
			c.isFinalWaiting = m.hasFinalReport && !m.isFinalSent
			p, ok, _ := m.Next(currentTime)
			if !ok {
				break
			}
			c.check(p, currentTime)
		}
	}
	c.isFlushing = true
	for _, p := range drainMeter(&m) {
		c.check(p, currentTime)
	}
	if c.final != nil && !c.finalSent {
		return fmt.Sprintf("the first final report %v never came", *c.final)
	}
	if tame && progressDone > 0 && c.greatestProgress != progressDone/20 {
		return fmt.Sprintf("the last number is %v, want %v", c.greatestProgress, progressDone/20)
	}
	if len(c.keptMessages) > 0 {
		return fmt.Sprintf("%v, before a suspension, never came", c.keptMessages)
	}
	if c.forUser != "" {
		return fmt.Sprintf("%q, for the user, never came", c.forUser)
	}
	return c.problemText
}

type meterCheck struct {
	m            *meter
	audienceOf   map[string]string
	forUser      string
	keptMessages map[string]bool

	lastProgress     float64
	greatestProgress float64
	sentAt           time.Time
	isFinalWaiting   bool
	seen             bool
	final            *float64
	finalSent        bool
	isFlushing       bool
	problemText      string
}

func (c *meterCheck) keep() {
	if c.forUser != "" && len(c.keptMessages) < maxKeptNotifications {
		c.keptMessages[c.forUser] = true
	}
}

func (c *meterCheck) accept(now time.Time, r *wire.Report) {
	n, _ := NumbersOf(r)
	if n.IsFinal() && !c.seen {
		c.seen = true
		if n.Progress > c.lastProgress && !c.unsentStep() {
			c.final = &n.Progress
		}
	}
	c.m.accept(now, r)
}

func (c *meterCheck) unsentStep() bool { return c.lastProgress < 0 && c.m.hasQueued }

func (c *meterCheck) check(p Notification, now time.Time) {
	reportf := func(format string, args ...any) {
		if c.problemText == "" {
			c.problemText = fmt.Sprintf("%+v after %v: ", p, c.lastProgress) + fmt.Sprintf(format, args...)
		}
	}
	switch {
	case !(p.Progress > c.lastProgress) || math.IsInf(p.Progress, 0):
		reportf("progress does not increase")
	case p.Progress != 0 && p.Progress < 1e-300:
		reportf("the number is too small to be written")
	case p.HasTotal && p.Progress > p.Total:
		reportf("progress is beyond the total")
	case p.HasTotal && p.Progress == p.Total && c.final != nil && !c.finalSent && p.Progress != *c.final:
		reportf("another report than the first final one is final")
	case c.final != nil && !c.finalSent && p.Progress >= *c.final && !(p.HasTotal && p.Total == *c.final && p.Progress == p.Total):
		reportf("the final report %v is passed", *c.final)
	case p.Message != "" && c.audienceOf[p.Message] != p.Audience:
		reportf("the audience was %q", c.audienceOf[p.Message])
	}
	if gap := now.Sub(c.sentAt); gap < 100*time.Millisecond && !c.isFlushing {
		if !c.isFinalWaiting {
			reportf("it came too early")
		}
	}
	if c.final != nil && p.HasTotal && p.Progress == *c.final && p.Total == *c.final {
		c.finalSent = true
	}
	delete(c.keptMessages, p.Message)
	if p.Message == c.forUser {
		c.forUser = ""
	}
	if p.HasTotal {
		if rounded := math.Round(p.Progress*20) / 20; rounded == p.Progress {
			c.greatestProgress = p.Progress
		}
	}
	c.lastProgress, c.sentAt = p.Progress, now
}
