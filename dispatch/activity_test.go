package dispatch_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

func newContentReport(activityKind, reportMessage string) wire.Report {
	return wire.Report{Activity: &wire.Activity{Type: activityKind, Content: json.RawMessage(reportMessage)}}
}

func newPatchReport(activityKind, reportMessage string) wire.Report {
	return wire.Report{Activity: &wire.Activity{Type: activityKind, Patch: json.RawMessage(reportMessage)}}
}

func activitiesOf(t *testing.T, resyncs *atomic.Int32, reports ...wire.Report) []dispatch.ActivityView {
	t.Helper()
	var views []dispatch.ActivityView
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for _, r := range reports {
				s.Reports([]wire.Report{r}, 0)
			}
			s.Finish(nil, nil)
		}}
		b := p.bridge()
		b.ResyncFunc = func(string, string) { resyncs.Add(1) }
		d := dispatch.New(b, dispatch.Options{})
		r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		if err != nil {
			t.Fatal(err)
		}
		p.wg.Wait()
		v, ok := d.Find(r.CallID)
		if !ok {
			t.Fatal("Find does not return the call")
		}
		views = v.Activities
		synctest.Wait()
	})
	return views
}

func TestActivities(t *testing.T) {
	bigResult := `"` + strings.Repeat("x", wire.MaxActivityBytes) + `"`
	for _, tt := range []struct {
		name    string
		reports []wire.Report
		want    string // the field want lists the expected activities, each as type=content
		dropped int    // the field dropped is the expected number of dropped changes of the first activity
		resyncs int32
	}{
		{"a snapshot", []wire.Report{newContentReport("text", `"hello"`)}, `text="hello"`, 0, 0},
		{"the newest snapshot counts", []wire.Report{newContentReport("text", `"a"`), newContentReport("text", `"b"`)}, `text="b"`, 0, 0},
		{"two types", []wire.Report{newContentReport("text", `"a"`), newContentReport("table", `[]`)}, `text="a" table=[]`, 0, 0},
		{"a patch", []wire.Report{newContentReport("table", `[1]`), newPatchReport("table", `[{"op":"add","path":"/-","value":2}]`)}, `table=[1,2]`, 0, 0},
		{"a patch of a text", []wire.Report{newContentReport("text", `"a"`), newPatchReport("text", `[{"op":"replace","path":"","value":"b"}]`)}, `text="b"`, 0, 0},
		{"move and copy", []wire.Report{newContentReport("x", `{"a":{"b":1}}`), newPatchReport("x", `[{"op":"move","from":"/a/b","path":"/c"},{"op":"copy","from":"/c","path":"/d"}]`)}, `x={"a":{},"c":1,"d":1}`, 0, 0},
		{"numbers and order stay exact", []wire.Report{newContentReport("x", `{"b":1.00,"a":12345678901234567890}`), newPatchReport("x", `[{"op":"add","path":"/c","value":"<&>"}]`)}, `x={"b":1.00,"a":12345678901234567890,"c":"<&>"}`, 0, 0},
		{"only the patch that does not apply is dropped", []wire.Report{newContentReport("x", `{}`), newPatchReport("x", `[{"op":"add","path":"/a","value":1}]`), newPatchReport("x", `[{"op":"add","path":"/b","value":1},{"op":"remove","path":"/nowhere"}]`), newPatchReport("x", `[{"op":"add","path":"/c","value":1}]`)}, `x={"a":1,"c":1}`, 1, 1},
		{"a test that fails", []wire.Report{newContentReport("x", `{"a":1}`), newPatchReport("x", `[{"op":"test","path":"/a","value":2},{"op":"add","path":"/b","value":1}]`)}, `x={"a":1}`, 1, 1},
		{"not a patch", []wire.Report{newContentReport("x", `{}`), newPatchReport("x", `{"op":"add"}`), newPatchReport("x", `[1]`), newPatchReport("x", `[{"op":"dance","path":"/a"}]`), newPatchReport("x", `[{"op":"add","path":"a","value":1}]`)}, `x={}`, 4, 3},
		{"a patch of nothing", []wire.Report{newPatchReport("x", `[{"op":"add","path":"","value":1}]`)}, ``, 0, 1},
		{"a patch may not remove the whole content", []wire.Report{newContentReport("x", `{}`), newPatchReport("x", `[{"op":"remove","path":""}]`)}, `x={}`, 1, 1},
		{"too large", []wire.Report{newContentReport("x", `{}`), newContentReport("x", bigResult), newPatchReport("x", `[{"op":"add","path":"/a","value":`+bigResult+`}]`)}, `x={}`, 2, 0},
		{"a patched content may not exceed the limit", []wire.Report{newContentReport("x", `{"a":"`+strings.Repeat("x", 200000)+`"}`), newPatchReport("x", `[{"op":"copy","from":"/a","path":"/b"}]`)}, `x={"a":"` + strings.Repeat("x", 200000) + `"}`, 1, 1},
		{"an index out of reach", []wire.Report{newContentReport("x", `[]`), newPatchReport("x", `[{"op":"add","path":"/1000000000","value":1}]`)}, `x=[]`, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var resyncs atomic.Int32
			var got []string
			views := activitiesOf(t, &resyncs, tt.reports...)
			for _, v := range views {
				got = append(got, v.Type+"="+string(v.Content))
			}
			if gotActivities := strings.Join(got, " "); gotActivities != tt.want {
				t.Errorf("activities %.300s, want %.300s", gotActivities, tt.want)
			}
			if len(views) > 0 && views[0].Dropped != tt.dropped || resyncs.Load() != tt.resyncs {
				t.Errorf("%d dropped, %d resyncs; want %d, %d", views[0].Dropped, resyncs.Load(), tt.dropped, tt.resyncs)
			}
		})
	}
}

