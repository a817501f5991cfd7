package paircmd

import (
	"context"
	"errors"
	"slices"
	"time"

	"opentabs/internal/httpapi"
	"opentabs/wire"
)

const (
	pollInterval = 300 * time.Millisecond
	// noConnectionTimeout is how long WaitForBrowser waits for the first connection attempt of an
	// unpaired browser, before it reports that no browser reaches the server.
	noConnectionTimeout = 10 * time.Second
)

var (
	// ErrWrongCode is the error for a code that differs from the codes of all browsers that
	// try to connect.
	ErrWrongCode = errors.New("the browser shows another code")
	// ErrUnusedCode is the error for a code that no browser has used in time.
	ErrUnusedCode = errors.New("no browser has used the code")
)

// statusReader returns the status of the server, as [httpapi.Client] does.
type statusReader interface {
	Status(ctx context.Context) (httpapi.Status, error)
}

// WaitForBrowser waits for a connection from the browser that shows the given pairing code,
// and returns the browser's name. The caller must store the pairing code before it calls WaitForBrowser.
// WaitForBrowser returns [ErrWrongCode] as soon as only browsers that show other codes try to
// connect, and [ErrUnusedCode] after the timeout. WaitForBrowser calls onNoConnection once if no
// unpaired browser reaches the server; a nil onNoConnection is not called.
func WaitForBrowser(ctx context.Context, server statusReader, code string, timeout time.Duration, onNoConnection func()) (string, error) {
	keyID := wire.KeyID(wire.PairingKey(code))
	startedAt := time.Now()
	hasSeenBrowser := false
	for {
		serverStatus, err := server.Status(ctx)
		if err != nil {
			return "", err
		}
		isPaired := func(b httpapi.Browser) bool { return b.Connected && b.PairingKeyID == keyID }
		if i := slices.IndexFunc(serverStatus.Browsers, isPaired); i >= 0 {
			return serverStatus.Browsers[i].Name, nil
		}
		hasSeenBrowser = hasSeenBrowser || len(serverStatus.UnpairedBrowsers) > 0
		switch waitDuration := time.Since(startedAt); {
		case showsOtherCode(serverStatus.UnpairedBrowsers, keyID, startedAt):
			return "", ErrWrongCode
		case waitDuration > timeout:
			return "", ErrUnusedCode
		case waitDuration > noConnectionTimeout && !hasSeenBrowser && onNoConnection != nil:
			onNoConnection()
			onNoConnection = nil
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// showsOtherCode ignores attempts before `since`, because the browser may have displayed a new code since then.
func showsOtherCode(unpairedBrowsers []httpapi.UnpairedBrowser, keyID string, since time.Time) bool {
	hasOtherCode := false
	for _, b := range unpairedBrowsers {
		if b.KeyID == keyID {
			return false
		}
		hasOtherCode = hasOtherCode || b.LastAttemptAt.After(since)
	}
	return hasOtherCode
}
