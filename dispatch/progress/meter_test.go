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

func newFloatPointer(v float64) *float64 { return &v }

func notificationsFor(reports ...wire.Report) []Notification {
	m := meter{Interval: -1}
	for i := range reports {
		m.acceptReport(time.Unix(0, 0), &reports[i])
	}
	return drainMeter(&m)
}

func (m *meter) acceptReport(now time.Time, r *wire.Report) {
	n, _ := NumbersOf(r)
	m.AddReport(now, n, Text{r.Message, r.Status, r.Audience})
}

func drainMeter(m *meter) []Notification {
	var sentNotifications []Notification
	for {
		p, ok := m.TakeNext(time.Unix(0, 0))
		if !ok {
			return sentNotifications
		}
		sentNotifications = append(sentNotifications, p)
	}
}

func checkNotifications(t *testing.T, got, want []Notification) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("notifications of the meter = %+v, want %+v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("notification %d = %+v, want %+v", i, got[i], want[i])
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
		return wire.Report{Progress: newFloatPointer(progress), Total: newFloatPointer(totalProgress), Message: reportMessage}
	}
	newProgressReport := func(progress float64, reportMessage string) wire.Report {
		return wire.Report{Progress: newFloatPointer(progress), Message: reportMessage}
	}
	newMessageReport := func(reportMessage string) wire.Report { return wire.Report{Message: reportMessage} }
	tooLargeNumber := math.Nextafter(9e15, math.Inf(1))
	tests := []struct {
		name string
		in   []wire.Report
		want []Notification
	}{
		{"increasing progress with a total", []wire.Report{r(1, 3, ""), r(2, 3, ""), r(3, 3, "")}, []Notification{numberedNotification(1, 3, ""), numberedNotification(2, 3, ""), numberedNotification(3, 3, "")}},
		{"increasing progress after a message", []wire.Report{newMessageReport("a"), r(1, 3, ""), r(2, 3, ""), r(3, 3, "")}, []Notification{notificationAt(0.000001, "a"), numberedNotification(1, 3, ""), numberedNotification(2, 3, ""), numberedNotification(3, 3, "")}},
		{"the same progress twice", []wire.Report{newProgressReport(1, ""), newProgressReport(1, "")}, []Notification{notificationAt(1, "")}},
		{"progress that decreases", []wire.Report{newProgressReport(5, ""), newProgressReport(3, ""), newProgressReport(6, "")}, []Notification{notificationAt(5, ""), notificationAt(6, "")}},
		{"progress that decreases with a new message", []wire.Report{newProgressReport(5, "a"), newProgressReport(3, "b")}, []Notification{notificationAt(5, "a"), notificationAt(5.000001, "b")}},
		{"the same progress and message twice", []wire.Report{newProgressReport(5, "a"), newProgressReport(5, "a")}, []Notification{notificationAt(5, "a")}},
		{"a retry", []wire.Report{r(7, 9, ""), r(1, 9, "retry"), r(2, 9, ""), r(8, 9, ""), r(9, 9, "")}, []Notification{numberedNotification(7, 9, ""), numberedNotification(7.000009, 9, "retry"), numberedNotification(8, 9, ""), numberedNotification(9, 9, "")}},
		{"reports without numbers after numbers", []wire.Report{r(5, 9, ""), newMessageReport("a"), {}, newMessageReport("a")}, []Notification{numberedNotification(5, 9, ""), numberedNotification(5.000009, 9, "a"), numberedNotification(5.000018, 9, ""), numberedNotification(5.000027, 9, "a")}},
		{"a message after the final report", []wire.Report{r(9, 9, ""), newMessageReport("tidying up")}, []Notification{numberedNotification(9, 9, ""), notificationAt(9.000009, "tidying up")}},
		{"the final report twice", []wire.Report{r(9, 9, ""), r(9, 9, ""), r(9, 9, "b")}, []Notification{numberedNotification(9, 9, ""), notificationAt(9.000009, "b")}},
		{"a new phase after the final report", []wire.Report{r(3, 3, ""), r(1, 10, "upload"), r(2, 10, ""), r(4, 10, ""), r(10, 10, "")}, []Notification{numberedNotification(3, 3, ""), notificationAt(3.00001, "upload"), numberedNotification(4, 10, ""), numberedNotification(10, 10, "")}},
		{"a phase with a smaller total after the final report", []wire.Report{r(9, 9, ""), r(1, 2, "upload"), r(2, 2, "done")}, []Notification{numberedNotification(9, 9, ""), notificationAt(9.000002, "upload"), notificationAt(9.000004, "done")}},
		{"reports without any numbers", []wire.Report{{}, newMessageReport("a"), newMessageReport("a")}, []Notification{notificationAt(0.000001, ""), notificationAt(0.000002, "a"), notificationAt(0.000003, "a")}},
		{"numbers that are not finite", []wire.Report{newProgressReport(1, ""), newProgressReport(math.NaN(), "a"), newProgressReport(math.Inf(1), "")}, []Notification{notificationAt(1, ""), notificationAt(1.000001, "a"), notificationAt(1.000002, "")}},
		{"numbers that the page marks as invalid", []wire.Report{{HasInvalidNumber: true, Message: "a"}, {HasInvalidNumber: true, Total: newFloatPointer(5)}}, []Notification{notificationAt(0.000001, "a"), notificationAt(0.000002, "")}},
		{"negative", []wire.Report{newProgressReport(-1, ""), newProgressReport(0, ""), r(1, -1, "")}, []Notification{notificationAt(0.000001, ""), notificationAt(0.000002, "")}},
		{"progress above the total", []wire.Report{r(150, 100, "a"), r(2, 100, "")}, []Notification{notificationAt(0.000001, "a"), numberedNotification(2, 100, "")}},
		{"progress above the total by a rounding error", []wire.Report{r(100.00000001, 100, "")}, []Notification{numberedNotification(100, 100, "")}},
		{"percent", []wire.Report{{Percent: newFloatPointer(40), Message: "a"}, {Percent: newFloatPointer(101)}, {Percent: newFloatPointer(100)}}, []Notification{numberedNotification(40, 100, "a"), numberedNotification(40.0001, 100, ""), numberedNotification(100, 100, "")}},
		{"a total without progress", []wire.Report{{Total: newFloatPointer(5)}, r(1, 5, "")}, []Notification{numberedNotification(0.000005, 5, ""), numberedNotification(1, 5, "")}},
		{"a total that gets smaller", []wire.Report{r(5, 10, ""), r(6, 8, ""), newMessageReport("a"), r(8, 8, "")}, []Notification{numberedNotification(5, 10, ""), numberedNotification(6, 8, ""), numberedNotification(6.000008, 8, "a"), numberedNotification(8, 8, "")}},
		{"a total that falls below the progress", []wire.Report{r(5, 10, ""), r(3, 4, "a"), r(4, 4, ""), newMessageReport("b")}, []Notification{numberedNotification(5, 10, ""), notificationAt(5.000004, "a"), notificationAt(5.000008, ""), notificationAt(5.000012, "b")}},
		{"a loaded count without progress", []wire.Report{{Loaded: newFloatPointer(4096)}, newMessageReport("a"), {Loaded: newFloatPointer(8192)}}, []Notification{notificationAt(4096, ""), notificationAt(4096.000001, "a"), notificationAt(8192, "")}},
		{"a loaded count together with progress", []wire.Report{{Progress: newFloatPointer(1), Total: newFloatPointer(2), Loaded: newFloatPointer(512)}}, []Notification{numberedNotification(1, 2, "")}},
		{"progress 0 of a total of 0", []wire.Report{r(0, 0, ""), newMessageReport("a")}, []Notification{numberedNotification(0, 0, ""), notificationAt(0.000001, "a")}},
		{"progress 0 of a total of 0 after a message", []wire.Report{newMessageReport("a"), r(0, 0, "")}, []Notification{notificationAt(0.000001, "a"), notificationAt(0.000002, "")}},
		{"total 1", []wire.Report{newMessageReport("a"), r(0.1, 1, ""), r(0.2, 1, "b"), r(0.2, 1, "c"), r(1, 1, "")}, []Notification{notificationAt(0.000001, "a"), numberedNotification(0.1, 1, ""), numberedNotification(0.2, 1, "b"), numberedNotification(0.200001, 1, "c"), numberedNotification(1, 1, "")}},
		{"progress just below the total", []wire.Report{r(0.9999999999999999, 1, ""), newMessageReport("a"), r(1, 1, "")}, []Notification{numberedNotification(0.9999999999999999, 1, ""), numberedNotification(1, 1, "a")}},
		{
			"progress just below the total, then a message for the user", []wire.Report{r(0.9999999999999999, 1, ""), {Message: "a", Audience: AudienceUser}, newMessageReport("b"), r(1, 1, "c")},
			[]Notification{numberedNotification(0.9999999999999999, 1, ""), numberedNotification(1, 1, "c"), {Progress: 1.0000000000004656, Message: "a", Audience: AudienceUser}},
		},
		{"progress just below the total, and no final report", []wire.Report{r(0.9999999999999999, 1, ""), newMessageReport("a")}, []Notification{numberedNotification(0.9999999999999999, 1, ""), notificationAt(1, "a")}},
		{"steps of 1 with a total of 1e9", []wire.Report{r(1, 1e9, ""), newMessageReport("a"), r(2, 1e9, "")}, []Notification{numberedNotification(1, 1e9, ""), numberedNotification(1.001, 1e9, "a"), numberedNotification(2, 1e9, "")}},
		{"numbers so large that float64 has large gaps", []wire.Report{newProgressReport(9e15, ""), newMessageReport("a")}, []Notification{notificationAt(9e15, ""), notificationAt(9e15+16*(tooLargeNumber-9e15), "a")}},
		{"greatest number", []wire.Report{newProgressReport(math.MaxFloat64, ""), newMessageReport("a")}, []Notification{notificationAt(math.MaxFloat64, "")}},
		{"denormal numbers", []wire.Report{r(5e-324, 1, ""), r(1e-310, 1e-309, "a"), r(1, 1, "")}, []Notification{numberedNotification(0, 1, ""), notificationAt(0.000001, "a"), numberedNotification(1, 1, "")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkNotifications(t, notificationsFor(tt.in...), tt.want)
		})
	}
}