func TestManyActivityPatches(t *testing.T) {
	reports := []wire.Report{newContentReport("table", `[]`)}
	for i := range 1000 {
		reports = append(reports, newPatchReport("table", fmt.Sprintf(`[{"op":"add","path":"/-","value":%d}]`, i)))
	}
	var resyncs atomic.Int32
	views := activitiesOf(t, &resyncs, reports...)
	var rows []int
	if err := json.Unmarshal(views[0].Content, &rows); err != nil || len(rows) != 1000 || rows[999] != 999 || resyncs.Load() != 0 {
		t.Errorf("the activity has %d rows after %d resyncs, error %v", len(rows), resyncs.Load(), err)
	}
}

// TestManyInvalidActivityPatches checks that valid patches apply despite many invalid patches.
func TestManyInvalidActivityPatches(t *testing.T) {
	mixed := []wire.Report{newContentReport("table", `[]`)}
	for i := range 250 {
		mixed = append(mixed, newPatchReport("table", fmt.Sprintf(`[{"op":"add","path":"/-","value":%d}]`, i)))
		if i%25 == 0 {
			mixed = append(mixed, newPatchReport("table", `[{"op":"remove","path":"/9999"}]`))
		}
	}
	var resyncs atomic.Int32
	views := activitiesOf(t, &resyncs, mixed...)
	var rows []int
	if err := json.Unmarshal(views[0].Content, &rows); err != nil || len(rows) != 250 || rows[249] != 249 || views[0].Dropped != 10 {
		t.Errorf("%d rows, %d dropped, %v; want 250, 10", len(rows), views[0].Dropped, err)
	}
	largePatch := `{"a":"` + strings.Repeat("x", 200_000) + `"}`
	badReports := []wire.Report{newContentReport("x", largePatch)}
	for range 10_000 {
		badReports = append(badReports, newPatchReport("x", `[{"op":"remove","path":"/b"}]`))
	}
	if views := activitiesOf(t, &resyncs, badReports...); string(views[0].Content) != largePatch || views[0].Dropped != 10_000 {
		t.Errorf("the activity has %d bytes and %d dropped changes", len(views[0].Content), views[0].Dropped)
	}
}

func TestActivitiesAreBounded(t *testing.T) {
	var reports []wire.Report
	for i := range 20 {
		reports = append(reports, newContentReport(fmt.Sprint("t", i), `1`))
	}
	var resyncs atomic.Int32
	if views := activitiesOf(t, &resyncs, reports...); len(views) != wire.MaxActivityTypes || views[15].Type != "t15" {
		t.Errorf("the call has %d activities", len(views))
	}
}

