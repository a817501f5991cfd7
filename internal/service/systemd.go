package service

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

const unitName = "opentabs.service"

// The type systemd manages the opentabs service as a systemd user unit.
type systemd struct{ machine Machine }

func (s systemd) file() string {
	dir := s.machine.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.machine.Home, ".config")
	}
	return filepath.Join(dir, "systemd", "user", unitName)
}

func (s systemd) content(c Command) []byte {
	var unit bytes.Buffer
	fmt.Fprintf(&unit, "# Written by `opentabs service install`.\n[Unit]\nDescription=opentabs server\n\n[Service]\n")
	words := []string{quoteSystemdWord(c.Path)}
	for _, arg := range c.Args {
		words = append(words, quoteSystemdWord(arg))
	}
	// systemd replaces variables in commands, so dollar signs are escaped.
	fmt.Fprintf(&unit, "ExecStart=%s\n", strings.ReplaceAll(strings.Join(words, " "), "$", "$$"))
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		fmt.Fprintf(&unit, "Environment=%s\n", quoteSystemdWord(name+"="+c.Env[name]))
	}
	// After `opentabs stop`, the server exits with code 0, and systemd does not restart
	// the server. If another server uses the port, systemd retries every 5 s.
	fmt.Fprintf(&unit, "Restart=on-failure\nRestartSec=5\n\n[Install]\nWantedBy=default.target\n")
	return unit.Bytes()
}

// quoteSystemdWord escapes specifiers such as %h, because systemd replaces them even within quotation marks.
func quoteSystemdWord(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "%", "%%").Replace(word) + `"`
}

func (s systemd) checkAvailable(ctx context.Context) error {
	return runCommand(ctx, "systemctl", "--user", "show-environment")
}

func (s systemd) enable(ctx context.Context) error {
	if err := runCommand(ctx, "systemctl", "--user", "daemon-reload"); err != nil {
		return err
	}
	return runCommand(ctx, "systemctl", "--user", "enable", "--now", unitName)
}

func (s systemd) start(ctx context.Context) error {
	return runCommand(ctx, "systemctl", "--user", "start", unitName)
}

func (s systemd) disable(ctx context.Context) error {
	return runCommand(ctx, "systemctl", "--user", "disable", "--now", unitName)
}

func (s systemd) reloadAfterRemoval(ctx context.Context) error {
	return runCommand(ctx, "systemctl", "--user", "daemon-reload")
}

func (s systemd) state(ctx context.Context) (isRunning, isEnabled bool) {
	isRunning = runCommand(ctx, "systemctl", "--user", "is-active", unitName) == nil
	isEnabled = runCommand(ctx, "systemctl", "--user", "is-enabled", unitName) == nil
	return isRunning, isEnabled
}
