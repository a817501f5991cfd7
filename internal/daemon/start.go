package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/portowner"
	"opentabs/internal/version"
)

// StartedDaemon is a daemon whose port is open.
type StartedDaemon struct {
	*Daemon
	home     *home.Home
	listener net.Listener
	// recordErr receives the result of writing the daemon's PID and port to the state
	// directory.
	recordErr chan error
}

// Start opens the configured port, creates the daemon, and begins to write the daemon's PID
// and port to the state directory. A lock allows only one process at a time to start a
// daemon, so a second process finds the daemon that the first process started.
func Start(ctx context.Context, h *home.Home, log zerolog.Logger) (*StartedDaemon, error) {
	unlock, err := h.LockStart()
	switch {
	case home.IsWriteFailure(err) && h.Settings.Port != 0: // without a writable state directory, only the port prevents a second daemon
		log.Warn().Err(err).Msg("the state directory cannot be written; the server runs, but changes are not stored")
		unlock = func() {}
	case err != nil:
		return nil, err
	}
	token, listener, err := openPort(ctx, h, log)
	if err != nil {
		unlock()
		return nil, err
	}
	s := &StartedDaemon{home: h, listener: listener, recordErr: make(chan error, 1)}
	// The daemon serves requests while its record is written, because a busy disk can take
	// many milliseconds to store a file.
	go func() {
		defer unlock()
		err := h.WriteServer(config.Server{PID: os.Getpid(), Port: s.Port(), Version: version.Version, Started: time.Now().UTC()})
		if home.IsWriteFailure(err) && h.Settings.Port != 0 { // clients find the daemon by the configured port
			log.Warn().Err(err).Msg("the server's record could not be written")
			err = nil
		}
		s.recordErr <- err
	}()
	s.Daemon = newDaemon(h, token, listener.Addr().String(), log)
	return s, nil
}

// openPort repairs the state directory and opens the port. The caller of openPort must have
// acquired the start lock.
func openPort(ctx context.Context, h *home.Home, log zerolog.Logger) (token string, listener net.Listener, err error) {
	warnings, err := h.RepairStateDir()
	if err != nil {
		return "", nil, err
	}
	for _, w := range warnings {
		log.Error().Msg(w)
	}
	if token, err = h.Token(); err != nil {
		return "", nil, err
	}
	if record, ok := h.ReadServer(); ok {
		serverHealth, err := httpapi.NewClient(record.Port, token).Health(ctx)
		if err == nil && serverHealth.PID == record.PID {
			return "", nil, newAlreadyServingError(home.Server{Health: serverHealth, Port: record.Port})
		}
	}
	listener, err = listenLoopback(ctx, h.Settings.Port, token)
	return token, listener, err
}

// Port returns the TCP port on which the daemon listens.
func (s *StartedDaemon) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// Address returns the host and port on which the daemon listens, such as
// "127.0.0.1:9527".
func (s *StartedDaemon) Address() string { return s.listener.Addr().String() }

// Serve runs the daemon until ctx ends or the daemon's record cannot be written, and then
// removes the daemon's PID and port from the state directory.
func (s *StartedDaemon) Serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	recordErr := make(chan error, 1)
	go func() {
		err := <-s.recordErr
		if err != nil {
			stop()
		}
		recordErr <- err
	}()
	err := s.Daemon.Serve(ctx, s.listener)
	return errors.Join(<-recordErr, err, s.home.RemoveServer(os.Getpid()))
}

// If the port is in use, the error of listenLoopback names the program that uses the port.
func listenLoopback(ctx context.Context, port int, token string) (net.Listener, error) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		return listener, nil
	}
	serverHealth, probeErr := httpapi.NewClient(port, token).Health(ctx)
	switch {
	case probeErr == nil:
		return nil, newAlreadyServingError(home.Server{Health: serverHealth, Port: port})
	case port == 0 || errors.Is(probeErr, httpapi.ErrNoServer) && !errors.Is(err, portowner.ErrPortTaken):
		return nil, fmt.Errorf("open the port: %w", err)
	}
	return nil, fmt.Errorf("port %d is in use by %s: stop that program, or choose another port with --port and run opentabs extension install again", port, portowner.Find(ctx, port))
}

func newAlreadyServingError(s home.Server) error {
	return fmt.Errorf("%s, is already serving on port %d: use that one, stop it with `opentabs stop`, or choose another port with --port and another directory with OPENTABS_HOME", s, s.Port)
}
