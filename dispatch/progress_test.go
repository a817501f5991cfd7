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

func recordNotifications(t *testing.T, p *fakePage, o dispatch.Options, onProgress func(dispatch.Progress)) ([]notification, *dispatch.Error) {
	t.Helper()
	startTime := time.Now()
	var notifications []notification
	_, err, _ := runCall(t, p, o, dispatch.Call{Tool: exportTool, Progress: func(q dispatch.Progress) {
		notifications = append(notifications, notification{q, time.Since(startTime)})
		if onProgress != nil {
			onProgress(q)
		}
	}})
	return notifications, err
}

func TestReportFloodIsRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100000
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range n {
				if i%1000 == 0 {
					sleepVirtual(20 * time.Millisecond)
				}
				s.Reports(newNumberReports(float64(i), 2*n), 0)
			}
			s.Finish(json.RawMessage(`{}`), nil)
		}}
		notifications, err := recordNotifications(t, p, dispatch.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(notifications) < 20 || len(notifications) > 22 {
			t.Errorf("the client received %d notifications in 2 s, want 20 and the last", len(notifications))
		}
		if lastNotification := notifications[len(notifications)-1]; lastNotification.Progress.Progress != n-1 {
			t.Errorf("progress in the last notification = %v, want %d", lastNotification.Progress.Progress, n-1)
		}
		for i := 1; i < len(notifications)-1; i++ {
			if d := notifications[i].at - notifications[i-1].at; d < 100*time.Millisecond || notifications[i].Progress.Progress <= notifications[i-1].Progress.Progress {
				t.Errorf("notification %d arrived %v after the one before it: %v then %v; want at least 100 ms and more progress", i, d, notifications[i-1], notifications[i])
			}
		}
	})
}

func TestFirstAndLatestReportsAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range 5 {
				s.Reports([]wire.Report{{Progress: newFloatPointer(float64(i + 1)), Message: "m"}}, 0)
				sleepVirtual(10 * time.Millisecond)
			}
			sleepVirtual(time.Second)
			s.Finish(nil, nil)
		}}
		notifications, _ := recordNotifications(t, p, dispatch.Options{}, nil)
		if len(notifications) != 2 || notifications[0].at != 0 || notifications[0].Progress.Progress != 1 {
			t.Fatalf("notifications = %+v, want the first at once and one more", notifications)
		}
		if notifications[1].at != 100*time.Millisecond || notifications[1].Progress.Progress != 5 || notifications[1].Message != "m" {
			t.Errorf("second notification = %+v, want the latest progress 5 with its message, after 100 ms", notifications[1])
		}
	})
}

func TestFinalReportIgnoresRateLimitOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports(newNumberReports(1, 2), 0)
			sleepVirtual(time.Millisecond)
			s.Reports(newNumberReports(2, 2), 0)
			for i := 3.0; i < 50; i++ { // each report is final, because its progress equals its total
				sleepVirtual(time.Millisecond)
				s.Reports(newNumberReports(i, i), 0)
			}
			sleepVirtual(time.Second)
			s.Finish(nil, nil)
		}}
		notifications, _ := recordNotifications(t, p, dispatch.Options{}, nil)
		if len(notifications) != 3 || notifications[1].at != time.Millisecond || notifications[2].Progress.Progress != 49 {
			t.Errorf("notifications = %+v, want 1 and the final 2 at once, then 49 at the rate limit", notifications)
		}
	})
}

func TestLastReportIsSentBeforeResult(t *testing.T) {
	for _, hasFailed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
				s.Reports(newNumberReports(1, 9), 0)
				s.Reports(newNumberReports(2, 9), 0)
				if hasFailed {
					s.Finish(nil, &wire.CallError{Code: wire.ErrToolError, Message: "no"})
				} else {
					s.Finish(nil, nil)
				}
			}}
			notifications, _ := recordNotifications(t, p, dispatch.Options{}, nil)
			if len(notifications) == 0 || notifications[len(notifications)-1].Progress.Progress != 2 {
				t.Errorf("call fails %t: notifications = %+v, want a last notification with progress 2", hasFailed, notifications)
			}
		})
	}
}

func TestSlowClientDelaysOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			startTime := time.Now()
			for i := range 40 {
				s.Reports(newNumberReports(float64(i), 40), 0)
				sleepVirtual(time.Second)
			}
			if elapsedTime := time.Since(startTime); elapsedTime != 40*time.Second {
				t.Errorf("the page needed %v for its reports, want 40s, because a slow client must not delay the page", elapsedTime)
			}
			s.Finish(json.RawMessage(`1`), nil)
		}}
		notifications, err := recordNotifications(t, p, dispatch.Options{}, func(dispatch.Progress) { sleepVirtual(25 * time.Second) })
		if err != nil {
			t.Fatalf("error of the call = %v, want nil", err)
		}
		if lastNotification := notifications[len(notifications)-1]; lastNotification.Progress.Progress != 39 {
			t.Errorf("last notification = %+v, want progress 39", lastNotification)
		}
	})
}

func TestNoLimitDeliversEveryReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range 1000 {
				s.Reports(newNumberReports(float64(i+1), 1000), 0)
			}
			s.Finish(nil, nil)
		}}
		notifications, _ := recordNotifications(t, p, dispatch.Options{ProgressInterval: -1}, nil)
		if len(notifications) != 1000 {
			t.Fatalf("the client received %d notifications, want 1000", len(notifications))
		}
		for i, n := range notifications {
			if n.Progress.Progress != float64(i+1) {
				t.Fatalf("progress of notification %d = %v, want %d", i, n.Progress.Progress, i+1)
			}
		}
	})
}

func TestNotificationContainsAudience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports([]wire.Report{{Progress: newFloatPointer(1), Message: "this takes a while", Audience: "user"}}, 0)
			s.Finish(nil, nil)
		}}
		notifications, _ := recordNotifications(t, p, dispatch.Options{}, nil)
		if len(notifications) != 1 || notifications[0].Audience != "user" {
			t.Errorf("notifications = %+v, want one for the user", notifications)
		}
	})
}

func TestReportsFromManyGoroutines(t *testing.T) {
	const pages, reportsPerPage = 8, 5000
	p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
		var wg sync.WaitGroup
		for range pages {
			wg.Go(func() {
				for i := range reportsPerPage {
					s.Reports(newNumberReports(float64(i), reportsPerPage), 0)
				}
			})
		}
		wg.Wait()
		s.Finish(nil, nil)
	}}
	lastProgress := -1.0
	d := dispatch.New(p.bridge(), dispatch.Options{ProgressInterval: -1})
	r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Progress: func(q dispatch.Progress) {
		if q.Progress <= lastProgress {
			t.Errorf("a notification with the progress %v follows one with %v, want increasing progress", q.Progress, lastProgress)
		}
		lastProgress = q.Progress
	}})
	p.wg.Wait()
	if err != nil || r.ReportCount != pages*reportsPerPage || lastProgress != reportsPerPage-1 {
		t.Errorf("the call counted %d reports, the last with the progress %v, error %v; want all reports, the last one last, and no error", r.ReportCount, lastProgress, err)
	}
}

func TestNothingIsSentAfterACancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, disconnect := context.WithCancel(t.Context())
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports(newNumberReports(1, 9), 0)
			sleepVirtual(10 * time.Millisecond)
			s.Reports(newNumberReports(2, 9), 0)
			disconnect()
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		var notifications []dispatch.Progress
		_, err := d.Call(ctx, dispatch.Call{Tool: exportTool, Progress: func(q dispatch.Progress) { notifications = append(notifications, q) }})
		p.wg.Wait()
		if e := toDispatchError(t, err); e.Code != wire.ErrCancelled || len(notifications) != 1 || notifications[0].Progress != 1 {
			t.Errorf("the call ended with the error %v and sent the notifications %+v; want cancelled and one notification with the progress 1", e, notifications)
		}
	})
}

