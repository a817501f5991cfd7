package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInspect(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	d := Dirs{Config: home, State: home}
	if flaws := d.Inspect(); flaws != nil {
		t.Errorf("a missing directory has flaws: %+v", flaws)
	}
	if _, err := d.Make(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	if flaws := d.Inspect(); flaws != nil {
		t.Errorf("a new directory has flaws: %+v", flaws)
	}
	if dirEntries, err := os.ReadDir(home); err != nil || len(dirEntries) != 1 {
		t.Errorf("Inspect created files: %v, %v; want length 1", dirEntries, err)
	}
	chmod := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod(home, 0o755)
	chmod(d.TokenFile(), 0o644)
	flaws := d.Inspect()
	if len(flaws) != 2 || flaws[0].IsSerious ||
		flaws[0].Fact != "other users can open "+home+" (mode 0755)" || flaws[0].Remedy != "run chmod 700 "+home ||
		flaws[1].Remedy != "run chmod 600 "+d.TokenFile() {
		t.Errorf("got %+v", flaws)
	}
	if fileInfo, err := os.Stat(home); err != nil || fileInfo.Mode().Perm() != 0o755 {
		t.Errorf("Inspect changed the mode to %v, %v", fileInfo.Mode(), err)
	}
}

func TestInspectFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	flaws := Dirs{Config: file, State: file}.Inspect()
	if len(flaws) != 1 || !flaws[0].IsSerious || !strings.Contains(flaws[0].Fact, "is not a directory") {
		t.Errorf("got %+v", flaws)
	}
	childPath := filepath.Join(file, "below")
	flaws = Dirs{Config: childPath, State: childPath}.Inspect()
	if len(flaws) != 1 || !flaws[0].IsSerious {
		t.Errorf("below a file: %+v", flaws)
	}
}
