package httpapi

import (
	"context"
	"errors"
	"testing"

	"opentabs/wire"
)

// TestDevelopLastsAsLongAsItsRequest checks that development mode of a plugin lasts until
// the client's request ends, even if the client is killed.
func TestDevelopLastsAsLongAsItsRequest(t *testing.T) {
	f := startFixture(t)
	c := NewClient(f.port, testToken)
	for _, endRequest := range []struct {
		description string
		want        error
	}{{"the client goes", context.Canceled}, {"the server stops", ErrStreamEnded}} {
		ctx, cancel := context.WithCancel(context.Background())
		hasBegun, done := make(chan struct{}), make(chan error, 1)
		go func() {
			done <- c.Plugins.DevelopPlugin(ctx, "/plugins/../plugins/a", wire.PermissionAuto, func() { close(hasBegun) })
		}()
		<-hasBegun
		if got := <-f.developedDirs; got != "begin /plugins/a auto" {
			t.Errorf("%s: got %q; want %q", endRequest.description, got, "begin /plugins/a auto")
		}
		if endRequest.want == ErrStreamEnded {
			f.api.eventStreams.stop()
		} else {
			cancel()
		}
		if err := <-done; !errors.Is(err, endRequest.want) {
			t.Errorf("%s: got %v; want the error %v", endRequest.description, err, endRequest.want)
		}
		if got := <-f.developedDirs; got != "end /plugins/a" {
			t.Errorf("%s: got %q; want %q", endRequest.description, got, "end /plugins/a")
		}
		cancel()
	}
}

func TestDevelopRefuses(t *testing.T) {
	f := startFixture(t)
	for dir, permission := range map[string]wire.Permission{"": "auto", "plugins/a": "auto", "/plugins/a": "always"} {
		var refusedError *RefusedError
		err := NewClient(f.port, testToken).Plugins.DevelopPlugin(context.Background(), dir, permission, func() { t.Error("it began") })
		if !errors.As(err, &refusedError) || refusedError.Status != 400 {
			t.Errorf("%q: got %v", dir, err)
		}
	}
}