func TestArtificialStepsStayBelowNextNumber(t *testing.T) {
	for _, messages := range []int{1, 10, 499, 501, 5000, 20000} {
		for _, scale := range []struct{ firstNumber, nextStep, totalProgress float64 }{
			{1, 2, 3}, {1, 2, 100}, {0.001, 0.002, 0.01}, {0.01, 0.02, 1}, {0.001, 0.002, 1}, {1, 2, 1e6}, {1, 2, 1e12},
			{1e9, 2e9, 1e15}, {1, 2, 1e15}, {1e300, 2e300, 1e301}, {5e6, 5e6 + 1, 1e7}, {0.5, 0.501, 1},
		} {
			m := meter{Interval: -1}
			var got []Notification
			lastProgress := -1.0
			step := func(r wire.Report) {
				m.acceptReport(time.Unix(0, 0), &r)
				got = drainMeter(&m)
				if len(got) != 1 || got[0].Progress <= lastProgress {
					t.Fatalf("%d messages at the scale %v: after the progress %v the meter returned %+v, want one notification with more progress", messages, scale, lastProgress, got)
				}
				lastProgress = got[0].Progress
			}
			for _, number := range []float64{scale.firstNumber, scale.nextStep, scale.totalProgress} {
				for range messages {
					step(wire.Report{Message: "a"})
				}
				step(wire.Report{Progress: newFloatPointer(number), Total: newFloatPointer(scale.totalProgress)})
				if got[0] != numberedNotification(number, scale.totalProgress, "") {
					t.Errorf("%d messages at the scale %v: notification = %+v, want the progress %v", messages, scale, got[0], number)
				}
			}
		}
	}
}

