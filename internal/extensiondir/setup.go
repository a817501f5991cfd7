package extensiondir

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/usererr"
)

// Options are the user's choices for [Setup].
type Options struct {
	// Dir is the directory for the extension. The default is the directory of the previous
	// installation. Without a previous installation, the default is the directory that
	// [DefaultDir] describes.
	Dir string
	// Debugger is whether the extension has Chrome's debugger permission; default: KeepDebuggerChoice.
	Debugger DebuggerChoice
}

// visibleDir has no leading dot, because file dialogs hide directories whose names begin with a dot.
const visibleDir = "opentabs-extension"

// DefaultDir describes the directory of the first installation for help texts.
const DefaultDir = "~/" + visibleDir + ", or with OPENTABS_HOME and on Windows, the folder extension in the state directory"

// chooseInstallDir keeps the directory of an earlier installation, because Chrome loads the extension from there.
func chooseInstallDir(h *home.Home) string {
	if dir, ok := RecordedInstallDir(h.Dirs); ok {
		return dir
	}
	dir, isInstalled := Find(h.Dirs)
	machineHome := h.Getenv("HOME")
	if isInstalled || h.Getenv(config.HomeVariable) != "" || machineHome == "" || runtime.GOOS == "windows" {
		return dir
	}
	return filepath.Join(machineHome, visibleDir)
}

// Setup writes the extension for an opentabs installation, and returns the extension's
// directory. If a daemon runs, Setup makes the daemon reload its plugins, so that it
// writes their adapters to the new directory. Setup passes warnings for the user to
// notef.
func Setup(ctx context.Context, h *home.Home, o Options, notef func(format string, args ...any)) (string, error) {
	server, serverErr := h.FindServer(ctx)
	if errors.As(serverErr, new(*home.ServerTokenMismatchError)) {
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
		folder = chooseInstallDir(h)
	}
	// Prefer the port of the running daemon: it may differ from the port in the settings.
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
	if errors.Is(err, errFolderOccupied) {
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
