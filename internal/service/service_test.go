package service

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const fakeLaunchctl = `#!/bin/sh
echo "$*" >> "$FAKE_DIR/calls"
case "$1" in
  bootstrap) touch "$FAKE_DIR/loaded" ;;
  bootout) rm "$FAKE_DIR/loaded" ;;
  print) test -e "$FAKE_DIR/loaded" && echo "	state = running" ;;
esac
`

func newMacMachine(t *testing.T) (Machine, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "launchctl"), []byte(fakeLaunchctl), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("FAKE_DIR", dir)
	return Machine{OS: "darwin", Home: filepath.Join(dir, "home"), UserID: 501, Getenv: os.Getenv}, dir
}

func TestLaunchdAgent(t *testing.T) {
	machine, dir := newMacMachine(t)
	m, err := New(machine)
	if err != nil {
		t.Fatal(err)
	}
	if s := m.State(t.Context()); s.IsInstalled || s.IsRunning || s.IsEnabled {
		t.Errorf("state of the service before the installation = %+v, want not installed", s)
	}
	command := Command{Path: "/Users/a & b/opentabs", Args: []string{"serve"}, Env: map[string]string{"OPENTABS_HOME": "<home>"}, LogFile: "/log"}
	for range 2 {
		if err := m.Install(t.Context(), command); err != nil {
			t.Fatal(err)
		}
	}
	plist, err := os.ReadFile(filepath.Join(machine.Home, "Library", "LaunchAgents", "opentabs.server.plist"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<string>/Users/a &amp; b/opentabs</string>", "<string>serve</string>", "<key>OPENTABS_HOME</key>\n    <string>&lt;home&gt;</string>",
		"<key>RunAtLoad</key>\n  <true/>", "<key>StandardErrorPath</key>\n  <string>/log</string>",
	} {
		if !strings.Contains(string(plist), want) {
			t.Errorf("the launchd agent does not contain %q:\n%s", want, plist)
		}
	}
	if s := m.State(t.Context()); !s.IsInstalled || !s.IsRunning || !s.IsEnabled {
		t.Errorf("state of the service after the installation = %+v, want installed, running and enabled", s)
	}
	for range 2 {
		if err := m.Uninstall(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if m.IsInstalled() {
		t.Error("IsInstalled after Uninstall = true, want false")
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	wantPrefix := "bootstrap gui/501 " + m.File() + "\nprint gui/501/opentabs.server\nbootout gui/501/opentabs.server\nbootstrap gui/501"
	if !strings.HasPrefix(string(calls), wantPrefix) {
		t.Errorf("arguments of launchctl =\n%swant first\n%s", calls, wantPrefix)
	}
}

func TestUnitFileQuotesWords(t *testing.T) {
	s := systemd{Machine{Home: "/home/a", Getenv: func(string) string { return "" }}}
	unit := string(s.content(Command{Path: `/opt/a "b" $c %d/opentabs`, Args: []string{"serve"}, Env: map[string]string{"A": "$x %y"}}))
	for _, want := range []string{`ExecStart="/opt/a \"b\" $$c %%d/opentabs" "serve"` + "\n", `Environment="A=$x %%y"` + "\n"} {
		if !strings.Contains(unit, want) {
			t.Errorf("the systemd unit does not contain %q:\n%s", want, unit)
		}
	}
	if got := s.file(); got != "/home/a/.config/systemd/user/opentabs.service" {
		t.Errorf("path of the systemd unit = %s, want opentabs.service in the systemd folder of the user", got)
	}
}

func TestUnsupportedSystems(t *testing.T) {
	if _, err := New(Machine{OS: "windows", Getenv: os.Getenv}); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "windows") {
		t.Errorf("New on Windows returned %v, want ErrUnsupported with the name of the operating system", err)
	}
}
