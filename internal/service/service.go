// Package service runs the opentabs server as a service of the user: a systemd user unit
// on Linux, or a launchd agent on macOS. The service starts when the user logs in.
//
// [New] returns the manager of the service. A manager writes one file in the home
// directory, and runs systemctl or launchctl.
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

// ErrUnsupported is the error of [New] on an operating system whose service manager
// opentabs does not support.
var ErrUnsupported = errors.New("opentabs installs services only for systemd and launchd")

const (
	// commandTimeout limits how long systemctl or launchctl may run.
	commandTimeout = time.Minute
	// outputDelay limits how long runCommand waits for output after the command has
	// exited. A service that the command started may have inherited the output stream.
	outputDelay = time.Second
)

// Command is the command that the service runs.
type Command struct {
	// Path is the path of the program that the service runs.
	Path string
	Args []string
	// Env has the environment variables that the service sets in addition to those of the
	// user's session.
	Env map[string]string
	// LogFile is the file that receives the program's standard error on systems without a
	// journal.
	LogFile string
}

// Machine describes the computer on which the service is installed.
type Machine struct {
	// OS is the name of the operating system, in the form of runtime.GOOS.
	OS string
	// Home is the user's home directory.
	Home string
	// UserID is the numeric ID of the user.
	UserID int
	// Getenv is os.Getenv except in tests.
	Getenv func(string) string
}

// State is the state of the installed service.
type State struct {
	// File is the path of the systemd unit or launchd agent.
	File string `json:"file"`
	// IsInstalled is true if the file of the service exists.
	IsInstalled bool `json:"installed"`
	// IsRunning is true if the service is running.
	IsRunning bool `json:"running"`
	// IsEnabled is true if the service starts when the user logs in.
	IsEnabled bool `json:"enabled"`
}

// system has the functions of an operating system's service manager.
type system interface {
	// file returns the path of the systemd unit or launchd agent.
	file() string
	// content returns the systemd unit or launchd agent that runs a command.
	content(Command) []byte
	// check returns an error if the service manager does not answer, for example because
	// the user has no login session.
	check(context.Context) error
	// enable starts the service now, and makes the system start the service at each
	// login.
	enable(context.Context) error
	// start starts an enabled service.
	start(context.Context) error
	// disable stops the service, and prevents that the system starts the service at the
	// next login.
	disable(context.Context) error
	// removed runs after the file of the service was removed.
	removed(context.Context) error
	// state returns whether the service is running and whether the service is enabled.
	state(context.Context) (isRunning, isEnabled bool)
}

// Manager installs and removes the opentabs service.
type Manager struct{ system system }

// New returns a manager of the opentabs service on a machine. The error is
// [ErrUnsupported] if opentabs does not support the machine's service manager.
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

// File returns the path of the systemd unit or launchd agent.
func (m Manager) File() string { return m.system.file() }

// IsInstalled reports whether the opentabs service is installed.
func (m Manager) IsInstalled() bool {
	_, err := os.Stat(m.system.file())
	return err == nil
}

// Check returns an error if the service manager of this machine cannot run services of
// the user. Check changes nothing.
func (m Manager) Check(ctx context.Context) error { return m.system.check(ctx) }

// Install installs the service and starts the service. Install restarts a running service
// with the new command. If a new service cannot start, Install removes the service again.
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

// Uninstall stops and removes the service. Uninstall removes the file of the service even
// if the service does not stop.
func (m Manager) Uninstall(ctx context.Context) error {
	stopErr := m.system.disable(ctx)
	err := os.Remove(m.system.file())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(stopErr, err, m.system.removed(ctx))
}

// State returns the state of the opentabs service.
func (m Manager) State(ctx context.Context) State {
	s := State{File: m.system.file(), IsInstalled: m.IsInstalled()}
	if s.IsInstalled {
		s.IsRunning, s.IsEnabled = m.system.state(ctx)
	}
	return s
}

// runCommand runs a program. If the program fails, runCommand returns an error with the
// program's output.
func runCommand(ctx context.Context, name string, args ...string) error {
	_, err := runForOutput(ctx, name, args...)
	return err
}

// runForOutput runs a program and returns the program's output.
func runForOutput(ctx context.Context, name string, args ...string) ([]byte, error) {
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
