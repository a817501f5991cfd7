package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInspectReportsExcessiveAccess(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	d := Dirs{Config: home, State: home}
	if permissionProblems := d.Inspect(); permissionProblems != nil {
		t.Errorf("problems of a missing directory = %+v; want none", permissionProblems)
	}
	if _, err := d.CreateDirs(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	if permissionProblems := d.Inspect(); permissionProblems != nil {
		t.Errorf("problems of a new directory = %+v; want none", permissionProblems)
	}
	if dirEntries, err := os.ReadDir(home); err != nil || len(dirEntries) != 1 {
		t.Errorf("after Inspect, the directory contains %v, error %v; want only the token file", dirEntries, err)
	}
	chmod := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod(home, 0o755)
	chmod(d.TokenFile(), 0o644)
	permissionProblems := d.Inspect()
	if len(permissionProblems) != 2 || permissionProblems[0].PreventsStart ||
		permissionProblems[0].ProblemText != "other users can open "+home+" (mode 0755)" || permissionProblems[0].Remedy != "run chmod 700 "+home ||
		permissionProblems[1].Remedy != "run chmod 600 "+d.TokenFile() {
		t.Errorf("problems = %+v; want the modes of the directory and of the token file", permissionProblems)
	}
	if fileInfo, err := os.Stat(home); err != nil || fileInfo.Mode().Perm() != 0o755 {
		t.Errorf("mode after Inspect = %v, error %v; want the unchanged mode 0755", fileInfo.Mode(), err)
	}
}

func TestInspectFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	permissionProblems := Dirs{Config: file, State: file}.Inspect()
	if len(permissionProblems) != 1 || !permissionProblems[0].PreventsStart || !strings.Contains(permissionProblems[0].ProblemText, "is not a directory") {
		t.Errorf("problems of a file in place of the directory = %+v; want one serious problem", permissionProblems)
	}
	childPath := filepath.Join(file, "below")
	permissionProblems = Dirs{Config: childPath, State: childPath}.Inspect()
	if len(permissionProblems) != 1 || !permissionProblems[0].PreventsStart {
		t.Errorf("problems of a directory below a file = %+v; want one serious problem", permissionProblems)
	}
}
