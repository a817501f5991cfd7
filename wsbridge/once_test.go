package wsbridge

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

type runEndCounter struct {
	mu            sync.Mutex // guards all fields below
	finishedRuns  int
	cancelledRuns int
	answeredRuns  int
	stoppedRuns   int
}

func (e *runEndCounter) Reports([]wire.Report, int) {}
func (e *runEndCounter) LinkLost()                  {}
func (*runEndCounter) Ask(wire.ToolAskParams)       {}

func (e *runEndCounter) LinkRestored() {}

func (e *runEndCounter) ReceivePart() {}

func (e *runEndCounter) Finish(json.RawMessage, *wire.CallError) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.finishedRuns++
}

type chaosTest struct {
	w                *hubFixture
	rnd              *rand.Rand
	bootIDs          map[string]int
	peersByBrowserID map[string]*browserPeer
	all              []*browserPeer
	runs             map[string]*runEndCounter
	ids              []string
}

func (c *chaosTest) id() string {
	if len(c.ids) == 0 {
		return "none"
	}
	return c.ids[len(c.ids)-1-c.rnd.IntN(min(len(c.ids), 6))]
}

func (c *chaosTest) randomStep() func() {
	name := []string{"b1", "b2"}[c.rnd.IntN(2)]
	p, id := c.peersByBrowserID[name], c.id()
	sendFrame := func(format string, args ...any) func() {
		if p == nil {
			return func() {}
		}
		return func() { p.sendFormattedFrame(format, args...) }
	}
	switch n := c.rnd.IntN(100); {
	case n < 25:
		id = fmt.Sprint("c", len(c.ids))
		c.ids = append(c.ids, id)
		e := &runEndCounter{}
		c.runs[id] = e
		return func() { c.start(name, id, e) }
	case n < 40:
		return sendFrame(`{"jsonrpc":"2.0","id":%q,"result":{"output":1}}`, id)
	case n < 45:
		return sendFrame(`{"jsonrpc":"2.0","id":%q,"error":{"code":-32000,"message":"m","data":{"code":"tab_closed","message":"m"}}}`, id)
	case n < 50:
		return sendFrame(`{"jsonrpc":"2.0","method":"tool.part","params":{"dispatchId":%q,"seq":0,"text":"123456"}}`, id)
	case n < 55:
		return sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":%q,"reports":[{}]}}`, id)
	case n < 70:
		e := c.runs[id]
		return func() { c.cancel(id, e) }
	case n < 75:
		return sendFrame(`{"jsonrpc":"2.0","id":"s/cancel/%s","result":{"outcome":"aborted"}}`, id)
	case n < 79:
		return sendFrame(`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":[%q,%q]}}`, id, c.id())
	case n < 84:
		if p != nil {
			p.closeAbruptly()
			delete(c.peersByBrowserID, name)
		}
	case n < 92:
		if c.rnd.IntN(4) == 0 {
			c.bootIDs[name]++
		}
		c.peersByBrowserID[name] = c.w.connectBrowser(name, fmt.Sprintf("boot%d", c.bootIDs[name]))
		c.all = append(c.all, c.peersByBrowserID[name])
	default:
		c.w.advanceTime(time.Duration(c.rnd.Int64N(int64(6 * time.Second))))
	}
	return func() {}
}

func (c *chaosTest) start(browser, id string, e *runEndCounter) {
	err := c.w.hub.Start(c.w.t.Context(), dispatch.Run{
		ID: id, MaxResultBytes: 5, Target: dispatch.Target{Browser: browser, TabID: 7, DocumentID: "d7"},
	}, e)
	if err != nil {
		e.Finish(nil, err)
	}
}

func (c *chaosTest) cancel(id string, e *runEndCounter) {
	if e == nil {
		return
	}
	e.mu.Lock()
	e.cancelledRuns++
	e.mu.Unlock()
	c.w.hub.Cancel(id, "stop it", func(o wire.CancelOutcome) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.answeredRuns++
		if o != wire.CancelFinished {
			e.stoppedRuns++
		}
	})
}

func TestEveryRunEndsOnce(t *testing.T) {
	for seed := range uint64(150) {
		testWithHub(t, Options{}, func(w *hubFixture) {
			c := &chaosTest{
				w: w, rnd: rand.New(rand.NewPCG(seed, 1)), bootIDs: map[string]int{},
				peersByBrowserID: map[string]*browserPeer{}, runs: map[string]*runEndCounter{},
			}
			for range 60 {
				var senders sync.WaitGroup
				for range 1 + c.rnd.IntN(4) {
					senders.Go(c.randomStep())
				}
				senders.Wait()
			}
			for _, p := range c.all {
				p.closeAbruptly()
			}
			w.advanceTime(time.Minute)
			for id, e := range c.runs {
				if e.finishedRuns+e.stoppedRuns != 1 || e.cancelledRuns != e.answeredRuns {
					t.Errorf("seed %d: %s finished %d times and was stopped %d times, and %d of %d stops were answered; want one end, and an answer to each stop",
						seed, id, e.finishedRuns, e.stoppedRuns, e.answeredRuns, e.cancelledRuns)
				}
			}
			w.hub.registry.mu.Lock()
			defer w.hub.registry.mu.Unlock()
			if len(w.hub.registry.browsers) != 0 || len(w.hub.registry.openLinksSet) != 0 {
				t.Errorf("seed %d: the hub still has %d browsers and %d connections, want 0 and 0", seed, len(w.hub.registry.browsers), len(w.hub.registry.openLinksSet))
			}
		})
	}
}
