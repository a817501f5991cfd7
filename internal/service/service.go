// Package service runs the server of opentabs as a service of the user: a systemd user
// unit on Linux, a launchd agent on macOS. The service starts when the user logs in.
//
// [New] returns the service of this system. Each service writes one file in the home
// directory, and calls systemctl or launchctl.
package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ErrUnsupported is the error of [New] on a system without services of users that opentabs
// supports.
var ErrUnsupported = errors.New("opentabs installs services only for systemd and launchd")

const (
	// commandTimeout limits a run of systemctl or launchctl.
	commandTimeout = time.Minute
	// outputDelay limits the wait for output after the command has ended: a service that the
	// command started may have inherited the output.
	outputDelay = time.Second
)

// Command is what the service runs.
type Command struct {
	// Path is the path of the program.
	Path string
	Args []string
	// Env has the environment variables beyond those of the user's session.
	Env map[string]string
	// LogFile receives the standard error of the program on systems without a journal.
	LogFile string
}

// Machine is where the service is installed.
type Machine struct {
	// OS is the operating system, as runtime.GOOS has it.
	OS string
	// Home is the home directory of the user.
	Home string
	// UserID is the number of the user.
	UserID int
	// Getenv is os.Getenv except in tests.
	Getenv func(string) string
}

// State is the state of a service.
type State struct {
	// File is the path of the unit or agent.
	File string `json:"file"`
	// IsInstalled is true if the file exists.
	IsInstalled bool `json:"installed"`
	// IsRunning is true if the service runs.
	IsRunning bool `json:"running"`
	// IsEnabled is true if the service starts when the user logs in.
	IsEnabled bool `json:"enabled"`
}

// system is the service manager of an operating system.
type system interface {
	// file is the path of the unit or agent.
	file() string
	// content is the unit or agent that runs a command.
	content(Command) []byte
	// enable starts the service now and at each login.
	enable(context.Context) error
	// start starts an enabled service.
	start(context.Context) error
	// disable stops the service, and does not start it again.
	disable(context.Context) error
	// removed is called after the file was removed.
	removed(context.Context) error
	// state returns whether the service runs and is enabled.
	state(context.Context) (isRunning, isEnabled bool)
}

// Manager installs and removes the service.
type Manager struct{ system system }

// New returns the manager of the service on a machine. The error is [ErrUnsupported] if
// the system has no service manager that opentabs supports.
func New(m Machine) (Manager, error) {
	switch m.OS {
	case "linux":
		if _, err := exec.LookPath("systemctl"); err != nil {
			return Manager{}, fmt.Errorf("%w, and this machine has no systemctl", ErrUnsupported)
		}
		return Manager{systemd{m}}, nil
	case "darwin":
		return Manager{launchd{m}}, nil
	}
	return Manager{}, fmt.Errorf("%w, and this system is %s", ErrUnsupported, m.OS)
}

// File returns the path of the unit or agent.
func (m Manager) File() string { return m.system.file() }

// IsInstalled reports whether the service is installed.
func (m Manager) IsInstalled() bool {
	_, err := os.Stat(m.system.file())
	return err == nil
}

// Install writes the service and starts it. A service that runs already is restarted with
// the new command. If the service cannot start, a new installation is removed again.
func (m Manager) Install(ctx context.Context, c Command) error {
	file := m.system.file()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	wasInstalled := m.IsInstalled()
	if wasInstalled {
		if err := m.system.disable(ctx); err != nil {
			return err
		}
	}
	if err := os.WriteFile(file, m.system.content(c), 0o600); err != nil {
		return err
	}
	err := m.system.enable(ctx)
	if err != nil && !wasInstalled {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// Start starts the installed service.
func (m Manager) Start(ctx context.Context) error { return m.system.start(ctx) }

// Uninstall stops the service and removes it. The file is removed even if the service does
// not stop.
func (m Manager) Uninstall(ctx context.Context) error {
	stopErr := m.system.disable(ctx)
	err := os.Remove(m.system.file())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(stopErr, err, m.system.removed(ctx))
}

// State returns the state of the service.
func (m Manager) State(ctx context.Context) State {
	s := State{File: m.system.file(), IsInstalled: m.IsInstalled()}
	if s.IsInstalled {
		s.IsRunning, s.IsEnabled = m.system.state(ctx)
	}
	return s
}

// runCommand runs a program, and returns its output as the error if it fails.
func runCommand(ctx context.Context, name string, args ...string) error {
	_, err := outputOf(ctx, name, args...)
	return err
}

// outputOf runs a program and returns its output.
func outputOf(ctx context.Context, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = outputDelay
	output, err := cmd.CombinedOutput()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(output)))
	}
	return output, nil
}
