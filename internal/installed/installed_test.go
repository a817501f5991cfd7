package installed

import (
	"os"
	"path/filepath"
	"testing"
)

func TestInstallMethodOfProgramPath(t *testing.T) {
	t.Setenv("PATH", "")
	for path, want := range map[string]Method{
		"/home/a/.npm/_npx/1f/node_modules/@opentabs/cli-linux-x64/bin/opentabs": NPX,
		"/usr/lib/node_modules/opentabs/node_modules/@opentabs/cli/bin/opentabs": NPM,
		"/opt/homebrew/Cellar/opentabs/0.1.0/bin/opentabs":                       homebrew,
		"/home/linuxbrew/.linuxbrew/Cellar/opentabs/0.2.0_1/bin/opentabs":        homebrew,
		"C:/Users/a/scoop/apps/opentabs/0.1.0/opentabs.exe":                      scoop,
		"/home/a/.local/bin/opentabs":                                            Archive,
	} {
		if got := findMethod(t.Context(), path); got != want {
			t.Errorf("installation method of %s = %s, want %s", path, got, want)
		}
	}
}

func TestProgramInCheckoutIsFromSource(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module opentabs\n\ngo 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := findMethod(t.Context(), filepath.Join(dir, "bin", "opentabs")); got != Source {
		t.Errorf("installation method of a program in a checkout = %s, want %s", got, Source)
	}
}

func TestStablePathSurvivesUpgrades(t *testing.T) {
	dir := t.TempDir()
	homebrewProgram := Program{Path: filepath.Join(dir, "Cellar", "opentabs", "0.1.0", "bin", "opentabs"), Method: homebrew}
	if got := homebrewProgram.StablePath(); got != homebrewProgram.Path {
		t.Errorf("StablePath without a link = %s, want %s", got, homebrewProgram.Path)
	}
	scoopProgram := Program{Path: filepath.Join(dir, "scoop", "apps", "opentabs", "0.1.0", "opentabs.exe"), Method: scoop}
	for _, c := range []struct {
		program Program
		want    string
	}{
		{homebrewProgram, filepath.Join(dir, "opt", "opentabs", "bin", "opentabs")},
		{scoopProgram, filepath.Join(dir, "scoop", "apps", "opentabs", "current", "opentabs.exe")},
	} {
		if err := os.MkdirAll(filepath.Dir(c.want), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.want, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		if got := c.program.StablePath(); got != c.want {
			t.Errorf("StablePath of %s = %s, want %s", c.program.Path, got, c.want)
		}
	}
}
