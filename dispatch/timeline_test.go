package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

type suspendOnceGate struct{}

func (suspendOnceGate) Name() string { return "ask once" }

func (suspendOnceGate) Decide(i dispatch.CallInfo) dispatch.Verdict {
	if i.Resolution != nil {
		return dispatch.Verdict{}
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketPermission, Reason: "May it?"}}
}

func eventKinds(v dispatch.View) []dispatch.EventKind {
	var kinds []dispatch.EventKind
	for _, m := range v.Timeline {
		kinds = append(kinds, m.Kind)
	}
	return kinds
}

func TestTimelineRecordsCallPhases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			sleepVirtual(time.Second)
			s.Reports(newNumberReports(1, 2), 0)
			s.Finish(nil, nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{Gates: []dispatch.Gate{suspendOnceGate{}}})
		callEnded := make(chan string)
		go func() {
			r, err := d.Call(context.Background(), dispatch.Call{Tool: exportTool})
			if err != nil {
				t.Error(err)
			}
			callEnded <- r.CallID
		}()
		synctest.Wait()
		id := d.Calls()[0].CallID
		if d.Calls()[0].Timeline != nil {
			t.Error("a call in a list has a timeline, want none")
		}
		sleepVirtual(time.Second)
		if _, err := d.Decide(id, "", dispatch.Resolution{Allow: true, Surface: "the user"}); err != nil {
			t.Fatal(err)
		}
		<-callEnded
		v, _ := d.Find(id)
		want := []dispatch.EventKind{
			dispatch.EventCreated, dispatch.EventSuspended, dispatch.EventResumed, dispatch.EventRunning, dispatch.EventEnded,
		}
		if got := eventKinds(v); !slices.Equal(got, want) {
			t.Fatalf("kinds of the moments in the timeline = %v, want %v", got, want)
		}
		line := v.Timeline
		if line[1].Reason != "May it?" || line[2].Resolution == nil || line[2].Resolution.Surface != "the user" {
			t.Errorf("moments of the request and of the decision = %+v and %+v; want the reason May it? and the decision of the user", line[1], line[2])
		}
		if d := line[2].Time.Sub(line[0].Time); d != time.Second {
			t.Errorf("the decision comes %v after the start of the timeline, want 1 s", d)
		}
	})
}

func TestTimelineIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const waitCount = 100
		isAnswered := make(chan struct{}, 1)
		p := &fakePage{handler: func(toolRun dispatch.Run, s dispatch.Sink) {
			for i := range waitCount {
				s.Ask(wire.ToolAskParams{DispatchID: toolRun.ID, Ask: i + 1, User: &wire.AskUser{Reason: fmt.Sprint("wait ", i)}})
				<-isAnswered
			}
			s.Finish(nil, nil)
		}}
		bridge := p.bridge()
		bridge.AnswerFunc = func(string, int, json.RawMessage, *wire.CallError) { isAnswered <- struct{}{} }
		d := dispatch.New(bridge, dispatch.Options{})
		callEnded := make(chan struct{})
		go func() {
			defer close(callEnded)
			if _, err := d.Call(context.Background(), dispatch.Call{Tool: exportTool}); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		id := d.Calls()[0].CallID
		for range waitCount {
			if decision, err := d.Decide(id, "", dispatch.Resolution{Allow: true}); err != nil || decision.Outcome != wire.DecisionAccepted {
				t.Fatal(decision, err)
			}
			synctest.Wait()
		}
		<-callEnded
		v, _ := d.Find(id)
		kinds := eventKinds(v)
		if len(kinds) != 64 || kinds[0] != dispatch.EventCreated || kinds[63] != dispatch.EventEnded {
			t.Errorf("the timeline has %d moments, from %v to %v; want 64, from created to ended", len(kinds), kinds[0], kinds[len(kinds)-1])
		}
	})
}

func TestSubscribeFromViewReceivesLaterEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nextStep := make(chan struct{})
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for range 3 {
				<-nextStep
				s.Reports(newNumberReports(1, 2), 0)
			}
			s.Finish(nil, nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		firstSubscriber := d.Subscribe(dispatch.SubscribeOptions{})
		defer firstSubscriber.Close()
		go func() { _, _ = d.Call(context.Background(), dispatch.Call{Tool: exportTool}) }()
		synctest.Wait()
		nextStep <- struct{}{}
		synctest.Wait()
		v, _ := d.Find(d.Calls()[0].CallID)
		if v.ReportCount != 1 || v.Seq != 3 {
			t.Fatalf("view of the call: %d reports, last event %d; want 1 and 3", v.ReportCount, v.Seq)
		}
		f := d.Subscribe(dispatch.SubscribeOptions{AfterSeq: v.Seq})
		defer f.Close()
		if f.Position() != v.Seq {
			t.Errorf("a subscriber after event %d has the position %d, want the same number", v.Seq, f.Position())
		}
		nextStep <- struct{}{}
		nextStep <- struct{}{}
		synctest.Wait()
		events, missedCount, err := f.Next(t.Context())
		if err != nil || missedCount != 0 || len(events) != 3 || events[0].Call.ReportCount != 2 || f.Position() != 6 {
			t.Errorf("the subscriber read %d events, missed %d, error %v, position %d; want 3 events after the first report", len(events), missedCount, err, f.Position())
		}
	})
}

func TestSkippedReportsKeepParentRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		isAnswered := make(chan struct{})
		p := &fakePage{handler: func(toolRun dispatch.Run, s dispatch.Sink) {
			if toolRun.Tool == "child" {
				for range 3 {
					sleepVirtual(20 * time.Second)
					s.Reports(nil, 5)
				}
				s.Finish([]byte(`1`), nil)
				return
			}
			s.Ask(wire.ToolAskParams{DispatchID: toolRun.ID, Ask: 1, Call: &wire.AskCall{Tool: "child"}})
			<-isAnswered
			s.Finish(nil, nil)
		}}
		bridge := p.bridge()
		bridge.AnswerFunc = func(string, int, json.RawMessage, *wire.CallError) { close(isAnswered) }
		d := dispatch.New(bridge, dispatch.Options{
			ResolveTool: func(parent dispatch.Tool, name string, args json.RawMessage) (dispatch.Tool, json.RawMessage, *wire.CallError) {
				return dispatch.Tool{Plugin: parent.Plugin, Name: name}, args, nil
			},
		})
		if _, err := d.Call(context.Background(), dispatch.Call{Tool: exportTool}); err != nil {
			t.Error(err)
		}
		p.wg.Wait()
	})
}
