package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func fakeGetenv(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestFindDirsWithHomeVariable(t *testing.T) {
	d, err := FindDirs(fakeGetenv(map[string]string{"OPENTABS_HOME": "/srv/ot"}))
	if want := (Dirs{Config: "/srv/ot", State: "/srv/ot"}); err != nil || d != want {
		t.Errorf("FindDirs with OPENTABS_HOME returned %v, error %v; want %v", d, err, want)
	}
	d, err = FindDirs(fakeGetenv(map[string]string{"OPENTABS_HOME": "rel"}))
	if err != nil || !filepath.IsAbs(d.State) {
		t.Errorf("FindDirs with a relative OPENTABS_HOME returned %v, error %v; want an absolute path", d, err)
	}
}

func TestStateDirOfPlatforms(t *testing.T) {
	for _, c := range []struct {
		goos string
		vars map[string]string
		want string
	}{
		{"linux", map[string]string{"HOME": "/home/a"}, "/home/a/.local/state"},
		{"linux", map[string]string{"HOME": "/home/a", "XDG_STATE_HOME": "/x"}, "/x"},
		{"linux", map[string]string{"HOME": "/home/a", "XDG_STATE_HOME": "x"}, "/home/a/.local/state"},
		{"darwin", map[string]string{"HOME": "/Users/a", "XDG_STATE_HOME": "/x"}, "/Users/a/Library/Application Support"},
		{"windows", map[string]string{"LocalAppData": "/l"}, "/l"},
		{"linux", nil, ""},
		{"windows", nil, ""},
	} {
		got, err := stateDir(c.goos, fakeGetenv(c.vars))
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("state directory on %s with the variables %v = %q, error %v; want %q", c.goos, c.vars, got, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), "set OPENTABS_HOME") {
			t.Errorf("error on %s = %v; want the advice to set OPENTABS_HOME", c.goos, err)
		}
	}
}

func TestCreateDirsRestrictsModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("Windows has no modes")
		return
	}
	base := t.TempDir()
	d := Dirs{Config: filepath.Join(base, "c", "opentabs"), State: filepath.Join(base, "s", "opentabs")}
	if warnings, err := d.CreateDirs(); err != nil || warnings != nil {
		t.Fatalf("CreateDirs of missing directories: warnings %v, error %v; want no warnings and no error", warnings, err)
	}
	for _, dir := range []string{d.Config, d.State} {
		checkFileMode(t, dir, 0o700)
	}
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d.State, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d.TokenFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	warnings, err := d.CreateDirs()
	if err != nil || len(warnings) != 2 {
		t.Fatalf("CreateDirs returned the warnings %q, error %v; want two warnings", warnings, err)
	}
	if want := "other users could open " + d.TokenFile() + " (mode 0644); its mode is now 0600"; warnings[1] != want {
		t.Errorf("warning about the token file:\ngot  %s\nwant %s", warnings[1], want)
	}
	checkFileMode(t, d.State, 0o700)
	checkFileMode(t, d.TokenFile(), 0o600)
}

func checkFileMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	fileInfo, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if fileInfo.Mode().Perm() != want {
		t.Errorf("%s has mode %04o, want %04o", path, fileInfo.Mode().Perm(), want)
	}
}