func TestStepSizeFollowsTheNumbersOfTheTool(t *testing.T) {
	m := meter{Interval: -1}
	reportAndDrain := func(r wire.Report) Notification {
		m.acceptReport(time.Unix(0, 0), &r)
		got := drainMeter(&m)
		if len(got) != 1 {
			t.Fatalf("notifications for one report = %+v, want one", got)
		}
		return got[0]
	}
	for _, number := range []float64{0.5, 0.5001, 0.5002, 0.5003} {
		if got := reportAndDrain(wire.Report{Progress: newFloatPointer(number), Total: newFloatPointer(1)}); got != numberedNotification(number, 1, "") {
			t.Errorf("notification of the meter = %+v, want the progress %v", got, number)
		}
		for range 5000 {
			if number > 0.5 {
				reportAndDrain(wire.Report{Message: "a"})
			}
		}
	}
}

func TestMeterQueue(t *testing.T) {
	newUserReport := func(p, totalProgress float64, reportMessage string) wire.Report {
		return wire.Report{Progress: newFloatPointer(p), Total: newFloatPointer(totalProgress), Message: reportMessage, Audience: AudienceUser}
	}
	newInternalReport := func(p, totalProgress float64, reportMessage string) wire.Report {
		return wire.Report{Progress: newFloatPointer(p), Total: newFloatPointer(totalProgress), Message: reportMessage}
	}
	withUserAudience := func(p Notification) Notification { p.Audience = AudienceUser; return p }
	tests := []struct {
		name string
		in   []wire.Report
		want []Notification
	}{
		{"a later report replaces an earlier one", []wire.Report{newInternalReport(1, 9, "a"), newInternalReport(2, 9, "b")}, []Notification{numberedNotification(2, 9, "b")}},
		{"numbers keep the message and its audience", []wire.Report{newUserReport(1, 9, "a"), newInternalReport(2, 9, "")}, []Notification{withUserAudience(numberedNotification(2, 9, "a"))}},
		{"numbers for the user keep the audience of the message", []wire.Report{newInternalReport(1, 9, "a"), newUserReport(2, 9, "")}, []Notification{numberedNotification(2, 9, "a")}},
		{"an internal report does not replace a report for the user", []wire.Report{newUserReport(1, 9, "a"), newInternalReport(2, 9, "b"), newInternalReport(3, 9, "c")}, []Notification{withUserAudience(numberedNotification(1, 9, "a")), numberedNotification(3, 9, "c")}},
		{"an internal report does not replace a report without a message", []wire.Report{newUserReport(1, 9, ""), newInternalReport(2, 9, "")}, []Notification{withUserAudience(numberedNotification(1, 9, "")), numberedNotification(2, 9, "")}},
		{"a later report for the user replaces an earlier report", []wire.Report{newUserReport(1, 9, "a"), newInternalReport(2, 9, "b"), newUserReport(3, 9, "c")}, []Notification{withUserAudience(numberedNotification(3, 9, "c"))}},
		{"a report without a message keeps the earlier message", []wire.Report{newUserReport(1, 9, "a"), newInternalReport(2, 9, ""), newUserReport(3, 9, "")}, []Notification{withUserAudience(numberedNotification(3, 9, "a"))}},
		{"the final report is kept", []wire.Report{newInternalReport(1, 3, "a"), newInternalReport(3, 3, "b"), newInternalReport(3, 3, "c"), {Message: "d"}}, []Notification{numberedNotification(3, 3, "b"), notificationAt(3.000003, "d")}},
		{"a report for the user before the final report is kept", []wire.Report{newUserReport(1, 3, "a"), newInternalReport(3, 3, "b"), {Message: "c", Audience: AudienceUser}}, []Notification{withUserAudience(numberedNotification(1, 3, "a")), numberedNotification(3, 3, "b"), withUserAudience(notificationAt(3.000003, "c"))}},
		{"the final report keeps an earlier message", []wire.Report{newUserReport(1, 3, "a"), newInternalReport(3, 3, "")}, []Notification{withUserAudience(numberedNotification(3, 3, "a"))}},
		{"a message keeps the numbers", []wire.Report{newInternalReport(1, 3, ""), {Message: "a"}}, []Notification{numberedNotification(1, 3, "a")}},
		{"the final report of a smaller total", []wire.Report{newInternalReport(5, 9, "a"), newInternalReport(3, 3, "")}, []Notification{numberedNotification(3, 3, "a")}},
		{"a report for the user before the final report of a smaller total", []wire.Report{newUserReport(5, 9, "a"), newInternalReport(3, 3, "b")}, []Notification{withUserAudience(numberedNotification(0.000009, 9, "a")), numberedNotification(3, 3, "b")}},
		{"a message before a very small number", []wire.Report{{Message: "a", Audience: AudienceUser}, newInternalReport(1e-9, 1, "b")}, []Notification{withUserAudience(notificationAt(1e-15, "a")), numberedNotification(1e-9, 1, "b")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := meter{Interval: time.Second, lastSentAt: time.Unix(0, 0)}
			for i := range tt.in {
				m.acceptReport(time.Unix(0, 0), &tt.in[i])
			}
			checkNotifications(t, drainMeter(&m), tt.want)
		})
	}
}

