package dispatch_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

func contains(s, sub string) bool { return strings.Contains(s, sub) }

// note is a notification and when it came.
type note struct {
	dispatch.Progress
	at time.Duration
}

// watch runs a call with a Progress function that records.
func watch(t *testing.T, p *page, o dispatch.Options, each func(dispatch.Progress)) ([]note, *dispatch.Error) {
	t.Helper()
	start := time.Now()
	var notes []note
	_, err, _ := call(t, p, o, dispatch.Call{Tool: exportTool, Progress: func(q dispatch.Progress) {
		notes = append(notes, note{q, time.Since(start)})
		if each != nil {
			each(q)
		}
	}})
	return notes, err
}

func TestFloodIsTenASecondAndTheLastOneArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100000
		p := &page{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range n {
				if i%1000 == 0 {
					sleep(20 * time.Millisecond) // 100 bursts over 2 s
				}
				s.Reports(report(float64(i), 2*n), 0)
			}
			s.Finish(json.RawMessage(`{}`), nil)
		}}
		notes, err := watch(t, p, dispatch.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(notes) < 20 || len(notes) > 22 {
			t.Errorf("%d notifications in 2 s, want 20 and the last", len(notes))
		}
		if last := notes[len(notes)-1]; last.Progress.Progress != n-1 {
			t.Errorf("the last notification is %v, want %d", last.Progress.Progress, n-1)
		}
		for i := 1; i < len(notes)-1; i++ {
			if d := notes[i].at - notes[i-1].at; d < 100*time.Millisecond || notes[i].Progress.Progress <= notes[i-1].Progress.Progress {
				t.Errorf("notification %d came %v after the one before: %v then %v", i, d, notes[i-1], notes[i])
			}
		}
	})
}

func TestFirstAtOnceThenTheTrailingEdge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &page{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range 5 { // at 0, 10, 20, 30, 40 ms
				s.Reports([]wire.Report{{Progress: number(float64(i + 1)), Message: "m"}}, 0)
				sleep(10 * time.Millisecond)
			}
			sleep(time.Second)
			s.Finish(nil, nil)
		}}
		notes, _ := watch(t, p, dispatch.Options{}, nil)
		if len(notes) != 2 || notes[0].at != 0 || notes[0].Progress.Progress != 1 {
			t.Fatalf("notes %+v, want the first at once and one more", notes)
		}
		if notes[1].at != 100*time.Millisecond || notes[1].Progress.Progress != 5 || notes[1].Message != "m" {
			t.Errorf("second is %+v, want the latest, 5, after 100ms with its message", notes[1])
		}
	})
}

func TestFinalReportPassesTheLimitOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &page{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports(report(1, 2), 0)
			sleep(time.Millisecond)
			s.Reports(report(2, 2), 0)
			for i := 3.0; i < 50; i++ { // each final by its own count
				sleep(time.Millisecond)
				s.Reports(report(i, i), 0)
			}
			sleep(time.Second)
			s.Finish(nil, nil)
		}}
		notes, _ := watch(t, p, dispatch.Options{}, nil)
		if len(notes) != 3 || notes[1].at != time.Millisecond || notes[2].Progress.Progress != 49 {
			t.Errorf("notes %+v, want 1, the final 2 at once, and 49 at the limit's pace", notes)
		}
	})
}

func TestLastReportGoesBeforeTheResult(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := &page{handler: func(_ dispatch.Run, s dispatch.Sink) {
				s.Reports(report(1, 9), 0)
				s.Reports(report(2, 9), 0)
				if fails {
					s.Finish(nil, &wire.CallError{Code: wire.ErrToolError, Message: "no"})
				} else {
					s.Finish(nil, nil)
				}
			}}
			notes, _ := watch(t, p, dispatch.Options{}, nil)
			if len(notes) == 0 || notes[len(notes)-1].Progress.Progress != 2 {
				t.Errorf("fails %t: notes %+v, want 2 as the last", fails, notes)
			}
		})
	}
}

func TestSlowClientDelaysOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &page{handler: func(_ dispatch.Run, s dispatch.Sink) {
			start := time.Now()
			for i := range 40 {
				s.Reports(report(float64(i), 40), 0)
				sleep(time.Second)
			}
			if took := time.Since(start); took != 40*time.Second {
				t.Errorf("the page's reports took %v, want 40s: a slow client held them up", took)
			}
			s.Finish(json.RawMessage(`1`), nil)
		}}
		notes, err := watch(t, p, dispatch.Options{}, func(dispatch.Progress) { sleep(25 * time.Second) })
		if err != nil {
			t.Fatalf("the call ended with %v", err)
		}
		if last := notes[len(notes)-1]; last.Progress.Progress != 39 {
			t.Errorf("last notification %+v, want 39", last)
		}
	})
}

func TestNoLimitDeliversEveryReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &page{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range 1000 {
				s.Reports(report(float64(i+1), 1000), 0)
			}
			s.Finish(nil, nil)
		}}
		notes, _ := watch(t, p, dispatch.Options{ProgressInterval: -1}, nil)
		if len(notes) != 1000 {
			t.Fatalf("%d notifications, want 1000", len(notes))
		}
		for i, n := range notes {
			if n.Progress.Progress != float64(i+1) {
				t.Fatalf("notification %d is %v", i, n.Progress.Progress)
			}
		}
	})
}

func TestAudienceIsPassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &page{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports([]wire.Report{{Progress: number(1), Message: "this takes a while", Audience: "user"}}, 0)
			s.Finish(nil, nil)
		}}
		notes, _ := watch(t, p, dispatch.Options{}, nil)
		if len(notes) != 1 || notes[0].Audience != "user" {
			t.Errorf("notes %+v, want one for the user", notes)
		}
	})
}

// Reports may come from anywhere at once: none is lost, and the client's numbers
// only rise.
func TestReportsFromManyGoroutines(t *testing.T) {
	const pages, each = 8, 5000
	p := &page{handler: func(_ dispatch.Run, s dispatch.Sink) {
		var wg sync.WaitGroup
		for range pages {
			wg.Go(func() {
				for i := range each {
					s.Reports(report(float64(i), each), 0)
				}
			})
		}
		wg.Wait()
		s.Finish(nil, nil)
	}}
	last := -1.0
	d := dispatch.New(p.bridge(), dispatch.Options{ProgressInterval: -1})
	r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Progress: func(q dispatch.Progress) {
		if q.Progress <= last {
			t.Errorf("%v came after %v", q.Progress, last)
		}
		last = q.Progress
	}})
	p.wg.Wait()
	if err != nil || r.Reports != pages*each || last != each-1 {
		t.Errorf("%d reports, the last of them %v, %v", r.Reports, last, err)
	}
}

// A client that has left is told nothing more, also not what still waited.
func TestNothingIsToldAfterACancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		p := &page{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports(report(1, 9), 0)
			sleep(10 * time.Millisecond)
			s.Reports(report(2, 9), 0) // waits for its turn
			leave()
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		var notes []dispatch.Progress
		_, err := d.Call(ctx, dispatch.Call{Tool: exportTool, Progress: func(q dispatch.Progress) { notes = append(notes, q) }})
		p.wg.Wait()
		if e := asError(t, err); e.Code != wire.ErrCancelled || len(notes) != 1 || notes[0].Progress != 1 {
			t.Errorf("%v, told %+v", e, notes)
		}
	})
}
