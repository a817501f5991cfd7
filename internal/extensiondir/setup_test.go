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
	return home.New(config.Dirs{Config: dir, State: dir}, config.Settings{Port: port}, func(string) string { return "" }, func(warning string) { t.Log(warning) })
}

func TestSetup(t *testing.T) {
	h := newHome(t, 9)
	folder, err := Setup(t.Context(), h, Options{}, t.Logf)
	if err != nil || folder != h.ExtensionDir() {
		t.Fatalf("Setup wrote the extension to %s, error %v; want the folder %s", folder, err, h.ExtensionDir())
	}
	token, err := h.Token()
	if c, readErr := ReadConnection(folder); err != nil || readErr != nil || c.Port != 9 || c.Key != config.BrowserKey(token) {
		t.Errorf("connection file = %+v, error of Token %v, error of ReadConnection %v; want port 9 and the browser key", c, err, readErr)
	}
	t.Chdir(t.TempDir())
	chosenFolder, err := Setup(t.Context(), h, Options{Dir: "mine"}, t.Logf)
	if foundFolder, ok := Find(h.Dirs); err != nil || !filepath.IsAbs(chosenFolder) || filepath.Base(chosenFolder) != "mine" || !ok || foundFolder != chosenFolder {
		t.Errorf("Setup with --dir mine wrote to %s, error %v; Find returned %s; want the same absolute path", chosenFolder, err, foundFolder)
	}
}

// TestDefaultDir checks that the first installation is in a visible folder, and that later
// installations use the same path, even if the user has deleted the folder.
func TestDefaultDir(t *testing.T) {
	h, userHome := newHome(t, 9), t.TempDir()
	variables := map[string]string{"HOME": userHome}
	h.Getenv = func(name string) string { return variables[name] }
	visibleDir, hiddenDir := filepath.Join(userHome, "opentabs-extension"), filepath.Join(userHome, "other")
	checkSetup := func(dir, want string) {
		t.Helper()
		if folder, err := Setup(t.Context(), h, Options{Dir: dir}, t.Logf); err != nil || folder != want {
			t.Errorf("extension folder for --dir %q = %s, error %v; want %s", dir, folder, err, want)
		}
	}
	if runtime.GOOS == "windows" { // on Windows, the default folder is not hidden
		visibleDir = h.ExtensionDir()
	}
	checkSetup("", visibleDir)
	checkSetup(hiddenDir, hiddenDir)
	checkSetup("", hiddenDir)
	if err := os.RemoveAll(hiddenDir); err != nil {
		t.Fatal(err)
	}
	checkSetup("", hiddenDir)
	h.Dirs = config.Dirs{Config: userHome, State: filepath.Join(userHome, "state")}
	variables[config.HomeVariable] = h.State
	if _, err := h.CreateDirs(); err != nil {
		t.Fatal(err)
	}
	checkSetup("", h.ExtensionDir())
}

func TestSetupRejectsInvalidFolders(t *testing.T) {
	occupiedFolder := t.TempDir()
	if err := os.WriteFile(filepath.Join(occupiedFolder, "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]struct {
		port int
		dir  string
	}{"the port is 0": {0, ""}, "contains files that are not part of an opentabs extension": {9, occupiedFolder}} {
		var userErr *usererr.Error
		if _, err := Setup(t.Context(), newHome(t, c.port), Options{Dir: c.dir}, t.Logf); !errors.As(err, &userErr) || !strings.Contains(err.Error(), want) {
			t.Errorf("Setup returned the error %v; want an error for the user that contains %q", err, want)
		}
	}
}

func TestSetupKeepsDebuggerChoice(t *testing.T) {
	h := newHome(t, 9)
	otherFolder := filepath.Join(t.TempDir(), "elsewhere")
	for i, step := range []struct {
		options Options
		want    bool
	}{
		{Options{}, false},
		{Options{Debugger: WithDebugger}, true},
		{Options{}, true},
		{Options{Dir: otherFolder}, true},
		{Options{Debugger: WithoutDebugger}, false},
		{Options{}, false},
	} {
		folder, err := Setup(t.Context(), h, step.options, t.Logf)
		if err != nil {
			t.Fatal(err)
		}
		fileContent, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
		var manifest struct {
			Permissions         []string `json:"permissions"`
			OptionalPermissions []string `json:"optional_permissions"`
		}
		if err := errors.Join(err, json.Unmarshal(fileContent, &manifest)); err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(manifest.Permissions, "debugger"); got != step.want || HasDebugger(h.Dirs) != step.want || !slices.Contains(manifest.Permissions, "scripting") || slices.Contains(manifest.OptionalPermissions, "debugger") {
			t.Errorf("step %d: permissions in the manifest %q, recorded debugger permission %v; want the debugger permission = %v", i, manifest.Permissions, HasDebugger(h.Dirs), step.want)
		}
	}
}