func TestMeterKeepsReportsBeforeSuspension(t *testing.T) {
	m := meter{Interval: time.Second}
	currentTime := time.Unix(0, 0)
	for _, reportMessage := range []string{"first", "second", "third"} {
		m.acceptReport(currentTime, &wire.Report{Message: reportMessage, Audience: AudienceUser})
	}
	m.SendReminder(currentTime, "reminder")
	m.acceptReport(currentTime, &wire.Report{Message: "internal"})
	m.KeepQueuedNotifications()
	m.SendReminder(currentTime, "another reminder")
	m.acceptReport(currentTime, &wire.Report{Message: "last", Audience: AudienceUser})
	got := drainMeter(&m)
	var messages []string
	for _, p := range got {
		messages = append(messages, p.Message)
	}
	if want := "first, third, last"; strings.Join(messages, ", ") != want {
		t.Errorf("messages of the meter = %q, want %s", messages, want)
	}
	if m.keptNotificationCount != 0 {
		t.Errorf("the meter still keeps %d notifications from before a suspension, want 0", m.keptNotificationCount)
	}
	for i := range 100 {
		m.acceptReport(currentTime, &wire.Report{Message: fmt.Sprint("question ", i), Audience: AudienceUser})
		m.KeepQueuedNotifications()
		m.SendReminder(currentTime, "reminder")
	}
	if n := len(m.queue); n > maxKeptNotifications+2 {
		t.Errorf("%d notifications wait in the meter, want at most %d", n, maxKeptNotifications+2)
	}
	got = drainMeter(&m)
	if lastNotification := got[len(got)-2]; lastNotification.Message != "question 99" {
		t.Errorf("notifications of the meter = %+v, want the last message %q", got, "question 99")
	}
}