func TestToolNumbersAreSentUnchanged(t *testing.T) {
	const pauseTime = 200 * time.Millisecond // longer than the shortest time between two notifications
	reportThreeTimes := func(s dispatch.Sink) {
		for i := range 3 {
			sleepVirtual(pauseTime)
			s.Reports(newNumberReports(float64(i+1), 3), 0)
		}
		s.Finish(nil, nil)
	}
	tests := map[string]struct {
		parent      func(_ dispatch.Run, s dispatch.Sink)
		gates       []dispatch.Gate
		countBefore int
	}{
		"a message": {func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports([]wire.Report{{Message: "indexing"}}, 0)
			reportThreeTimes(s)
		}, nil, 1},
		"many messages": {func(_ dispatch.Run, s dispatch.Sink) {
			for range 1000 {
				sleepVirtual(pauseTime)
				s.Reports([]wire.Report{{Message: "indexing"}}, 0)
			}
			reportThreeTimes(s)
		}, nil, 1000},
		"another call": {func(_ dispatch.Run, s dispatch.Sink) {
			s.Ask(newToolAsk(1, "child", `{}`))
			sleepVirtual(time.Second)
			reportThreeTimes(s)
		}, nil, 2},
		"the wait for an approval": {func(_ dispatch.Run, s dispatch.Sink) { reportThreeTimes(s) }, []dispatch.Gate{&fakeGate{name: "permission"}}, 4},
		"the wait for the user": {func(_ dispatch.Run, s dispatch.Sink) {
			s.Ask(wire.ToolAskParams{Ask: 1, User: &wire.AskUser{Reason: "Log in."}})
			sleepVirtual(time.Second)
			reportThreeTimes(s)
		}, nil, 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, p, _ := newToolDispatcher(t, dispatch.Options{Gates: tt.gates}, map[string]func(dispatch.Run, dispatch.Sink){
					"parent": tt.parent,
					"child": func(_ dispatch.Run, s dispatch.Sink) {
						s.Reports([]wire.Report{{Message: "page 1", Audience: "user"}, {Message: "cached"}}, 0)
						sleepVirtual(pauseTime)
						s.Finish(nil, nil)
					},
				})
				var got []dispatch.Progress
				_, err := d.Call(t.Context(), dispatch.Call{
					Tool:     dispatch.Tool{Plugin: "m", Name: "parent"},
					Progress: func(p dispatch.Progress) { got = append(got, p) },
					OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
						for range 3 {
							d.SendReminder(w, "waiting for the user")
							sleepVirtual(pauseTime)
						}
						if _, err := d.Decide(w.CallID, "", dispatch.Resolution{Allow: true}); err != nil {
							t.Error(err)
						}
						d.SendReminder(w, "waiting though it is decided")
					},
				})
				p.wg.Wait()
				if err != nil || len(got) != tt.countBefore+3 {
					t.Fatalf("the call ended with the error %v, and the client received %+v; want no error, and 3 notifications after those before the wait", err, got)
				}
				for i, n := range got[:tt.countBefore] {
					if n.HasTotal || n.Progress > 0.001 || i > 0 && n.Progress <= got[i-1].Progress || i < 500 && n.Progress != float64(i+1)/1e6 {
						t.Errorf("notification %d = %+v, want no total, and a tiny progress that increases", i, n)
					}
				}
				for i, n := range got[tt.countBefore:] {
					if want := (dispatch.Progress{Progress: float64(i + 1), Total: 3, HasTotal: true}); n != want {
						t.Errorf("notification of the client = %+v, want %+v", n, want)
					}
				}
				if name == "another call" && (got[0].Message != "m__child: page 1" || got[0].Audience != "user" || got[1].Message != "m__child: cached") {
					t.Errorf("notifications about the nested call = %+v, want page 1 for the user, then cached", got[:2])
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
					s.Reports(newNumberReports(float64(i), 50), 0)
				}
				s.Reports([]wire.Report{
					{Progress: newFloatPointer(3), Total: newFloatPointer(50), Audience: "user"},
					{HasInvalidNumber: true, Status: "exporting", Message: "bad numbers"},
					{Activity: &wire.Activity{Type: "table", Content: json.RawMessage(`[1]`)}},
					{EndAudience: "user"},
				}, 7)
				s.Finish(nil, nil)
			}}
			var log strings.Builder
			notifications, err := recordNotifications(t, p, dispatch.Options{Log: zerolog.New(&log).Level(level)}, nil)
			if err != nil || len(notifications) > 3 {
				t.Fatalf("the call ended with the error %v after %d notifications; want no error and at most 3 notifications", err, len(notifications))
			}
			want := 54
			if level > zerolog.DebugLevel {
				want = 0
			}
			if n := strings.Count(log.String(), `"message":"report"`); n != want {
				t.Errorf("the log contains %d reports, want %d; log:\n%s", n, want, log.String())
			}
			for _, textPart := range []string{
				`"progress":17,"total":50,`, `"progress":3,"total":50,"audience":"user"`, `"status":"exporting","text":"bad numbers","invalid":true`,
				`"activity":"table","bytes":3`, `"end_audience":"user"`, `"reports":7,"message":"the page skipped reports"`,
			} {
				if strings.Contains(log.String(), textPart) != (want > 0) {
					t.Errorf("the log of level %s contains %s: %t, want the opposite", level, textPart, want == 0)
				}
			}
		})
	}
}
