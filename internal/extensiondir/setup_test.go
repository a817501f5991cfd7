package extensiondir

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/usererr"
)

func newHome(t *testing.T, port int) *home.Home {
	t.Helper()
	dir := t.TempDir()
	return home.New(config.Dirs{Config: dir, State: dir}, config.Settings{Port: port}, func(string) string { return "" }, func(sentence string) { t.Log(sentence) })
}

func TestSetup(t *testing.T) {
	h := newHome(t, 9)
	folder, err := Setup(t.Context(), h, Options{}, t.Logf)
	if err != nil || folder != h.ExtensionDir() {
		t.Fatalf("%s, %v", folder, err)
	}
	token, err := h.Token()
	if c, readErr := ReadConnection(folder); err != nil || readErr != nil || c.Port != 9 || c.Key != config.BrowserKey(token) {
		t.Errorf("%+v, %v, %v", c, err, readErr)
	}
	t.Chdir(t.TempDir())
	ownFolder, err := Setup(t.Context(), h, Options{Dir: "mine"}, t.Logf)
	if foundFolder, ok := Find(h.Dirs); err != nil || !filepath.IsAbs(ownFolder) || filepath.Base(ownFolder) != "mine" || !ok || foundFolder != ownFolder {
		t.Errorf("%s, %v, found %s", ownFolder, err, foundFolder)
	}
}

// TestDefaultDir checks that the first installation is in a visible folder, and that later
// installations use the same path, even if the user has deleted the folder.
func TestDefaultDir(t *testing.T) {
	h, userHome := newHome(t, 9), t.TempDir()
	variables := map[string]string{"HOME": userHome}
	h.Getenv = func(name string) string { return variables[name] }
	visible, other := filepath.Join(userHome, "opentabs-extension"), filepath.Join(userHome, "other")
	setUp := func(dir, want string) {
		t.Helper()
		if folder, err := Setup(t.Context(), h, Options{Dir: dir}, t.Logf); err != nil || folder != want {
			t.Errorf("the folder for --dir %q is %s, %v, want %s", dir, folder, err, want)
		}
	}
	if runtime.GOOS == "windows" { // on Windows, the default folder is not hidden
		visible = h.ExtensionDir()
	}
	setUp("", visible)
	setUp(other, other)
	setUp("", other)
	if err := os.RemoveAll(other); err != nil {
		t.Fatal(err)
	}
	setUp("", other)
	h.Dirs = config.Dirs{Config: userHome, State: filepath.Join(userHome, "state")}
	variables[config.HomeVariable] = h.State
	if _, err := h.Make(); err != nil {
		t.Fatal(err)
	}
	setUp("", h.ExtensionDir())
}

func TestSetupRefuses(t *testing.T) {
	occupied := t.TempDir()
	if err := os.WriteFile(filepath.Join(occupied, "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]struct {
		port int
		dir  string
	}{"the port is 0": {0, ""}, "contains files that are not part of an opentabs extension": {9, occupied}} {
		var userErr *usererr.Error
		if _, err := Setup(t.Context(), newHome(t, c.port), Options{Dir: c.dir}, t.Logf); !errors.As(err, &userErr) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestSetupKeepsTheDebugger(t *testing.T) {
	h := newHome(t, 9)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	for i, step := range []struct {
		options Options
		want    bool
	}{
		{Options{}, false},
		{Options{Debugger: WithDebugger}, true},
		{Options{}, true},
		{Options{Dir: elsewhere}, true},
		{Options{Debugger: WithoutDebugger}, false},
		{Options{}, false},
	} {
		folder, err := Setup(t.Context(), h, step.options, t.Logf)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
		var manifest struct {
			Permissions []string `json:"permissions"`
			Optional    []string `json:"optional_permissions"`
		}
		if err := errors.Join(err, json.Unmarshal(text, &manifest)); err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(manifest.Permissions, "debugger"); got != step.want || HasDebugger(h.Dirs) != step.want || !slices.Contains(manifest.Permissions, "scripting") || slices.Contains(manifest.Optional, "debugger") {
			t.Errorf("step %d: permissions %q, record %v; want the debugger: %v", i, manifest.Permissions, HasDebugger(h.Dirs), step.want)
		}
	}
}