func TestMeterWithRandomReports(t *testing.T) {
	for seed := range uint64(4000) {
		if problemText := findMeterProblem(seed); problemText != "" {
			t.Fatalf("problem with the random seed %d: %s; want %q", seed, problemText, "")
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
		r.Progress = newFloatPointer(unusualNumbers[rnd.IntN(len(unusualNumbers))])
	}
	if rnd.IntN(2) > 0 {
		r.Total = newFloatPointer(unusualNumbers[rnd.IntN(len(unusualNumbers))])
	}
	if rnd.IntN(20) == 0 {
		r.Loaded = newFloatPointer(unusualNumbers[rnd.IntN(len(unusualNumbers))])
	}
	if rnd.IntN(20) == 0 {
		r.Percent = newFloatPointer(unusualNumbers[rnd.IntN(len(unusualNumbers))])
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
	return wire.Report{Progress: newFloatPointer(*done / 20), Total: newFloatPointer(1)}
}

func findMeterProblem(seed uint64) string {
	rnd := rand.New(rand.NewPCG(seed, 1))
	m := meter{Interval: 100 * time.Millisecond}
	newReport, usesValidReports := randomReport, seed%2 == 0
	if usesValidReports {
		newReport = randomValidReport
	}
	c := meterChecker{m: &m, audienceOf: map[string]string{"reminder": AudienceUser}, keptMessages: map[string]bool{}, sentAt: time.Unix(-1, 0), lastProgress: -1}
	currentTime, progressDone := time.Unix(0, 0), 0.0
	for i := range 80 {
		r := newReport(rnd, &progressDone)
		r.Audience = audiences[rnd.IntN(len(audiences))]
		if rnd.IntN(2) == 0 {
			r.Message = fmt.Sprint("message ", i)
			c.audienceOf[r.Message] = r.Audience
			if r.Audience == AudienceUser {
				c.queuedUserMessage = r.Message
			}
		}
		c.acceptReport(currentTime, &r)
		switch rnd.IntN(12) {
		case 0:
			m.SendReminder(currentTime, "reminder")
		case 1:
			m.KeepQueuedNotifications()
			c.keepUserMessage()
		}
		if len(m.queue) > maxKeptNotifications+8 {
			return fmt.Sprintf("%d notifications wait in the queue", len(m.queue))
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
	if c.finalProgress != nil && !c.isFinalSent {
		return fmt.Sprintf("the first final report, with the progress %v, was not sent", *c.finalProgress)
	}
	if usesValidReports && progressDone > 0 && c.greatestProgress != progressDone/20 {
		return fmt.Sprintf("the last progress is %v, want %v", c.greatestProgress, progressDone/20)
	}
	if len(c.keptMessages) > 0 {
		return fmt.Sprintf("the messages %v from before a suspension were not sent", c.keptMessages)
	}
	if c.queuedUserMessage != "" {
		return fmt.Sprintf("the message %q for the user was not sent", c.queuedUserMessage)
	}
	return c.problemText
}

type meterChecker struct {
	m                 *meter
	audienceOf        map[string]string
	queuedUserMessage string
	keptMessages      map[string]bool

	lastProgress     float64
	greatestProgress float64
	sentAt           time.Time
	isFinalWaiting   bool
	hasReport        bool
	finalProgress    *float64
	isFinalSent      bool
	isFlushing       bool
	problemText      string
}

func (c *meterChecker) keepUserMessage() {
	if c.queuedUserMessage != "" && len(c.keptMessages) < maxKeptNotifications {
		c.keptMessages[c.queuedUserMessage] = true
	}
}

func (c *meterChecker) acceptReport(now time.Time, r *wire.Report) {
	n, _ := NumbersOf(r)
	if n.IsFinal() && !c.hasReport {
		c.hasReport = true
		if n.Progress > c.lastProgress && !c.hasUnsentStep() {
			c.finalProgress = &n.Progress
		}
	}
	c.m.acceptReport(now, r)
}

func (c *meterChecker) hasUnsentStep() bool { return c.lastProgress < 0 && c.m.hasQueuedBefore }

func (c *meterChecker) check(p Notification, now time.Time) {
	recordProblemf := func(format string, args ...any) {
		if c.problemText == "" {
			c.problemText = fmt.Sprintf("%+v after %v: ", p, c.lastProgress) + fmt.Sprintf(format, args...)
		}
	}
	switch {
	case !(p.Progress > c.lastProgress) || math.IsInf(p.Progress, 0):
		recordProblemf("progress does not increase")
	case p.Progress != 0 && p.Progress < 1e-300:
		recordProblemf("the number is too small to be written")
	case p.HasTotal && p.Progress > p.Total:
		recordProblemf("progress is beyond the total")
	case p.HasTotal && p.Progress == p.Total && c.finalProgress != nil && !c.isFinalSent && p.Progress != *c.finalProgress:
		recordProblemf("a report after the first final report is also final")
	case c.finalProgress != nil && !c.isFinalSent && p.Progress >= *c.finalProgress && !(p.HasTotal && p.Total == *c.finalProgress && p.Progress == p.Total):
		recordProblemf("the progress exceeds that of the final report, %v", *c.finalProgress)
	case p.Message != "" && c.audienceOf[p.Message] != p.Audience:
		recordProblemf("the audience was %q", c.audienceOf[p.Message])
	}
	if gap := now.Sub(c.sentAt); gap < 100*time.Millisecond && !c.isFlushing {
		if !c.isFinalWaiting {
			recordProblemf("the notification was sent before the interval ended")
		}
	}
	if c.finalProgress != nil && p.HasTotal && p.Progress == *c.finalProgress && p.Total == *c.finalProgress {
		c.isFinalSent = true
	}
	delete(c.keptMessages, p.Message)
	if p.Message == c.queuedUserMessage {
		c.queuedUserMessage = ""
	}
	if p.HasTotal {
		if roundedProgress := math.Round(p.Progress*20) / 20; roundedProgress == p.Progress {
			c.greatestProgress = p.Progress
		}
	}
	c.lastProgress, c.sentAt = p.Progress, now
}
