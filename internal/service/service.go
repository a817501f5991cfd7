// Package service runs the opentabs server as a service that starts when the user logs in. On
// Linux, the service is a systemd user unit. On macOS, the service is a launchd agent.
//
// [New] returns a [Manager], which writes one file in the home directory and runs
// systemctl or launchctl.
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

// ErrUnsupported reports that opentabs does not support the operating system's service
// manager.
var ErrUnsupported = errors.New("opentabs installs services only for systemd and launchd")

const (
	commandTimeout = time.Minute
	// outputDelay limits the wait for output after the command's exit: a service that the command has started may keep
	// the output open.
	outputDelay = time.Second
)

// Command is the command that the service runs.
type Command struct {
	// Path is the path of the executable.
	Path string
	Args []string
	// Env has environment variables for the service, in addition to those of the user's
	// session.
	Env map[string]string
	// LogFile is the file to which the command's standard error is written on macOS. On
	// Linux, the service's standard error goes to the systemd journal.
	LogFile string
}

// Machine describes the computer on which the service is installed.
type Machine struct {
	// OS is the operating system as in runtime.GOOS, such as "darwin".
	OS string
	// Home is the user's home directory.
	Home string
	// UserID is the numeric ID of the user, as in os.Getuid.
	UserID int
	// Getenv is os.Getenv, except in tests.
	Getenv func(string) string
}

// State is the state of the opentabs service.
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

// The type system is the service manager of an operating system.
type system interface {
	file() string
	content(Command) []byte
	// checkAvailable returns an error if the service manager does not respond, for example because
	// the user has no login session.
	checkAvailable(context.Context) error
	enable(context.Context) error
	start(context.Context) error
	disable(context.Context) error
	reloadAfterRemoval(context.Context) error
	state(context.Context) (isRunning, isEnabled bool)
}

// Manager installs, starts and removes the opentabs service.
type Manager struct{ system system }

// New returns a manager of the opentabs service. If opentabs does not support the
// machine's service manager, the error is [ErrUnsupported].
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

// Check returns an error if the machine's service manager cannot run services of the
// user. Check changes nothing.
func (m Manager) Check(ctx context.Context) error { return m.system.checkAvailable(ctx) }

// Install installs the service and starts it. If the service is already running, Install
// restarts the service with the new command. If a new service cannot start, Install
// removes the service again.
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

// Start starts the service, which must be installed.
func (m Manager) Start(ctx context.Context) error { return m.system.start(ctx) }

// Uninstall stops and removes the service. Uninstall removes the service's unit file or
// launchd file even if the service cannot be stopped.
func (m Manager) Uninstall(ctx context.Context) error {
	stopErr := m.system.disable(ctx)
	err := os.Remove(m.system.file())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(stopErr, err, m.system.reloadAfterRemoval(ctx))
}

// State returns whether the opentabs service is installed, running and enabled.
func (m Manager) State(ctx context.Context) State {
	s := State{File: m.system.file(), IsInstalled: m.IsInstalled()}
	if s.IsInstalled {
		s.IsRunning, s.IsEnabled = m.system.state(ctx)
	}
	return s
}

func runCommand(ctx context.Context, name string, args ...string) error {
	_, err := runForOutput(ctx, name, args...)
	return err
}

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