func TestEndedCallsKeepSomeActivities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bigResult := `"` + strings.Repeat("x", wire.MaxActivityBytes-2) + `"`
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range wire.MaxActivityTypes {
				s.Reports([]wire.Report{newContentReport(fmt.Sprint(i), bigResult)}, 0)
			}
			s.Finish(nil, nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		var ids []string
		for range 12 {
			r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, r.CallID)
		}
		p.wg.Wait()
		keptActivities := 0
		for _, id := range ids {
			if v, _ := d.Find(id); len(v.Activities) > 0 {
				keptActivities++
			}
		}
		lastView, _ := d.Find(ids[11])
		if keptActivities != 8 || len(lastView.Activities) == 0 {
			t.Errorf("%d calls keep their activities, want the last 8 (32 MiB)", keptActivities)
		}
	})
}

func TestActivitiesAreReportsWithoutProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notifications := 0
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			sleepFake(20 * time.Second)
			s.Reports([]wire.Report{newContentReport("text", `"a"`)}, 0)
			sleepFake(20 * time.Second)
			s.Reports([]wire.Report{{EndAudience: "user"}}, 0)
			sleepFake(20 * time.Second)
			s.Finish(nil, nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		f := d.Follow(dispatch.FollowOptions{Audience: "user"})
		defer f.Close()
		r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Progress: func(dispatch.Progress) { notifications++ }})
		if err != nil || notifications != 0 || r.Audience != "user" || r.ReportCount != 1 {
			t.Errorf("the call returned %+v after %d notifications, error %v", r, notifications, err)
		}
		p.wg.Wait()
		events, _, err := f.Next(t.Context())
		if err != nil || len(events) != 1 || events[0].Kind != dispatch.EventEnded || events[0].Audience != "user" || events[0].Call.EndAudience != "user" {
			t.Errorf("the user gets the events %+v, error %v", events, err)
		}
	})
}

// An activity report without an audience gets the audience of the last report about its activity.
func TestEventsOfActivities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			completeReport, change := newContentReport("table", `[1]`), newPatchReport("table", `[{"op":"remove","path":"/0"}]`)
			change.Audience = "user"
			inside := newPatchReport("table", `[]`)
			inside.Audience = "internal"
			s.Reports([]wire.Report{completeReport, change, {Message: "m", Activity: completeReport.Activity}, newPatchReport("table", `[]`), inside, newPatchReport("table", `[]`)}, 0)
			// The dispatcher drops an activity report that is too large.
			s.Reports([]wire.Report{newContentReport("table", `"`+strings.Repeat("x", wire.MaxActivityBytes)+`"`)}, 0)
			s.Finish(nil, nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		f := d.Follow(dispatch.FollowOptions{})
		defer f.Close()
		if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool}); err != nil {
			t.Fatal(err)
		}
		p.wg.Wait()
		events, _, err := f.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range events {
			eventText := string(e.Kind) + ":" + e.Audience
			if e.Activity != nil {
				eventText += fmt.Sprintf(":%s %s %s", e.Activity.Type, e.Activity.Content, e.Activity.Patch)
			}
			if e.Report != nil && e.Report.Activity != nil {
				eventText += ":an activity in a report"
			}
			got = append(got, eventText)
		}
		const want = `created: running: activity::table [1]  activity:user:table  [{"op":"remove","path":"/0"}] activity:user:table [1]  progress: ` +
			`activity:user:table  [] activity:internal:table  [] activity:internal:table  [] ended:`
		if strings.Join(got, " ") != want {
			t.Errorf("events\n got %s\nwant %s", strings.Join(got, " "), want)
		}
	})
}

func TestEventsForTheUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports([]wire.Report{
				{Progress: newFloat(1), Total: newFloat(4), Message: "for you", Audience: "user"},
				{Progress: newFloat(2), Total: newFloat(4), Message: "inside"},
				{Progress: newFloat(3), Total: newFloat(4), Message: "odd", Audience: "admin"},
				{Activity: &wire.Activity{Type: "text", Content: json.RawMessage(`"inside"`)}},
			}, 0)
			s.Finish(nil, &wire.CallError{Code: wire.ErrToolError, Message: "no"})
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		everything := d.Follow(dispatch.FollowOptions{})
		forUser := d.Follow(dispatch.FollowOptions{Audience: "user"})
		inside := d.Follow(dispatch.FollowOptions{Audience: "internal"})
		admin := d.Follow(dispatch.FollowOptions{Audience: "admin"})
		_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		if err == nil {
			t.Fatal("want an error")
		}
		p.wg.Wait()
		for name, want := range map[*dispatch.Follower]string{
			everything: "created running progress:for you progress:inside progress:odd activity ended",
			forUser:    "progress:for you ended",
			inside:     "created running progress:inside progress:odd activity ended",
			admin:      "progress:odd",
		} {
			events, _, err := name.Next(t.Context())
			var got []string
			for _, e := range events {
				eventText := string(e.Kind)
				if e.Report != nil {
					eventText += ":" + e.Report.Message
				}
				got = append(got, eventText)
			}
			if err != nil || strings.Join(got, " ") != want {
				t.Errorf("the follower got %q, want %q (%v)", got, want, err)
			}
			name.Close()
		}
		v := d.Calls()[0]
		if v.UserMessage != "for you" || *v.UserProgress != 0.25 || v.Message != "odd" || *v.Progress != 0.75 {
			t.Errorf("the view is %+v", v)
		}
	})
}

