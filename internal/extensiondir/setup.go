package extensiondir

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/usererr"
)

// Options are the user's choices for [Setup].
type Options struct {
	// Dir is the directory for the extension. By default, the extension is written to a
	// directory in the state directory.
	Dir string
	// Debugger is whether the extension has Chrome's debugger permission. The default is
	// KeepDebugger.
	Debugger DebuggerChoice
}

// Setup writes the extension for an opentabs installation, and returns the extension's
// directory. If a daemon runs, Setup makes the daemon reload its plugins, so that it
// writes their adapters to the new directory. Setup passes warnings for the user to
// notef.
func Setup(ctx context.Context, h *home.Home, o Options, notef func(format string, args ...any)) (string, error) {
	server, serverErr := h.FindServer(ctx)
	if errors.As(serverErr, new(*home.OtherTokenError)) {
		return "", serverErr
	}
	token, err := h.Token()
	if err != nil {
		return "", err
	}
	folder, err := filepath.Abs(o.Dir)
	if err != nil {
		return "", fmt.Errorf("find --dir %s: %w", o.Dir, err)
	}
	if o.Dir == "" {
		folder = h.ExtensionDir()
	}
	// The port of a running daemon may differ from the port in the settings.
	port := h.Settings.Port
	if serverErr == nil {
		port = server.Port
	}
	if port == 0 {
		return "", usererr.Errorf("the port is 0, so the extension has no port to connect to: set a port, or start the server first")
	}
	warnings, err := Install(h.Dirs, folder, Connection{Port: port, Key: config.BrowserKey(token)}, o.Debugger)
	for _, w := range warnings {
		notef("%s", w)
	}
	if errors.Is(err, errOccupied) {
		return "", usererr.Errorf("%s contains files that are not part of an opentabs extension: name an empty or a new folder with --dir", folder)
	}
	if err != nil {
		return "", err
	}
	if serverErr == nil {
		if err := httpapi.NewClient(server.Port, token).Plugins.Reload(ctx); err != nil {
			return "", fmt.Errorf("reload the server (pid %d): %w", server.PID, err)
		}
	}
	return folder, nil
}
