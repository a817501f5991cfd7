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
	s.Accept(time.Now(), Numbers{}, Text{Message: reportMessage})
}

func TestSenderRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, sentMessages := newSender(time.Second)
		reportMessage(s, "first")
		<-s.Wake()
		if due := s.SendDue(); due != nil || len(*sentMessages) != 1 {
			t.Fatalf("the sender sent %q; more notifications are due: %t", *sentMessages, due != nil)
		}
		reportMessage(s, "replaced")
		reportMessage(s, "second")
		startTime := time.Now()
		due := s.SendDue()
		if due == nil || len(*sentMessages) != 1 {
			t.Fatalf("the sender sent %q before the interval ended", *sentMessages)
		}
		<-due
		if waited := time.Since(startTime); waited != time.Second {
			t.Errorf("the sender waited %v, want the interval", waited)
		}
		s.SendDue()
		if want := []string{"first", "second"}; !slices.Equal(*sentMessages, want) {
			t.Errorf("the sender sent %q, want %q", *sentMessages, want)
		}
	})
}

func TestSenderFlushesAfterClose(t *testing.T) {
	s, sentMessages := newSender(time.Hour)
	reportMessage(s, "first")
	s.SendDue()
	reportMessage(s, "last")
	s.Close()
	reportMessage(s, "late")
	s.Remind("late reminder")
	if due := s.SendDue(); due != nil || len(*sentMessages) != 1 {
		t.Errorf("a closed sender sent %q", *sentMessages)
	}
	s.Flush()
	if want := []string{"first", "last"}; !slices.Equal(*sentMessages, want) {
		t.Errorf("the sender sent %q, want %q", *sentMessages, want)
	}
}

func TestSenderInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, sentMessages := newSender(time.Second)
		stopWatching := s.SendInBackground()
		reportMessage(s, "first")
		synctest.Wait()
		s.KeepQueued()
		s.Remind("reminder")
		time.Sleep(2 * time.Second)
		stopWatching()
		reportMessage(s, "after stop")
		time.Sleep(time.Hour)
		if want := []string{"first", "reminder"}; !slices.Equal(*sentMessages, want) {
			t.Errorf("the sender sent %q, want %q", *sentMessages, want)
		}
	})
}

func TestSenderWithoutClient(t *testing.T) {
	var s Sender
	s.Init(time.Second, nil)
	reportMessage(&s, "dropped")
	s.SendInBackground()()
	s.Flush()
	if due := s.SendDue(); s.WantsNotifications() || due != nil || len(s.Wake()) != 0 {
		t.Error("a sender without a client queues reports")
	}
}

func TestSenderLosesNoReport(t *testing.T) {
	s, sentMessages := newSender(-1)
	stopWatching := s.SendInBackground()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				reportMessage(s, fmt.Sprint(g, " ", i))
			}
		})
	}
	wg.Wait()
	stopWatching()
	s.Close()
	s.Flush()
	if len(*sentMessages) != 1600 {
		t.Errorf("the senders sent %d notifications, want 1600", len(*sentMessages))
	}
}
