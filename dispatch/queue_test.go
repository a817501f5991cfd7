package dispatch

import (
	"math/rand/v2"
	"strings"
	"testing"

	"opentabs/wire"
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
	q := newQueue(queueLimits{running: 1, waiting: 100, bytes: 100})
	first, _ := q.enter("slack", "a", 1)
	var waiting []*place
	for _, session := range []string{"a", "a", "a", "b", "c", "b"} {
		p, err := q.enter("slack", session, 1)
		if err != nil || granted(p) {
			t.Fatal("a call that should wait does not")
		}
		waiting = append(waiting, p)
	}
	other, _ := q.enter("jira", "a", 1)
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

// enter enters with one byte of arguments and fails if that is refused.
func enter(t *testing.T, q *queue, session string) *place {
	t.Helper()
	p, err := q.enter("slack", session, 1)
	if err != nil {
		t.Fatalf("%s is refused: %s", session, err.Message)
	}
	return p
}

func TestQueueIsBounded(t *testing.T) {
	q := newQueue(queueLimits{running: 1, waiting: 2, bytes: 100})
	var places []*place
	for range 3 {
		places = append(places, enter(t, q, "a"))
	}
	_, err := q.enter("slack", "a", 1)
	if err == nil || err.Code != wire.ErrRateLimited || !strings.Contains(err.Message, "2 calls of this plugin wait already") {
		t.Fatalf("the fourth call: %+v, want rate_limited with the limit", err)
	}
	q.leave("slack", places[2]) // a client that waited left
	enter(t, q, "b")
}

// TestFullQueueRefusesTheGreediest: a client with one call gets a place in a
// queue that another has filled; the one that loses a place is told why.
func TestFullQueueRefusesTheGreediest(t *testing.T) {
	q := newQueue(queueLimits{running: 1, waiting: 4, bytes: 100})
	running := enter(t, q, "greedy")
	var greedy []*place
	for range 4 {
		greedy = append(greedy, enter(t, q, "greedy"))
	}
	modest := enter(t, q, "modest")
	last := greedy[3]
	if err := q.refusal(last); !granted(last) || err == nil || err.Code != wire.ErrRateLimited {
		t.Fatalf("the greedy client's last call: %+v, want rate_limited", err)
	}
	if _, err := q.enter("slack", "greedy", 1); err == nil {
		t.Error("the greedy client got the place back")
	}
	q.leave("slack", last)
	q.leave("slack", running)
	if !granted(greedy[0]) || q.refusal(greedy[0]) != nil {
		t.Error("the first call that waited does not run")
	}
	q.leave("slack", greedy[0])
	if !granted(modest) {
		t.Error("the modest client waits behind all of the greedy one's calls")
	}
	for _, p := range []*place{modest, greedy[1], greedy[2]} {
		q.leave("slack", p)
	}
	if len(q.lanes) != 0 {
		t.Error("a lane is left")
	}
}

func TestQueueIsBoundedInBytes(t *testing.T) {
	q := newQueue(queueLimits{running: 1, waiting: 100, bytes: 1000})
	enter(t, q, "a")
	big, err := q.enter("slack", "a", 900)
	if err != nil {
		t.Fatal(err.Message)
	}
	if _, err := q.enter("slack", "a", 200); err == nil || !strings.Contains(err.Message, "900 bytes long, of at most 1000") {
		t.Fatalf("the client with the large arguments: %+v, want rate_limited with both sizes", err)
	}
	if _, err := q.enter("slack", "b", 200); err != nil {
		t.Fatalf("another client: %s", err.Message)
	}
	if q.refusal(big) == nil {
		t.Error("the large one was not refused")
	}
	if _, err := q.enter("slack", "c", 1001); err == nil {
		t.Error("one that can never fit was taken")
	}
}

// TestQueueNeverLeaksAPlace enters and leaves at random, waiting and running.
func TestQueueNeverLeaksAPlace(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	q := newQueue(queueLimits{running: 3, waiting: 50, bytes: 60})
	var held []*place
	for range 20000 {
		if len(held) == 0 || rnd.IntN(2) == 0 {
			if p, err := q.enter("slack", string(rune('a'+rnd.IntN(4))), rnd.IntN(5)); err == nil {
				held = append(held, p)
			}
			continue
		}
		i := rnd.IntN(len(held))
		q.leave("slack", held[i])
		held = append(held[:i], held[i+1:]...)
		running, refused := 0, 0
		for _, p := range held {
			switch {
			case q.refusal(p) != nil:
				refused++
			case granted(p):
				running++
			}
		}
		if want := min(len(held)-refused, 3); running != want {
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
