package home

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"

	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/internal/portowner"
)

// Server is a running daemon that has responded to a health request.
type Server struct {
	httpapi.Health
	Port int
}

// String describes the daemon for the user, such as "opentabs 1.2.0, pid 4711".
func (s Server) String() string {
	return fmt.Sprintf("opentabs %s, pid %d", s.Version, s.PID)
}

// FindServer returns the running daemon of this installation. FindServer first tries the
// port in server.json, and then the configured port. FindServer accepts only a daemon that
// proves that it has the administrator token.
//
// The error of FindServer wraps httpapi.ErrNoServer if no daemon runs, and httpapi.ErrPortTaken
// if the port of the settings belongs to another program or installation. FindServer returns a
// [ServerTokenMismatchError] if the token of the running daemon differs from the token in the token file.
// FindServer returns a [config.TokenError] if a daemon runs and the user has no permission to read
// the token file. If the program that uses the port does not respond, the error of FindServer names
// this program.
func (h *Home) FindServer(ctx context.Context) (Server, error) {
	record, isRecorded := h.ReadServer()
	token, err := h.ExistingToken()
	var tokenErr *config.TokenError
	switch {
	case errors.As(err, &tokenErr):
		isRunning := isRecorded && isAlive(record.PID) && isListening(ctx, record.Port)
		switch {
		case !isRunning:
			return Server{}, httpapi.ErrNoServer // the next daemon repairs the token file
		case tokenErr.IsForbidden:
			return Server{}, err
		}
		return Server{}, &ServerTokenMismatchError{PID: record.PID, File: tokenErr.File, problemText: tokenErr.Problem}
	case err != nil:
		return Server{}, err
	}
	noServerErr := httpapi.ErrNoServer
	candidatePorts := []int{}
	if isRecorded {
		candidatePorts = append(candidatePorts, record.Port)
	}
	if configuredPort := h.Settings.Port; configuredPort != 0 && (len(candidatePorts) == 0 || candidatePorts[0] != configuredPort) {
		candidatePorts = append(candidatePorts, configuredPort)
	}
	for _, port := range candidatePorts {
		serverHealth, err := httpapi.NewClient(port, token).Health(ctx)
		switch {
		case err == nil && token != "":
			return Server{serverHealth, port}, nil
		case ctx.Err() != nil:
			return Server{}, fmt.Errorf("find the server: %w", errors.Join(ctx.Err(), err))
		case port == h.Settings.Port && (err == nil || errors.Is(err, httpapi.ErrPortTaken)):
			noServerErr = newPortInUseError(ctx, port)
			// If a foreign program uses a port that is only in server.json, a new server can still
			// start on the configured port.
			if isRecorded && port == record.Port && isServerProcess(ctx, record) {
				noServerErr = &ServerTokenMismatchError{PID: record.PID, File: h.TokenFile()}
			}
		case errors.Is(err, httpapi.ErrServerUnresponsive) && (port == h.Settings.Port || isAlive(record.PID)):
			noServerErr = newPortSilentError(ctx, port)
		}
	}
	return Server{}, noServerErr
}

func isListening(ctx context.Context, port int) bool {
	_, err := httpapi.NewClient(port, "").Health(ctx)
	return !errors.Is(err, httpapi.ErrNoServer)
}

// ServerTokenMismatchError is the error for a running daemon of this installation whose token differs from
// the token in the token file. For errors.Is, a ServerTokenMismatchError is also an
// [httpapi.ErrPortTaken].
type ServerTokenMismatchError struct {
	PID int
	// File is the path of the token file.
	File        string
	problemText string
}

func (e *ServerTokenMismatchError) Error() string {
	if e.problemText != "" {
		return fmt.Sprintf("the token file %s %s, so no command can reach the running server with pid %d", e.File, e.problemText, e.PID)
	}
	return fmt.Sprintf("the server with pid %d uses another token than %s, because the file was replaced or removed while the server ran", e.PID, e.File)
}

func (e *ServerTokenMismatchError) Unwrap() error { return httpapi.ErrPortTaken }

// ServerTokenMismatchRemedy is what the user should do after a [ServerTokenMismatchError]. Without the token,
// opentabs cannot check for running calls, so the user must pass --force to restart the daemon.
const ServerTokenMismatchRemedy = "put the earlier file back, or run `opentabs restart --force`, which ends running calls; then run `opentabs extension install` and reload the extension in Chrome"

// DamagedTokenRemedy is what the user does after a [config.TokenError].
const DamagedTokenRemedy = "run `opentabs doctor --fix`, which makes the file readable or creates a new token"

func isServerProcess(ctx context.Context, record config.Server) bool {
	return strings.HasSuffix(portowner.Find(ctx, record.Port), fmt.Sprintf(", pid %d", record.PID))
}

// On Windows, os.FindProcess fails for a missing process, and signal 0 is not supported.
func isAlive(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = process.Release() }()
	return runtime.GOOS == "windows" || process.Signal(syscall.Signal(0)) == nil
}

// portInUseError reports that a port is used by another program or installation.
// portInUseError wraps httpapi.ErrPortTaken.
type portInUseError struct {
	port  int
	owner string
}

func newPortInUseError(ctx context.Context, port int) error {
	return &portInUseError{port, portowner.Find(ctx, port)}
}

func (e *portInUseError) Error() string {
	return fmt.Sprintf("port %d is in use by %s, which is not the server of this installation", e.port, e.owner)
}

func (e *portInUseError) Unwrap() error { return httpapi.ErrPortTaken }

var errPortSilent = errors.New("which does not respond")

func newPortSilentError(ctx context.Context, port int) error {
	return fmt.Errorf("port %d is in use by %s, %w: if that is the opentabs server, end it with `opentabs stop --force`; if not, stop that program, or choose another port with OPENTABS_PORT", port, portowner.Find(ctx, port), errPortSilent)
}
