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

type timedStatusReader struct {
	startedAt   time.Time
	statusAfter func(time.Duration) httpapi.Status
}

func (s timedStatusReader) Status(context.Context) (httpapi.Status, error) {
	return s.statusAfter(time.Since(s.startedAt)), nil
}

// TestWaitForBrowser checks how soon a right code, a wrong code and an unused code are
// reported.
func TestWaitForBrowser(t *testing.T) {
	keyID := wire.KeyID(wire.PairingKey(testCode))
	connectedStatus := httpapi.Status{Browsers: []httpapi.Browser{{Name: "Other", Connected: true}, {Name: "Work", Connected: true, PairingKeyID: keyID}}}
	newUnpairedStatus := func(ids ...string) (s httpapi.Status) {
		for _, id := range ids {
			s.UnpairedBrowsers = append(s.UnpairedBrowsers, httpapi.UnpairedBrowser{KeyID: id, LastAttemptAt: time.Now()})
		}
		return s
	}
	statusWithEarlierTry := func() httpapi.Status {
		return httpapi.Status{UnpairedBrowsers: []httpapi.UnpairedBrowser{{KeyID: "other", LastAttemptAt: time.Now().Add(-4 * time.Second)}}}
	}
	for _, c := range []struct {
		name             string
		statusAfter      func(time.Duration) httpapi.Status
		want             error
		maxWait          time.Duration
		wantNoConnection bool
	}{
		{"right code", func(d time.Duration) httpapi.Status {
			if d < 2*time.Second {
				return newUnpairedStatus("other", keyID)
			}
			return connectedStatus
		}, nil, 3 * time.Second, false},
		{"wrong code", func(time.Duration) httpapi.Status { return newUnpairedStatus("other") }, ErrWrongCode, time.Second, false},
		{"a new code of the same browser", func(d time.Duration) httpapi.Status {
			if d < 2*time.Second {
				return statusWithEarlierTry()
			}
			return connectedStatus
		}, nil, 3 * time.Second, false},
		{"wrong code, and the side panel is opened later", func(d time.Duration) httpapi.Status {
			if d < 20*time.Second {
				return newUnpairedStatus()
			}
			return newUnpairedStatus("other")
		}, ErrWrongCode, 21 * time.Second, true},
		{"no browser", func(time.Duration) httpapi.Status { return newUnpairedStatus() }, ErrUnusedCode, time.Minute + time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				startedAt := time.Now()
				noConnectionCount := 0
				name, err := WaitForBrowser(t.Context(), timedStatusReader{startedAt, c.statusAfter}, testCode, time.Minute, func() { noConnectionCount++ })
				if !errors.Is(err, c.want) || err == nil && name != "Work" {
					t.Errorf("WaitForBrowser returned the browser %q, error %v; want the error %v", name, err, c.want)
				}
				if waitDuration := time.Since(startedAt); waitDuration > c.maxWait {
					t.Errorf("WaitForBrowser returned after %s, want at most %s", waitDuration, c.maxWait)
				}
				if hasNoConnection := noConnectionCount == 1; hasNoConnection != c.wantNoConnection {
					t.Errorf("WaitForBrowser called onNoConnection %d times; want one call = %t", noConnectionCount, c.wantNoConnection)
				}
			})
		})
	}
}
