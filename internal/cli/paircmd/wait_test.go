package paircmd

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/internal/httpapi"
	"opentabs/wire"
)

const testCode = "7KQ2MXD9R4TB8WZ0HJ5N"

type timedStatus struct {
	startedAt time.Time
	statusAt  func(time.Duration) httpapi.Status
}

func (s timedStatus) Status(context.Context) (httpapi.Status, error) {
	return s.statusAt(time.Since(s.startedAt)), nil
}

// TestWaitForBrowser checks how soon a right code, a wrong code and an unused code are
// reported.
func TestWaitForBrowser(t *testing.T) {
	keyID := wire.KeyID(wire.PairingKey(testCode))
	connectedStatus := httpapi.Status{Browsers: []httpapi.Browser{{Name: "Other", Connected: true}, {Name: "Work", Connected: true, PairingKeyID: keyID}}}
	offering := func(ids ...string) (s httpapi.Status) {
		for _, id := range ids {
			s.Unpaired = append(s.Unpaired, httpapi.UnpairedBrowser{KeyID: id, TriedAt: time.Now()})
		}
		return s
	}
	earlierStatus := func() httpapi.Status {
		return httpapi.Status{Unpaired: []httpapi.UnpairedBrowser{{KeyID: "other", TriedAt: time.Now().Add(-4 * time.Second)}}}
	}
	for _, c := range []struct {
		name       string
		statusAt   func(time.Duration) httpapi.Status
		want       error
		atMost     time.Duration
		hasSilence bool
	}{
		{"right code", func(d time.Duration) httpapi.Status {
			if d < 2*time.Second {
				return offering("other", keyID)
			}
			return connectedStatus
		}, nil, 3 * time.Second, false},
		{"wrong code", func(time.Duration) httpapi.Status { return offering("other") }, ErrOtherCode, time.Second, false},
		{"a new code of the same browser", func(d time.Duration) httpapi.Status {
			if d < 2*time.Second {
				return earlierStatus()
			}
			return connectedStatus
		}, nil, 3 * time.Second, false},
		{"wrong code, and the side panel is opened later", func(d time.Duration) httpapi.Status {
			if d < 20*time.Second {
				return offering()
			}
			return offering("other")
		}, ErrOtherCode, 21 * time.Second, true},
		{"no browser", func(time.Duration) httpapi.Status { return offering() }, ErrUnusedCode, time.Minute + time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				startedAt := time.Now()
				silences := 0
				name, err := WaitForBrowser(t.Context(), timedStatus{startedAt, c.statusAt}, testCode, time.Minute, func() { silences++ })
				if !errors.Is(err, c.want) || err == nil && name != "Work" {
					t.Errorf("the browser is %q, %v; want the error %v", name, err, c.want)
				}
				if waited := time.Since(startedAt); waited > c.atMost {
					t.Errorf("WaitForBrowser returned after %s, want at most %s", waited, c.atMost)
				}
				if hasSilence := silences == 1; hasSilence != c.hasSilence {
					t.Errorf("onSilence was called %d times; want a call: %t", silences, c.hasSilence)
				}
			})
		})
	}
}
