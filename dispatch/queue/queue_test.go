package queue

import (
	"math/rand/v2"
	"strings"
	"testing"

	"opentabs/wire"
)

func isGranted(p *Place) bool {
	select {
	case <-p.ready:
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
			t.Fatal("a call above MaxRunning does not wait")
		}
		waitingPlaces = append(waitingPlaces, p)
	}
	otherPlace, _ := q.Enter("jira", "a", 1)
	if !isGranted(firstPlace) || !isGranted(otherPlace) {
		t.Fatal("the first call of each plugin should run at once")
	}
	// The calls run in the order a, b, c, a, b, a: no session runs two calls in a row
	// while another session waits.
	runningCount := firstPlace
	for _, i := range []int{0, 3, 4, 1, 5, 2} {
		q.Leave("slack", runningCount)
		runningCount = waitingPlaces[i]
		if !isGranted(runningCount) {
			t.Fatalf("call %d does not run in its turn", i)
		}
	}
	q.Leave("slack", runningCount)
	q.Leave("jira", otherPlace)
	if len(q.lanes) != 0 {
		t.Errorf("the queue still has %d lanes; want 0", len(q.lanes))
	}
}

func enterSession(t *testing.T, q *Queue, session string) *Place {
	t.Helper()
	p, err := q.Enter("slack", session, 1)
	if err != nil {
		t.Fatalf("the call of session %s is rejected: %s", session, err.Message)
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
		t.Fatalf("the fourth call: %+v, want rate_limited with the limit", err)
	}
	q.Leave("slack", places[2])
	enterSession(t, q, "b")
}

func TestFullQueueRejectsTheGreediest(t *testing.T) {
	q := New(Limits{MaxRunning: 1, MaxWaiting: 4, MaxBytes: 100})
	runningCount := enterSession(t, q, "greedy")
	var greedy []*Place
	for range 4 {
		greedy = append(greedy, enterSession(t, q, "greedy"))
	}
	modest := enterSession(t, q, "modest")
	lastPlace := greedy[3]
	if err := q.Rejection(lastPlace); !isGranted(lastPlace) || err == nil || err.Code != wire.ErrRateLimited {
		t.Fatalf("the greedy client's last call: %+v, want rate_limited", err)
	}
	if _, err := q.Enter("slack", "greedy", 1); err == nil {
		t.Error("the greedy client got the place back")
	}
	q.Leave("slack", lastPlace)
	q.Leave("slack", runningCount)
	if !isGranted(greedy[0]) || q.Rejection(greedy[0]) != nil {
		t.Error("the first call that waited does not run")
	}
	q.Leave("slack", greedy[0])
	if !isGranted(modest) {
		t.Error("the client with one call waits behind all calls of the greedy client")
	}
	for _, p := range []*Place{modest, greedy[1], greedy[2]} {
		q.Leave("slack", p)
	}
	if len(q.lanes) != 0 {
		t.Error("the queue still has a lane")
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
		t.Fatalf("the client with the large arguments: %+v, want rate_limited with both sizes", err)
	}
	if _, err := q.Enter("slack", "b", 200); err != nil {
		t.Fatalf("the call of another client is rejected: %s", err.Message)
	}
	if q.Rejection(bigResult) == nil {
		t.Error("the call with large arguments was not rejected")
	}
	if _, err := q.Enter("slack", "c", 1001); err == nil {
		t.Error("the queue accepted a call that exceeds MaxBytes alone")
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
			t.Fatalf("%d of %d calls run, want %d", runningCount, len(places), want)
		}
	}
	for _, p := range places {
		q.Leave("slack", p)
	}
	if len(q.lanes) != 0 {
		t.Error("the queue still has a lane")
	}
}
