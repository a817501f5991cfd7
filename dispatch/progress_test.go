package dispatch_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/wire"
)

func contains(s, sub string) bool { return strings.Contains(s, sub) }

type notification struct {
	dispatch.Progress
	at time.Duration
}

func recordNotifications(t *testing.T, p *fakePage, o dispatch.Options, each func(dispatch.Progress)) ([]notification, *dispatch.Error) {
	t.Helper()
	startTime := time.Now()
	var notifications []notification
	_, err, _ := runCall(t, p, o, dispatch.Call{Tool: exportTool, Progress: func(q dispatch.Progress) {
		notifications = append(notifications, notification{q, time.Since(startTime)})
		if each != nil {
			each(q)
		}
	}})
	return notifications, err
}

func TestFloodIsLimitedAndTheLastReportIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100000
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range n {
				if i%1000 == 0 {
					sleepFake(20 * time.Millisecond)
				}
				s.Reports(numberReports(float64(i), 2*n), 0)
			}
			s.Finish(json.RawMessage(`{}`), nil)
		}}
		notifications, err := recordNotifications(t, p, dispatch.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(notifications) < 20 || len(notifications) > 22 {
			t.Errorf("%d notifications in 2 s, want 20 and the last", len(notifications))
		}
		if last := notifications[len(notifications)-1]; last.Progress.Progress != n-1 {
			t.Errorf("the last notification is %v, want %d", last.Progress.Progress, n-1)
		}
		for i := 1; i < len(notifications)-1; i++ {
			if d := notifications[i].at - notifications[i-1].at; d < 100*time.Millisecond || notifications[i].Progress.Progress <= notifications[i-1].Progress.Progress {
				t.Errorf("notification %d arrived %v after the notification before: %v then %v", i, d, notifications[i-1], notifications[i])
			}
		}
	})
}

func TestFirstAndLatestReportsAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range 5 {
				s.Reports([]wire.Report{{Progress: newFloat(float64(i + 1)), Message: "m"}}, 0)
				sleepFake(10 * time.Millisecond)
			}
			sleepFake(time.Second)
			s.Finish(nil, nil)
		}}
		notifications, _ := recordNotifications(t, p, dispatch.Options{}, nil)
		if len(notifications) != 2 || notifications[0].at != 0 || notifications[0].Progress.Progress != 1 {
			t.Fatalf("notes %+v, want the first at once and one more", notifications)
		}
		if notifications[1].at != 100*time.Millisecond || notifications[1].Progress.Progress != 5 || notifications[1].Message != "m" {
			t.Errorf("second is %+v, want the latest, 5, after 100ms with its message", notifications[1])
		}
	})
}

func TestFinalReportIgnoresRateLimitOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports(numberReports(1, 2), 0)
			sleepFake(time.Millisecond)
			s.Reports(numberReports(2, 2), 0)
			for i := 3.0; i < 50; i++ { // each report is final, because its progress equals its total
				sleepFake(time.Millisecond)
				s.Reports(numberReports(i, i), 0)
			}
			sleepFake(time.Second)
			s.Finish(nil, nil)
		}}
		notifications, _ := recordNotifications(t, p, dispatch.Options{}, nil)
		if len(notifications) != 3 || notifications[1].at != time.Millisecond || notifications[2].Progress.Progress != 49 {
			t.Errorf("notes %+v, want 1, the final 2 at once, and 49 at the limit's pace", notifications)
		}
	})
}

func TestLastReportGoesBeforeTheResult(t *testing.T) {
	for _, hasFailed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
				s.Reports(numberReports(1, 9), 0)
				s.Reports(numberReports(2, 9), 0)
				if hasFailed {
					s.Finish(nil, &wire.CallError{Code: wire.ErrToolError, Message: "no"})
				} else {
					s.Finish(nil, nil)
				}
			}}
			notifications, _ := recordNotifications(t, p, dispatch.Options{}, nil)
			if len(notifications) == 0 || notifications[len(notifications)-1].Progress.Progress != 2 {
				t.Errorf("fails %t: notes %+v, want 2 as the last", hasFailed, notifications)
			}
		})
	}
}

func TestSlowClientDelaysOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			startTime := time.Now()
			for i := range 40 {
				s.Reports(numberReports(float64(i), 40), 0)
				sleepFake(time.Second)
			}
			if elapsed := time.Since(startTime); elapsed != 40*time.Second {
				t.Errorf("the page's reports elapsed %v, want 40s: a slow client delayed them", elapsed)
			}
			s.Finish(json.RawMessage(`1`), nil)
		}}
		notifications, err := recordNotifications(t, p, dispatch.Options{}, func(dispatch.Progress) { sleepFake(25 * time.Second) })
		if err != nil {
			t.Fatalf("the call ended with %v", err)
		}
		if last := notifications[len(notifications)-1]; last.Progress.Progress != 39 {
			t.Errorf("last notification %+v, want 39", last)
		}
	})
}

func TestNoLimitDeliversEveryReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range 1000 {
				s.Reports(numberReports(float64(i+1), 1000), 0)
			}
			s.Finish(nil, nil)
		}}
		notifications, _ := recordNotifications(t, p, dispatch.Options{ProgressInterval: -1}, nil)
		if len(notifications) != 1000 {
			t.Fatalf("%d notifications, want 1000", len(notifications))
		}
		for i, n := range notifications {
			if n.Progress.Progress != float64(i+1) {
				t.Fatalf("notification %d is %v", i, n.Progress.Progress)
			}
		}
	})
}

func TestAudienceIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports([]wire.Report{{Progress: newFloat(1), Message: "this takes a while", Audience: "user"}}, 0)
			s.Finish(nil, nil)
		}}
		notifications, _ := recordNotifications(t, p, dispatch.Options{}, nil)
		if len(notifications) != 1 || notifications[0].Audience != "user" {
			t.Errorf("notes %+v, want one for the user", notifications)
		}
	})
}

func TestReportsFromManyGoroutines(t *testing.T) {
	const pages, each = 8, 5000
	p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
		var wg sync.WaitGroup
		for range pages {
			wg.Go(func() {
				for i := range each {
					s.Reports(numberReports(float64(i), each), 0)
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
			t.Errorf("notification %v follows %v", q.Progress, last)
		}
		last = q.Progress
	}})
	p.wg.Wait()
	if err != nil || r.ReportCount != pages*each || last != each-1 {
		t.Errorf("the call had %d reports, the last was %v, and the error is %v", r.ReportCount, last, err)
	}
}

func TestNothingIsSentAfterACancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, disconnect := context.WithCancel(t.Context())
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports(numberReports(1, 9), 0)
			sleepFake(10 * time.Millisecond)
			s.Reports(numberReports(2, 9), 0)
			disconnect()
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		var notifications []dispatch.Progress
		_, err := d.Call(ctx, dispatch.Call{Tool: exportTool, Progress: func(q dispatch.Progress) { notifications = append(notifications, q) }})
		p.wg.Wait()
		if e := asError(t, err); e.Code != wire.ErrCancelled || len(notifications) != 1 || notifications[0].Progress != 1 {
			t.Errorf("the call ended with error %v and sent %+v", e, notifications)
		}
	})
}

