package dispatch

import (
	"encoding/json"
	"testing"

	"github.com/rs/zerolog"
)

// writes is a writer that tells of each write.
type writes func()

func (w writes) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}

// Activities may be forgotten, to make room, while somebody looks at them.
func TestActivitiesAreForgottenWhileTheyAreApplied(t *testing.T) {
	a := activities{}
	for _, kind := range []string{"a", "b", "c"} {
		a.list = append(a.list, &activity{
			kind: kind, content: json.RawMessage("[]"), resyncs: maxResyncs,
			patches: []json.RawMessage{json.RawMessage(`[{"op":"remove","path":"/0"}]`)}, // there is none
		})
	}
	forgotten := false
	log := zerolog.New(writes(func() { // under a.mu, so as forget does it
		a.list, forgotten = nil, true
	}))
	a.call = &liveCall{d: &Dispatcher{opts: Options{Log: log}}}
	if views := a.views(); len(views) != 0 || !forgotten {
		t.Errorf("%v, forgotten %t", views, forgotten)
	}
}
