package activity

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/internal/leaktest"
	"opentabs/wire"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

type recordingOwner struct {
	mu       sync.Mutex
	resyncs  []string
	warnings []string
	onWarn   func()
}

func (o *recordingOwner) ResyncActivity(activityKind string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.resyncs = append(o.resyncs, activityKind)
}

func (o *recordingOwner) requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.resyncs)
}

func (o *recordingOwner) WarnActivity(activityKind string, _ error) {
	o.warnings = append(o.warnings, activityKind)
	if o.onWarn != nil {
		o.onWarn()
	}
}

func newSet() (*Set, *recordingOwner) {
	var s Set
	var o recordingOwner
	s.Init(&o)
	return &s, &o
}

func TestClearWhileApplying(t *testing.T) {
	s, o := newSet()
	for _, activityKind := range []string{"a", "b", "c"} {
		s.activities = append(s.activities, &activity{
			activityType: activityKind, content: json.RawMessage("[]"), resyncCount: maxResyncs,
			patches: []json.RawMessage{json.RawMessage(`[{"op":"remove","path":"/0"}]`)},
		})
	}
	o.onWarn = func() { s.activities = nil } // drop all activities as Clear does; the mutex is already locked
	if views := s.Views(); len(views) != 0 || len(o.warnings) != 1 {
		t.Errorf("the Set has the views %v and warned about %q", views, o.warnings)
	}
}

func TestSetAppliesPatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, o := newSet()
		s.Report(&wire.Activity{Type: "table", Content: json.RawMessage(`{"rows":[1]}`)}, "user")
		for _, patch := range []string{
			`[{"op":"add","path":"/rows/-","value":2}]`, `[{"op":"remove","path":"/missing"}]`, `[{"op":"add","path":"/rows/-","value":3}]`,
		} {
			if audience, accepted := s.Report(&wire.Activity{Type: "table", Patch: json.RawMessage(patch)}, ""); !accepted || audience != "user" {
				t.Errorf("accepted %t for %q, want the audience of the content", accepted, audience)
			}
		}
		views := s.Views()
		synctest.Wait()
		if len(views) != 1 || string(views[0].Content) != `{"rows":[1,2,3]}` || views[0].Dropped != 1 {
			t.Errorf("the Set has the views %+v", views)
		}
		if !slices.Equal(o.requests(), []string{"table"}) || !slices.Equal(o.warnings, []string{"table"}) {
			t.Errorf("the Set requested %q and warned about %q", o.requests(), o.warnings)
		}
		if want := len(`{"rows":[1,2,3]}`); s.Size() != want {
			t.Errorf("size %d, want %d", s.Size(), want)
		}
		if s.Clear(); s.Size() != 0 || s.Views() != nil {
			t.Error("an activity is left after Clear")
		}
	})
}

func TestSetIsBounded(t *testing.T) {
	s, o := newSet()
	largePatch := make(json.RawMessage, wire.MaxActivityBytes+1)
	if _, accepted := s.Report(&wire.Activity{Type: "large", Content: largePatch}, ""); accepted {
		t.Error("a content above the limit is accepted")
	}
	for i := range wire.MaxActivityTypes + 1 {
		_, accepted := s.Report(&wire.Activity{Type: string(rune('a' + i)), Content: json.RawMessage("1")}, "")
		if want := i < wire.MaxActivityTypes; accepted != want {
			t.Errorf("activity %d: accepted %t, want %t", i+1, accepted, want)
		}
	}
	if len(o.warnings) != 1 {
		t.Errorf("warned about %q, want one warning", o.warnings)
	}
}

func TestActivityRequestsAreRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, o := newSet()
		for range 10 {
			s.ReportsLost()
		}
		<-time.After(10 * time.Millisecond)
		s.ReportsLost()
		<-time.After(500 * time.Millisecond)
		if len(o.requests()) != 1 {
			t.Errorf("%d requests within a second, want 1", len(o.requests()))
		}
		<-time.After(time.Second)
		if !slices.Equal(o.requests(), []string{"", ""}) {
			t.Errorf("requested %q, want all activities twice", o.requests())
		}
	})
}