func TestToolNumbersAreSentUnchanged(t *testing.T) {
	const pause = 200 * time.Millisecond // this pause is longer than the shortest time between two notifications
	count := func(s dispatch.Sink) {
		for i := range 3 {
			sleepFake(pause)
			s.Reports(numberReports(float64(i+1), 3), 0)
		}
		s.Finish(nil, nil)
	}
	tests := map[string]struct {
		parent func(_ dispatch.Run, s dispatch.Sink)
		gates  []dispatch.Gate
		before int
	}{
		"a message": {func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports([]wire.Report{{Message: "indexing"}}, 0)
			count(s)
		}, nil, 1},
		"many messages": {func(_ dispatch.Run, s dispatch.Sink) {
			for range 1000 {
				sleepFake(pause)
				s.Reports([]wire.Report{{Message: "indexing"}}, 0)
			}
			count(s)
		}, nil, 1000},
		"another call": {func(_ dispatch.Run, s dispatch.Sink) {
			s.Ask(newAskReport(1, "child", `{}`))
			sleepFake(time.Second)
			count(s)
		}, nil, 2},
		"the wait for an approval": {func(_ dispatch.Run, s dispatch.Sink) { count(s) }, []dispatch.Gate{&fakeGate{name: "permission"}}, 4},
		"the wait for the user": {func(_ dispatch.Run, s dispatch.Sink) {
			s.Ask(wire.ToolAskParams{Ask: 1, User: &wire.AskUser{Reason: "Log in."}})
			sleepFake(time.Second)
			count(s)
		}, nil, 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, p, _ := newToolDispatcher(t, dispatch.Options{Gates: tt.gates}, map[string]func(dispatch.Run, dispatch.Sink){
					"parent": tt.parent,
					"child": func(_ dispatch.Run, s dispatch.Sink) {
						s.Reports([]wire.Report{{Message: "page 1", Audience: "user"}, {Message: "cached"}}, 0)
						sleepFake(pause)
						s.Finish(nil, nil)
					},
				})
				var got []dispatch.Progress
				_, err := d.Call(t.Context(), dispatch.Call{
					Tool:     dispatch.Tool{Plugin: "m", Name: "parent"},
					Progress: func(p dispatch.Progress) { got = append(got, p) },
					OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
						for range 3 {
							d.Remind(w, "waiting for the user")
							sleepFake(pause)
						}
						if _, err := d.Decide(w.CallID, "", dispatch.Resolution{Allow: true}); err != nil {
							t.Error(err)
						}
						d.Remind(w, "waiting though it is decided")
					},
				})
				p.wg.Wait()
				if err != nil || len(got) != tt.before+3 {
					t.Fatalf("the call ended with error %v, and the client got %+v", err, got)
				}
				for i, n := range got[:tt.before] {
					if n.HasTotal || n.Progress > 0.001 || i > 0 && n.Progress <= got[i-1].Progress || i < 500 && n.Progress != float64(i+1)/1e6 {
						t.Errorf("notification %d is %+v", i, n)
					}
				}
				for i, n := range got[tt.before:] {
					if want := (dispatch.Progress{Progress: float64(i + 1), Total: 3, HasTotal: true}); n != want {
						t.Errorf("the client got %+v, want %+v", n, want)
					}
				}
				if name == "another call" && (got[0].Message != "m__child: page 1" || got[0].Audience != "user" || got[1].Message != "m__child: cached") {
					t.Errorf("the client got %+v of the other call", got[:2])
				}
			})
		})
	}
}

func TestEveryReportIsLogged(t *testing.T) {
	for _, level := range []zerolog.Level{zerolog.DebugLevel, zerolog.InfoLevel} {
		synctest.Test(t, func(t *testing.T) {
			p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
				for i := range 50 { // only the first and the last report are sent to the client
					s.Reports(numberReports(float64(i), 50), 0)
				}
				s.Reports([]wire.Report{
					{Progress: newFloat(3), Total: newFloat(50), Audience: "user"},
					{HasInvalidNumber: true, Status: "exporting", Message: "bad numbers"},
					{Activity: &wire.Activity{Type: "table", Content: json.RawMessage(`[1]`)}},
					{EndAudience: "user"},
				}, 7)
				s.Finish(nil, nil)
			}}
			var log strings.Builder
			notifications, err := recordNotifications(t, p, dispatch.Options{Log: zerolog.New(&log).Level(level)}, nil)
			if err != nil || len(notifications) > 3 {
				t.Fatalf("the call ended with error %v after %d notifications", err, len(notifications))
			}
			want := 54
			if level > zerolog.DebugLevel {
				want = 0
			}
			if n := strings.Count(log.String(), `"message":"report"`); n != want {
				t.Errorf("%d reports in the log, want %d:\n%s", n, want, log.String())
			}
			for _, part := range []string{
				`"progress":17,"total":50,`, `"progress":3,"total":50,"audience":"user"`, `"status":"exporting","text":"bad numbers","invalid":true`,
				`"activity":"table","bytes":3`, `"end_audience":"user"`, `"reports":7,"message":"the page skipped reports"`,
			} {
				if strings.Contains(log.String(), part) != (want > 0) {
					t.Errorf("the log of level %s wrongly contains or lacks %s", level, part)
				}
			}
		})
	}
}
