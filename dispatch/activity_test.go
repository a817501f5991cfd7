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
			t.Fatal("Find found no call for the ID of the running call, want the call")
		}
		views = v.Activities
		synctest.Wait()
	})
	return views
}

func TestReportsUpdateActivities(t *testing.T) {
	bigResult := `"` + strings.Repeat("x", wire.MaxActivityBytes) + `"`
	for _, tt := range []struct {
		name        string
		reports     []wire.Report
		want        string // the field want lists the expected activities, each as type=content
		wantDropped int    // the field wantDropped is the expected number of dropped changes of the first activity
		resyncs     int32
	}{
		{"complete content", []wire.Report{newContentReport("text", `"hello"`)}, `text="hello"`, 0, 0},
		{"the newest complete content counts", []wire.Report{newContentReport("text", `"a"`), newContentReport("text", `"b"`)}, `text="b"`, 0, 0},
		{"two types", []wire.Report{newContentReport("text", `"a"`), newContentReport("table", `[]`)}, `text="a" table=[]`, 0, 0},
		{"a patch", []wire.Report{newContentReport("table", `[1]`), newPatchReport("table", `[{"op":"add","path":"/-","value":2}]`)}, `table=[1,2]`, 0, 0},
		{"a patch of a text", []wire.Report{newContentReport("text", `"a"`), newPatchReport("text", `[{"op":"replace","path":"","value":"b"}]`)}, `text="b"`, 0, 0},
		{"move and copy", []wire.Report{newContentReport("x", `{"a":{"b":1}}`), newPatchReport("x", `[{"op":"move","from":"/a/b","path":"/c"},{"op":"copy","from":"/c","path":"/d"}]`)}, `x={"a":{},"c":1,"d":1}`, 0, 0},
		{"numbers and order stay exact", []wire.Report{newContentReport("x", `{"b":1.00,"a":12345678901234567890}`), newPatchReport("x", `[{"op":"add","path":"/c","value":"<&>"}]`)}, `x={"b":1.00,"a":12345678901234567890,"c":"<&>"}`, 0, 0},
		{"a patch that does not apply is dropped, and other patches apply", []wire.Report{newContentReport("x", `{}`), newPatchReport("x", `[{"op":"add","path":"/a","value":1}]`), newPatchReport("x", `[{"op":"add","path":"/b","value":1},{"op":"remove","path":"/nowhere"}]`), newPatchReport("x", `[{"op":"add","path":"/c","value":1}]`)}, `x={"a":1,"c":1}`, 1, 1},
		{"a patch whose test operation fails", []wire.Report{newContentReport("x", `{"a":1}`), newPatchReport("x", `[{"op":"test","path":"/a","value":2},{"op":"add","path":"/b","value":1}]`)}, `x={"a":1}`, 1, 1},
		{"malformed patches", []wire.Report{newContentReport("x", `{}`), newPatchReport("x", `{"op":"add"}`), newPatchReport("x", `[1]`), newPatchReport("x", `[{"op":"dance","path":"/a"}]`), newPatchReport("x", `[{"op":"add","path":"a","value":1}]`)}, `x={}`, 4, 3},
		{"a patch of an activity without content", []wire.Report{newPatchReport("x", `[{"op":"add","path":"","value":1}]`)}, ``, 0, 1},
		{"a patch may not remove the whole content", []wire.Report{newContentReport("x", `{}`), newPatchReport("x", `[{"op":"remove","path":""}]`)}, `x={}`, 1, 1},
		{"content and patch above the size limit", []wire.Report{newContentReport("x", `{}`), newContentReport("x", bigResult), newPatchReport("x", `[{"op":"add","path":"/a","value":`+bigResult+`}]`)}, `x={}`, 2, 0},
		{"a patched content may not exceed the limit", []wire.Report{newContentReport("x", `{"a":"`+strings.Repeat("x", 200000)+`"}`), newPatchReport("x", `[{"op":"copy","from":"/a","path":"/b"}]`)}, `x={"a":"` + strings.Repeat("x", 200000) + `"}`, 1, 1},
		{"an array index that is too large", []wire.Report{newContentReport("x", `[]`), newPatchReport("x", `[{"op":"add","path":"/1000000000","value":1}]`)}, `x=[]`, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var resyncs atomic.Int32
			var got []string
			views := activitiesOf(t, &resyncs, tt.reports...)
			for _, v := range views {
				got = append(got, v.Type+"="+string(v.Content))
			}
			if gotActivities := strings.Join(got, " "); gotActivities != tt.want {
				t.Errorf("activities of the call = %.300s, want %.300s", gotActivities, tt.want)
			}
			if len(views) > 0 && views[0].Dropped != tt.wantDropped || resyncs.Load() != tt.resyncs {
				t.Errorf("%d dropped changes and %d requests for the complete content; want %d and %d", views[0].Dropped, resyncs.Load(), tt.wantDropped, tt.resyncs)
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
		t.Errorf("the activity has %d rows after %d requests for its complete content, error %v; want 1000 rows, no request and no error", len(rows), resyncs.Load(), err)
	}
}

// TestManyInvalidActivityPatches checks that valid patches apply despite many invalid patches.
func TestManyInvalidActivityPatches(t *testing.T) {
	mixedReports := []wire.Report{newContentReport("table", `[]`)}
	for i := range 250 {
		mixedReports = append(mixedReports, newPatchReport("table", fmt.Sprintf(`[{"op":"add","path":"/-","value":%d}]`, i)))
		if i%25 == 0 {
			mixedReports = append(mixedReports, newPatchReport("table", `[{"op":"remove","path":"/9999"}]`))
		}
	}
	var resyncs atomic.Int32
	views := activitiesOf(t, &resyncs, mixedReports...)
	var rows []int
	if err := json.Unmarshal(views[0].Content, &rows); err != nil || len(rows) != 250 || rows[249] != 249 || views[0].Dropped != 10 {
		t.Errorf("the activity has %d rows and %d dropped changes, error %v; want 250 rows, 10 dropped changes and no error", len(rows), views[0].Dropped, err)
	}
	largePatch := `{"a":"` + strings.Repeat("x", 200_000) + `"}`
	invalidPatchReports := []wire.Report{newContentReport("x", largePatch)}
	for range 10_000 {
		invalidPatchReports = append(invalidPatchReports, newPatchReport("x", `[{"op":"remove","path":"/b"}]`))
	}
	if views := activitiesOf(t, &resyncs, invalidPatchReports...); string(views[0].Content) != largePatch || views[0].Dropped != 10_000 {
		t.Errorf("the activity has %d bytes and %d dropped changes; want the last content and 10000 dropped changes", len(views[0].Content), views[0].Dropped)
	}
}

func TestActivitiesAreBounded(t *testing.T) {
	var reports []wire.Report
	for i := range 20 {
		reports = append(reports, newContentReport(fmt.Sprint("t", i), `1`))
	}
	var resyncs atomic.Int32
	if views := activitiesOf(t, &resyncs, reports...); len(views) != wire.MaxActivityTypes || views[15].Type != "t15" {
		t.Errorf("the call has %d activities, want %d, the last of type t15", len(views), wire.MaxActivityTypes)
	}
}

func TestEndedCallsKeepLimitedActivities(t *testing.T) {
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
		keptActivityCount := 0
		for _, id := range ids {
			if v, _ := d.Find(id); len(v.Activities) > 0 {
				keptActivityCount++
			}
		}
		lastView, _ := d.Find(ids[11])
		if keptActivityCount != 8 || len(lastView.Activities) == 0 {
			t.Errorf("%d calls keep their activities, want the last 8 (32 MiB)", keptActivityCount)
		}
	})
}

func TestActivitiesSendNoProgressNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notifications := 0
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			sleepVirtual(20 * time.Second)
			s.Reports([]wire.Report{newContentReport("text", `"a"`)}, 0)
			sleepVirtual(20 * time.Second)
			s.Reports([]wire.Report{{EndAudience: "user"}}, 0)
			sleepVirtual(20 * time.Second)
			s.Finish(nil, nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		f := d.Subscribe(dispatch.SubscribeOptions{Audience: "user"})
		defer f.Close()
		r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Progress: func(dispatch.Progress) { notifications++ }})
		if err != nil || notifications != 0 || r.Audience != "user" || r.ReportCount != 1 {
			t.Errorf("the call returned %+v after %d notifications, error %v; want one report, the audience user, no notification and no error", r, notifications, err)
		}
		p.wg.Wait()
		events, _, err := f.Next(t.Context())
		if err != nil || len(events) != 1 || events[0].Kind != dispatch.EventEnded || events[0].Audience != "user" || events[0].Call.EndAudience != "user" {
			t.Errorf("events for the user = %+v, error %v; want only the end of the call, for the audience user", events, err)
		}
	})
}

// An activity report without an audience gets the audience of the last report about its activity.
func TestActivityEventsInheritAudience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			contentReport, patchReport := newContentReport("table", `[1]`), newPatchReport("table", `[{"op":"remove","path":"/0"}]`)
			patchReport.Audience = "user"
			internalReport := newPatchReport("table", `[]`)
			internalReport.Audience = "internal"
			s.Reports([]wire.Report{contentReport, patchReport, {Message: "m", Activity: contentReport.Activity}, newPatchReport("table", `[]`), internalReport, newPatchReport("table", `[]`)}, 0)
			// The dispatcher drops an activity report that is too large.
			s.Reports([]wire.Report{newContentReport("table", `"`+strings.Repeat("x", wire.MaxActivityBytes)+`"`)}, 0)
			s.Finish(nil, nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		f := d.Subscribe(dispatch.SubscribeOptions{})
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
			t.Errorf("events of the call:\n got %s\nwant %s", strings.Join(got, " "), want)
		}
	})
}

func TestAudienceSelectsEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports([]wire.Report{
				{Progress: newFloatPointer(1), Total: newFloatPointer(4), Message: "for you", Audience: "user"},
				{Progress: newFloatPointer(2), Total: newFloatPointer(4), Message: "inside"},
				{Progress: newFloatPointer(3), Total: newFloatPointer(4), Message: "odd", Audience: "admin"},
				{Activity: &wire.Activity{Type: "text", Content: json.RawMessage(`"inside"`)}},
			}, 0)
			s.Finish(nil, &wire.CallError{Code: wire.ErrToolError, Message: "no"})
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		allEventsSubscriber := d.Subscribe(dispatch.SubscribeOptions{})
		userSubscriber := d.Subscribe(dispatch.SubscribeOptions{Audience: "user"})
		internalSubscriber := d.Subscribe(dispatch.SubscribeOptions{Audience: "internal"})
		adminSubscriber := d.Subscribe(dispatch.SubscribeOptions{Audience: "admin"})
		_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		if err == nil {
			t.Fatal("the call succeeded, want an error")
		}
		p.wg.Wait()
		for name, want := range map[*dispatch.Subscriber]string{
			allEventsSubscriber: "created running progress:for you progress:inside progress:odd activity ended",
			userSubscriber:      "progress:for you ended",
			internalSubscriber:  "created running progress:inside progress:odd activity ended",
			adminSubscriber:     "progress:odd",
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
				t.Errorf("events of the subscriber = %q, want %q; error %v", got, want, err)
			}
			name.Close()
		}
		v := d.Calls()[0]
		if v.UserMessage != "for you" || *v.UserProgress != 0.25 || v.Message != "odd" || *v.Progress != 0.75 {
			t.Errorf("view of the call = %+v, want the message for the user at 0.25, and the message odd at 0.75", v)
		}
	})
}