func TestEndOfEachCallIsShownToUser(t *testing.T) {
	for audience, wantShown := range map[string]string{"": "", "internal": "", "user": "Sent to 3."} {
		synctest.Test(t, func(t *testing.T) {
			p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
				s.Reports([]wire.Report{{EndAudience: audience}}, 0)
				s.Finish(json.RawMessage(`"Sent to 3."`), nil)
			}}
			d := dispatch.New(p.bridge(), dispatch.Options{})
			forUser := d.Follow(dispatch.FollowOptions{Audience: "user"})
			defer forUser.Close()
			if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool}); err != nil {
				t.Fatal(err)
			}
			p.wg.Wait()
			events, _, err := forUser.Next(t.Context())
			if err != nil || len(events) != 1 || events[0].Kind != dispatch.EventEnded || events[0].Audience != audience {
				t.Fatalf("audience %q: %v, %v", audience, events, err)
			}
			v := events[0].Call
			if v.ShownResult(false) != wantShown || v.ShownResult(true) != "Sent to 3." {
				t.Errorf("audience %q: the view shows %q of the result %q", audience, v.ShownResult(false), v.Result)
			}
		})
	}
}

func TestResultTextIsShort(t *testing.T) {
	longText := strings.Repeat("ä", 300)
	for output, want := range map[string]string{
		``:                   "",
		`"two\nlines"`:       "two\nlines",
		`{"a":[1,2]}`:        `{"a":[1,2]}`,
		`"` + longText + `"`: strings.Repeat("ä", 200) + "…",
		`[` + strings.Repeat(`"ab",`, 100) + `"end"]`: ("[" + strings.Repeat(`"ab",`, 100))[:400] + "…",
		`"` + strings.Repeat("x", 100_000) + `"`:      `"` + strings.Repeat("x", 399) + "…",
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
				var outputJSON json.RawMessage
				if output != "" {
					outputJSON = json.RawMessage(output)
				}
				s.Finish(outputJSON, nil)
			}}
			d := dispatch.New(p.bridge(), dispatch.Options{})
			if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool}); err != nil {
				t.Fatal(err)
			}
			p.wg.Wait()
			if got := d.Calls()[0].Result; got != want {
				t.Errorf("%.40s: %q, want %q", output, got, want)
			}
		})
	}
}

func TestStatusWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports([]wire.Report{{Message: "batch 1", Status: "indexing", Audience: "user"}}, 0)
			s.Reports([]wire.Report{{Progress: newFloat(1), Total: newFloat(4)}}, 0)
			s.Reports([]wire.Report{{Message: "page 7", Status: "fetching"}}, 0)
			s.Finish(nil, nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{ProgressInterval: -1})
		var sentMessages []string
		call := dispatch.Call{Tool: exportTool, Progress: func(p dispatch.Progress) {
			sentMessages = append(sentMessages, p.StatusWord+"/"+p.Message)
		}}
		if _, err := d.Call(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		p.wg.Wait()
		if got := strings.Join(sentMessages, " "); got != "indexing/batch 1 / fetching/page 7" {
			t.Errorf("the client got %q; want %q", got, "indexing/batch 1 / fetching/page 7")
		}
		if v := d.Calls()[0]; v.UserStatusWord != "indexing" || v.StatusWord != "fetching" {
			t.Errorf("the status word is %q, for the user %q", v.StatusWord, v.UserStatusWord)
		}
	})
}
