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

type recordingActivityOwner struct {
	mu       sync.Mutex
	resyncs  []string
	warnings []string
	onWarn   func()
}

func (o *recordingActivityOwner) ResyncActivity(activityKind string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.resyncs = append(o.resyncs, activityKind)
}

func (o *recordingActivityOwner) requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.resyncs)
}

func (o *recordingActivityOwner) WarnActivity(activityKind string, _ error) {
	o.warnings = append(o.warnings, activityKind)
	if o.onWarn != nil {
		o.onWarn()
	}
}

func newSet() (*Set, *recordingActivityOwner) {
	var s Set
	var o recordingActivityOwner
	s.Init(&o)
	return &s, &o
}

func viewsOf(s *Set) []View {
	s.ApplyPending()
	return s.Snapshot().Views()
}

func TestClearDuringPatch(t *testing.T) {
	s, o := newSet()
	for _, activityKind := range []string{"a", "b", "c"} {
		s.activities = append(s.activities, &activity{
			activityType: activityKind, content: json.RawMessage("[]"), resyncCount: maxResyncs,
			patches: []json.RawMessage{json.RawMessage(`[{"op":"remove","path":"/0"}]`)},
		})
	}
	o.onWarn = func() { s.activities = nil } // drop all activities as Clear does; the mutex is already locked
	if views := viewsOf(s); len(views) != 0 || len(o.warnings) != 1 {
		t.Errorf("views of the Set = %v and warnings = %q; want no views and one warning", views, o.warnings)
	}
}

func TestSetAppliesPatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, o := newSet()
		s.Report(&wire.Activity{Type: "table", Content: json.RawMessage(`{"rows":[1]}`)}, "user")
		for _, patch := range []string{
			`[{"op":"add","path":"/rows/-","value":2}]`, `[{"op":"remove","path":"/missing"}]`, `[{"op":"add","path":"/rows/-","value":3}]`,
		} {
			if audience, hasChanged := s.Report(&wire.Activity{Type: "table", Patch: json.RawMessage(patch)}, ""); !hasChanged || audience != "user" {
				t.Errorf("the patch was accepted %t with the audience %q; want true and the audience of the content", hasChanged, audience)
			}
		}
		views := viewsOf(s)
		synctest.Wait()
		if len(views) != 1 || string(views[0].Content) != `{"rows":[1,2,3]}` || views[0].Dropped != 1 {
			t.Errorf("views of the Set = %+v, want one view with three rows and one dropped change", views)
		}
		if !slices.Equal(o.requests(), []string{"table"}) || !slices.Equal(o.warnings, []string{"table"}) {
			t.Errorf("the Set requested the content of %q and warned about %q, want table in both", o.requests(), o.warnings)
		}
		if want := len(`{"rows":[1,2,3]}`); s.Size() != want {
			t.Errorf("size of the Set = %d bytes, want %d", s.Size(), want)
		}
		if s.Clear(); s.Size() != 0 || viewsOf(s) != nil {
			t.Error("the Set still has an activity after Clear, want none")
		}
	})
}

func TestSetIsBounded(t *testing.T) {
	s, o := newSet()
	largePatch := make(json.RawMessage, wire.MaxActivityBytes+1)
	if _, hasChanged := s.Report(&wire.Activity{Type: "large", Content: largePatch}, ""); hasChanged {
		t.Error("the Set accepted content above the size limit, want a rejection")
	}
	for i := range wire.MaxActivityTypes + 1 {
		_, hasChanged := s.Report(&wire.Activity{Type: string(rune('a' + i)), Content: json.RawMessage("1")}, "")
		if want := i < wire.MaxActivityTypes; hasChanged != want {
			t.Errorf("the Set accepted activity %d: %t, want %t", i+1, hasChanged, want)
		}
	}
	if len(o.warnings) != 1 {
		t.Errorf("warnings of the Set = %q, want one", o.warnings)
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
			t.Errorf("the Set sent %d requests for all activities within a second, want 1", len(o.requests()))
		}
		<-time.After(time.Second)
		if !slices.Equal(o.requests(), []string{"", ""}) {
			t.Errorf("requests of the Set = %q, want two requests for all activities", o.requests())
		}
	})
}
