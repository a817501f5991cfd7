package httpapi

import (
	"errors"
	"net/http"
	"testing"
)

// TestShutdownRoute checks that a server with a running call shuts down only with force.
func TestShutdownRoute(t *testing.T) {
	stopCount := 0
	f := startFixture(t, func(o *Options) { o.Stop = func() { stopCount++ } })
	client := NewClient(f.port, testToken)
	_, sink := f.call(t)
	err := client.Shutdown(t.Context(), false)
	var refusedError *RefusedError
	const want = "1 call is running or waiting, see `opentabs calls`: wait until the calls have ended, or end them with --force"
	if !errors.As(err, &refusedError) || refusedError.Status != http.StatusConflict || refusedError.Explanation != want || stopCount != 0 {
		t.Errorf("Shutdown with a running call returned %v after %d stops, want %q and no stop", err, stopCount, want)
	}
	if err := client.Shutdown(t.Context(), true); err != nil || stopCount != 1 {
		t.Errorf("Shutdown with force and a running call returned %v after %d stops, want one stop", err, stopCount)
	}
	sink.Finish([]byte(`{}`), nil)
	if err := client.Shutdown(t.Context(), false); err != nil || stopCount != 2 {
		t.Errorf("Shutdown without a running call returned %v after %d stops, want two stops", err, stopCount)
	}
}