func TestEndOfEachCallIsShownToUser(t *testing.T) {
	for audience, wantMessage := range map[string]string{"": "", "internal": "", "user": "Sent to 3."} {
		synctest.Test(t, func(t *testing.T) {
			p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
				s.Reports([]wire.Report{{EndAudience: audience}}, 0)
				s.Finish(json.RawMessage(`"Sent to 3."`), nil)
			}}
			d := dispatch.New(p.bridge(), dispatch.Options{})
			userSubscriber := d.Subscribe(dispatch.SubscribeOptions{Audience: "user"})
			defer userSubscriber.Close()
			if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool}); err != nil {
				t.Fatal(err)
			}
			p.wg.Wait()
			events, _, err := userSubscriber.Next(t.Context())
			if err != nil || len(events) != 1 || events[0].Kind != dispatch.EventEnded || events[0].Audience != audience {
				t.Fatalf("audience %q: events = %v, error %v; want one ended event with this audience", audience, events, err)
			}
			v := events[0].Call
			if v.ShownResult(false) != wantMessage || v.ShownResult(true) != "Sent to 3." {
				t.Errorf("audience %q: shown result = %q, want %q; complete result = %q, want Sent to 3.", audience, v.ShownResult(false), wantMessage, v.ShownResult(true))
			}
		})
	}
}

func TestResultTextIsTruncated(t *testing.T) {
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
				t.Errorf("result of a call with the output %.40s = %q, want %q", output, got, want)
			}
		})
	}
}

func TestStatusWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports([]wire.Report{{Message: "batch 1", Status: "indexing", Audience: "user"}}, 0)
			s.Reports([]wire.Report{{Progress: newFloatPointer(1), Total: newFloatPointer(4)}}, 0)
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
			t.Errorf("notifications of the client = %q, want %q", got, "indexing/batch 1 / fetching/page 7")
		}
		if v := d.Calls()[0]; v.UserStatusWord != "indexing" || v.StatusWord != "fetching" {
			t.Errorf("status word = %q, want fetching; status word for the user = %q, want indexing", v.StatusWord, v.UserStatusWord)
		}
	})
}

// A view contains the activities of exactly those events whose sequence numbers are at most the view's.
func TestViewHasActivitiesOfItsSeq(t *testing.T) {
	const reportCount = 2000
	hasReported, canEnd := make(chan struct{}), make(chan struct{})
	p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
		s.Reports([]wire.Report{newContentReport("n", "0")}, 0)
		close(hasReported)
		for i := range reportCount {
			s.Reports([]wire.Report{newPatchReport("n", fmt.Sprintf(`[{"op":"replace","path":"","value":%d}]`, i+1))}, 0)
		}
		<-canEnd
		s.Finish(nil, nil)
	}}
	d := dispatch.New(p.bridge(), dispatch.Options{})
	subscriber := d.Subscribe(dispatch.SubscribeOptions{})
	defer subscriber.Close()
	callEnd := make(chan error, 1)
	go func() {
		_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		callEnd <- err
	}()
	<-hasReported
	id := d.Calls()[0].CallID
	var seqOfFirstReport uint64
	for reports := uint64(0); reports < reportCount; {
		v, _ := d.Find(id)
		if err := json.Unmarshal(v.Activities[0].Content, &reports); err != nil {
			t.Fatal(err)
		}
		if seqOfFirstReport == 0 {
			seqOfFirstReport = v.Seq - reports
		}
		if v.Seq-seqOfFirstReport != reports {
			t.Fatalf("the view with the sequence number %d has %d reports, want %d", v.Seq, reports, v.Seq-seqOfFirstReport)
		}
	}
	close(canEnd)
	if err := <-callEnd; err != nil {
		t.Error(err)
	}
}
