package progress

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func newSender(interval time.Duration) (*Sender, *[]string) {
	var s Sender
	sentMessages := &[]string{}
	s.Init(interval, func(p Notification) { *sentMessages = append(*sentMessages, p.Message) })
	return &s, sentMessages
}

func reportMessage(s *Sender, reportMessage string) {
	s.AddReport(time.Now(), Numbers{}, Text{Message: reportMessage})
}

func TestSenderLimitsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, sentMessages := newSender(time.Second)
		reportMessage(s, "first")
		<-s.WakeChan()
		if due := s.SendDueNotifications(); due != nil || len(*sentMessages) != 1 {
			t.Fatalf("the sender sent %q, and more notifications wait: %t; want one message and false", *sentMessages, due != nil)
		}
		reportMessage(s, "replaced")
		reportMessage(s, "second")
		startTime := time.Now()
		due := s.SendDueNotifications()
		if due == nil || len(*sentMessages) != 1 {
			t.Fatalf("before the interval ended, the sender had sent %q, want one message", *sentMessages)
		}
		<-due
		if waitDuration := time.Since(startTime); waitDuration != time.Second {
			t.Errorf("the sender waited %v between two messages, want the interval", waitDuration)
		}
		s.SendDueNotifications()
		if want := []string{"first", "second"}; !slices.Equal(*sentMessages, want) {
			t.Errorf("messages of the sender = %q, want %q", *sentMessages, want)
		}
	})
}

// A notification that waits for the rate limit when stopSender is called is sent by the next loop that sends.
func TestStoppedSenderKeepsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, sentMessages := newSender(time.Second)
		stopSender := s.SendInBackground()
		reportMessage(s, "first")
		synctest.Wait()
		reportMessage(s, "second")
		synctest.Wait()
		stopSender()
		select {
		case <-s.WakeChan():
			<-s.SendDueNotifications()
			s.SendDueNotifications()
		default:
			t.Error("after stopSender, the wake channel is empty; want a value, because a notification waits")
		}
		if want := []string{"first", "second"}; !slices.Equal(*sentMessages, want) {
			t.Errorf("messages of the sender = %q, want %q", *sentMessages, want)
		}
	})
}

func TestSenderFlushesAfterClose(t *testing.T) {
	s, sentMessages := newSender(time.Hour)
	reportMessage(s, "first")
	s.SendDueNotifications()
	reportMessage(s, "last")
	s.Close()
	reportMessage(s, "late")
	s.SendReminder("late reminder")
	if due := s.SendDueNotifications(); due != nil || len(*sentMessages) != 1 {
		t.Errorf("messages after Close = %q, want only the first message", *sentMessages)
	}
	s.Flush()
	if want := []string{"first", "last"}; !slices.Equal(*sentMessages, want) {
		t.Errorf("messages of the sender = %q, want %q", *sentMessages, want)
	}
}

func TestSenderSendsInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, sentMessages := newSender(time.Second)
		stopSender := s.SendInBackground()
		reportMessage(s, "first")
		synctest.Wait()
		s.KeepQueuedNotifications()
		s.SendReminder("reminder")
		time.Sleep(2 * time.Second)
		stopSender()
		reportMessage(s, "after stop")
		time.Sleep(time.Hour)
		if want := []string{"first", "reminder"}; !slices.Equal(*sentMessages, want) {
			t.Errorf("messages of the sender = %q, want %q", *sentMessages, want)
		}
	})
}

func TestSenderWithoutClientDropsReports(t *testing.T) {
	var s Sender
	s.Init(time.Second, nil)
	reportMessage(&s, "dropped")
	s.SendInBackground()()
	s.Flush()
	if due := s.SendDueNotifications(); s.HasRecipient() || due != nil || len(s.WakeChan()) != 0 {
		t.Error("a sender without a client queues reports, want an empty queue")
	}
}

func TestSenderLosesNoReport(t *testing.T) {
	s, sentMessages := newSender(-1)
	stopSender := s.SendInBackground()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				reportMessage(s, fmt.Sprint(g, " ", i))
			}
		})
	}
	wg.Wait()
	stopSender()
	s.Close()
	s.Flush()
	if len(*sentMessages) != 1600 {
		t.Errorf("all senders together sent %d notifications, want 1600", len(*sentMessages))
	}
}
