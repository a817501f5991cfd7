package queue

import (
	"math/rand/v2"
	"strings"
	"testing"

	"opentabs/wire"
)

func isGranted(p *Place) bool {
	select {
	case <-p.readySignal:
		return true
	default:
		return false
	}
}

func TestSessionsTakeTurns(t *testing.T) {
	q := New(Limits{MaxRunning: 1, MaxWaiting: 100, MaxBytes: 100})
	firstPlace, _ := q.Enter("slack", "a", 1)
	var waitingPlaces []*Place
	for _, session := range []string{"a", "a", "a", "b", "c", "b"} {
		p, err := q.Enter("slack", session, 1)
		if err != nil || isGranted(p) {
			t.Fatal("a call above MaxRunning may run at once, want it to wait")
		}
		waitingPlaces = append(waitingPlaces, p)
	}
	otherPlace, _ := q.Enter("jira", "a", 1)
	if !isGranted(firstPlace) || !isGranted(otherPlace) {
		t.Fatal("the first call of a plugin waits, want it to run at once")
	}
	// The calls run in the order a, b, c, a, b, a: no session runs two calls in a row
	// while another session waits.
	runningCount := firstPlace
	for _, i := range []int{0, 3, 4, 1, 5, 2} {
		q.Leave("slack", runningCount)
		runningCount = waitingPlaces[i]
		if !isGranted(runningCount) {
			t.Fatalf("call %d waits although it is next, want it to run", i)
		}
	}
	q.Leave("slack", runningCount)
	q.Leave("jira", otherPlace)
	if len(q.callQueues) != 0 {
		t.Errorf("the empty queue still has %d call queues, want 0", len(q.callQueues))
	}
}

func enterSession(t *testing.T, q *Queue, session string) *Place {
	t.Helper()
	p, err := q.Enter("slack", session, 1)
	if err != nil {
		t.Fatalf("error of Enter for the session %s = %s, want nil", session, err.Message)
	}
	return p
}

func TestQueueIsBounded(t *testing.T) {
	q := New(Limits{MaxRunning: 1, MaxWaiting: 2, MaxBytes: 100})
	var places []*Place
	for range 3 {
		places = append(places, enterSession(t, q, "a"))
	}
	_, err := q.Enter("slack", "a", 1)
	if err == nil || err.Code != wire.ErrRateLimited || !strings.Contains(err.Message, "2 calls of this plugin are queued, the maximum") {
		t.Fatalf("error of the fourth call = %+v, want rate_limited with the limit", err)
	}
	q.Leave("slack", places[2])
	enterSession(t, q, "b")
}

func TestFullQueueRejectsTheGreediest(t *testing.T) {
	q := New(Limits{MaxRunning: 1, MaxWaiting: 4, MaxBytes: 100})
	runningCount := enterSession(t, q, "greedy")
	var greedyPlaces []*Place
	for range 4 {
		greedyPlaces = append(greedyPlaces, enterSession(t, q, "greedy"))
	}
	modestPlace := enterSession(t, q, "modest")
	lastPlace := greedyPlaces[3]
	if err := q.Rejection(lastPlace); !isGranted(lastPlace) || err == nil || err.Code != wire.ErrRateLimited {
		t.Fatalf("rejection of the greedy client's last call = %+v, want rate_limited", err)
	}
	if _, err := q.Enter("slack", "greedy", 1); err == nil {
		t.Error("the greedy client entered the full queue again, want an error")
	}
	q.Leave("slack", lastPlace)
	q.Leave("slack", runningCount)
	if !isGranted(greedyPlaces[0]) || q.Rejection(greedyPlaces[0]) != nil {
		t.Error("the first waiting call does not run, want it to run next")
	}
	q.Leave("slack", greedyPlaces[0])
	if !isGranted(modestPlace) {
		t.Error("the client with one call still waits behind the greedy client, want it to run next")
	}
	for _, p := range []*Place{modestPlace, greedyPlaces[1], greedyPlaces[2]} {
		q.Leave("slack", p)
	}
	if len(q.callQueues) != 0 {
		t.Error("the empty queue still has a call queue, want none")
	}
}

func TestQueueIsBoundedInBytes(t *testing.T) {
	q := New(Limits{MaxRunning: 1, MaxWaiting: 100, MaxBytes: 1000})
	enterSession(t, q, "a")
	bigResult, err := q.Enter("slack", "a", 900)
	if err != nil {
		t.Fatal(err.Message)
	}
	if _, err := q.Enter("slack", "a", 200); err == nil || !strings.Contains(err.Message, "have 900 bytes of arguments, the maximum is 1000 bytes") {
		t.Fatalf("error of the client with the large arguments = %+v, want rate_limited with both sizes", err)
	}
	if _, err := q.Enter("slack", "b", 200); err != nil {
		t.Fatalf("error of Enter for another client = %s, want nil", err.Message)
	}
	if q.Rejection(bigResult) == nil {
		t.Error("the call with large arguments still waits, want a rejection")
	}
	if _, err := q.Enter("slack", "c", 1001); err == nil {
		t.Error("the queue accepted a call whose arguments alone exceed MaxBytes, want an error")
	}
}

func TestQueueNeverLeaksAPlace(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	q := New(Limits{MaxRunning: 3, MaxWaiting: 50, MaxBytes: 60})
	var places []*Place
	for range 20000 {
		if len(places) == 0 || rnd.IntN(2) == 0 {
			if p, err := q.Enter("slack", string(rune('a'+rnd.IntN(4))), rnd.IntN(5)); err == nil {
				places = append(places, p)
			}
			continue
		}
		i := rnd.IntN(len(places))
		q.Leave("slack", places[i])
		places = append(places[:i], places[i+1:]...)
		runningCount, rejectedCount := 0, 0
		for _, p := range places {
			switch {
			case q.Rejection(p) != nil:
				rejectedCount++
			case isGranted(p):
				runningCount++
			}
		}
		if want := min(len(places)-rejectedCount, 3); runningCount != want {
			t.Fatalf("the queue lets %d of %d calls run, want %d", runningCount, len(places), want)
		}
	}
	for _, p := range places {
		q.Leave("slack", p)
	}
	if len(q.callQueues) != 0 {
		t.Error("the queue still has a call queue after all calls left, want none")
	}
}
