package httpapi

import (
	"context"
	"errors"
	"testing"

	"opentabs/wire"
)

// TestDevelopmentEndsWithRequest checks that development mode of a plugin lasts until
// the client's request ends, even if the client is killed.
func TestDevelopmentEndsWithRequest(t *testing.T) {
	f := startFixture(t)
	c := NewClient(f.port, testToken)
	for _, endRequest := range []struct {
		description string
		want        error
	}{{"the client disconnects", context.Canceled}, {"the server stops", ErrStreamEnded}} {
		ctx, cancel := context.WithCancel(context.Background())
		developmentStarted, done := make(chan struct{}), make(chan error, 1)
		go func() {
			done <- c.Plugins.DevelopPlugin(ctx, "/plugins/../plugins/a", wire.PermissionAuto, func() { close(developmentStarted) })
		}()
		<-developmentStarted
		if got := <-f.developedDirs; got != "begin /plugins/a auto" {
			t.Errorf("%s: development mode received %q; want %q", endRequest.description, got, "begin /plugins/a auto")
		}
		if endRequest.want == ErrStreamEnded {
			f.api.eventStreams.stop()
		} else {
			cancel()
		}
		if err := <-done; !errors.Is(err, endRequest.want) {
			t.Errorf("%s: DevelopPlugin returned the error %v; want %v", endRequest.description, err, endRequest.want)
		}
		if got := <-f.developedDirs; got != "end /plugins/a" {
			t.Errorf("%s: development mode received %q; want %q", endRequest.description, got, "end /plugins/a")
		}
		cancel()
	}
}

func TestDevelopmentRejectsInvalidRequests(t *testing.T) {
	f := startFixture(t)
	for dir, permission := range map[string]wire.Permission{"": "auto", "plugins/a": "auto", "/plugins/a": "always"} {
		var refusedError *RefusedError
		err := NewClient(f.port, testToken).Plugins.DevelopPlugin(context.Background(), dir, permission, func() { t.Error("development mode began for an invalid request") })
		if !errors.As(err, &refusedError) || refusedError.Status != 400 {
			t.Errorf("DevelopPlugin for the directory %q and the permission %q: error %v; want status 400", dir, permission, err)
		}
	}
}
