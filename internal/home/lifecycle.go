package home

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/internal/npm"
	"opentabs/internal/usererr"
	"opentabs/internal/version"
)

const stopTimeout = 10 * time.Second

// StopServer stops the running daemon, waits until the daemon has exited, and returns a
// description of this daemon. Without force, StopServer fails while calls run or wait.
// With force, StopServer kills a daemon that does not respond or whose token is not in
// the token file. If no daemon runs, StopServer returns httpapi.ErrNoServer.
func (h *Home) StopServer(ctx context.Context, force bool) (Server, error) {
	server, err := h.FindServer(ctx)
	if force && (errors.Is(err, errPortSilent) || errors.As(err, new(*ServerTokenMismatchError)) || errors.Is(err, config.ErrDamaged)) {
		return killDaemon(ctx, h, err)
	}
	if err != nil {
		return Server{}, err
	}
	return server, h.shutDownServer(ctx, server, force)
}

// If another program uses the port, killDaemon returns findErr, the error of FindServer.
func killDaemon(ctx context.Context, h *Home, findErr error) (Server, error) {
	record, isRecorded := h.ReadServer()
	if !isRecorded || !isServerProcess(ctx, record) {
		return Server{}, findErr
	}
	process, err := os.FindProcess(record.PID)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		return Server{}, fmt.Errorf("kill the opentabs server with pid %d: %w", record.PID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	for ctx.Err() == nil && isAlive(record.PID) {
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
		}
	}
	return Server{httpapi.Health{Version: record.Version, PID: record.PID}, record.Port}, h.RemoveServer(record.PID)
}

func (h *Home) shutDownServer(ctx context.Context, server Server, force bool) error {
	token, err := h.Token()
	if err != nil {
		return err
	}
	if err := httpapi.NewClient(server.Port, token).Shutdown(ctx, force); err != nil {
		var refusedError *httpapi.RefusedError
		if errors.As(err, &refusedError) && refusedError.Status == http.StatusNotFound {
			return usererr.Errorf("%s, is older than `opentabs stop`: stop it with `kill %d`", server, server.PID)
		}
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	for {
		switch now, err := h.FindServer(ctx); {
		case err != nil && ctx.Err() == nil, err == nil && now.PID != server.PID:
			waitForCleanup(ctx, h.Dirs, server)
			return nil
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return fmt.Errorf("%s, has accepted the request to stop but still runs: end it with `kill %d`", server, server.PID)
		}
	}
}

// The removal of server.json is a stopped daemon's last action, after writing records that the next daemon reads.
func waitForCleanup(ctx context.Context, dirs config.Dirs, stoppedServer Server) {
	for ctx.Err() == nil {
		if record, ok := dirs.ReadServer(); !ok || record.PID != stoppedServer.PID || !isAlive(stoppedServer.PID) {
			return
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
		}
	}
}

// StopOlderServer stops the running daemon if it has an older version and no call is
// running or waiting. If no daemon runs, StopOlderServer does nothing.
func (h *Home) StopOlderServer(ctx context.Context) {
	if !mayServerRun(ctx, h.Dirs, h.Settings.Port) {
		return
	}
	if server, err := h.FindServer(ctx); err == nil && h.stopOlderDaemon(ctx, server) {
		h.warn(fmt.Sprintf("%s, is stopped, because this is opentabs %s", server, version.Version))
	}
}

// mayServerRun returns false if no daemon is recorded and no program listens on port. A failed
// connection costs less time than a failed request.
func mayServerRun(ctx context.Context, dirs config.Dirs, port int) bool {
	if _, isRecorded := dirs.ReadServer(); isRecorded {
		return true
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// stopOlderDaemon warns the user at most once per process if an older daemon cannot be stopped.
func (h *Home) stopOlderDaemon(ctx context.Context, oldServer Server) bool {
	if npm.Compare(oldServer.Version, version.Version) >= 0 {
		return false
	}
	err := h.shutDownServer(ctx, oldServer, false)
	if err != nil {
		h.warnOnce.Do(func() {
			h.warn(fmt.Sprintf("the running server is %s, older than this opentabs %s: %v; then run `opentabs restart`", oldServer, version.Version, err))
		})
	}
	return err == nil
}

func (h *Home) replaceOlderDaemon(ctx context.Context, oldServer Server) (Server, error) {
	if !h.stopOlderDaemon(ctx, oldServer) {
		return oldServer, nil
	}
	if err := h.StartServer(ctx); err != nil {
		return Server{}, err
	}
	h.warn(fmt.Sprintf("%s, was replaced by opentabs %s; if Chrome reports an old extension, run `opentabs extension install`", oldServer, version.Version))
	return h.FindServer(ctx)
}
