package dispatch

import (
	"math/rand/v2"
	"testing"
)

func granted(p *place) bool {
	select {
	case <-p.ready:
		return true
	default:
		return false
	}
}

func TestSessionsTakeTurns(t *testing.T) {
	q := newQueue(1, 100)
	first, _ := q.enter("slack", "a")
	var waiting []*place
	for _, session := range []string{"a", "a", "a", "b", "c", "b"} {
		p, ok := q.enter("slack", session)
		if !ok || granted(p) {
			t.Fatal("a call that should wait does not")
		}
		waiting = append(waiting, p)
	}
	other, _ := q.enter("jira", "a")
	if !granted(first) || !granted(other) {
		t.Fatal("the first call of each plugin should run at once")
	}
	// a's first, then b, c, a, b, a: never two of one session while another waits.
	running := first
	for _, i := range []int{0, 3, 4, 1, 5, 2} {
		q.leave("slack", running)
		running = waiting[i]
		if !granted(running) {
			t.Fatalf("call %d does not run in its turn", i)
		}
	}
	q.leave("slack", running)
	q.leave("jira", other)
	if len(q.lanes) != 0 {
		t.Errorf("%d lanes left", len(q.lanes))
	}
}

func TestQueueIsBounded(t *testing.T) {
	q := newQueue(1, 2)
	var places []*place
	for range 3 {
		p, ok := q.enter("slack", "a")
		if !ok {
			t.Fatal("refused too early")
		}
		places = append(places, p)
	}
	if _, ok := q.enter("slack", "a"); ok {
		t.Fatal("the fourth call should be refused")
	}
	q.leave("slack", places[2]) // a client that waited left
	if _, ok := q.enter("slack", "b"); !ok {
		t.Error("a place that was left should be free")
	}
}

// TestQueueNeverLeaksAPlace enters and leaves at random, waiting and running.
func TestQueueNeverLeaksAPlace(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	q := newQueue(3, 50)
	var held []*place
	for range 20000 {
		if len(held) == 0 || rnd.IntN(2) == 0 {
			if p, ok := q.enter("slack", string(rune('a'+rnd.IntN(4)))); ok {
				held = append(held, p)
			}
			continue
		}
		i := rnd.IntN(len(held))
		q.leave("slack", held[i])
		held = append(held[:i], held[i+1:]...)
		running := 0
		for _, p := range held {
			if granted(p) {
				running++
			}
		}
		if want := min(len(held), 3); running != want {
			t.Fatalf("%d of %d calls run, want %d", running, len(held), want)
		}
	}
	for _, p := range held {
		q.leave("slack", p)
	}
	if len(q.lanes) != 0 {
		t.Error("a lane is left")
	}
}
