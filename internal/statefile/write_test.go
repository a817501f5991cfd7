package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func fileNames(t *testing.T, dir string) string {
	t.Helper()
	dirEntries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range dirEntries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestCheckWritable(t *testing.T) {
	dir := t.TempDir()
	if err := CheckWritable(dir); err != nil {
		t.Error(err)
	}
	if remainingFiles := fileNames(t, dir); remainingFiles != "" {
		t.Errorf("files after CheckWritable = %s, want none", remainingFiles)
	}
	if CheckWritable(filepath.Join(dir, "missing")) == nil {
		t.Error("CheckWritable of a missing directory returned no error, want an error")
	}
}

func TestWriteAndCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, step := range []struct {
		writeFunc  func(string, []byte) error
		oldContent string
		want       string
	}{{Create, "a", "a"}, {Create, "b", "a"}, {Write, "c", "c"}, {Write, "", ""}} {
		if err := step.writeFunc(path, []byte(step.oldContent)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != step.want {
			t.Errorf("content of the file = %q, error %v; want %q", got, err, step.want)
		}
	}
	if fileInfo, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && fileInfo.Mode().Perm() != 0o600 {
		t.Errorf("written file: %v, error %v; want mode 0600", fileInfo, err)
	}
	if got := fileNames(t, filepath.Dir(path)); got != "f" {
		t.Errorf("Write left the files %s; want %q", got, "f")
	}
}

func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.MkdirAll(filepath.Join(path, "a folder that is not empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("new")); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("Write that cannot replace the file returned %v; want an error that contains %q", err, path)
	}
	if err := Write(filepath.Join(dir, "none", "f"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Write in a missing folder returned %v; want the error %v", err, os.ErrNotExist)
	}
	if got := fileNames(t, dir); got != "f" {
		t.Errorf("files after the failed Write = %s, want only f", got)
	}
}

func TestRenameDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	seenNames := map[string]bool{}
	for _, content := range []string{"1", "2", "3"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		backupPath, err := RenameDamagedFile(path)
		if err != nil || seenNames[backupPath] || !strings.HasPrefix(backupPath, path+".corrupt-") {
			t.Fatalf("RenameDamagedFile returned %s, error %v; want a new name with .corrupt-", backupPath, err)
		}
		seenNames[backupPath] = true
		if got, err := os.ReadFile(backupPath); err != nil || string(got) != content {
			t.Errorf("content of %s = %q, error %v; want the damaged content", backupPath, got, err)
		}
	}
	if _, err := RenameDamagedFile(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("RenameDamagedFile of a missing file returned %v, want an error with the path", err)
	}
}

func TestRemoveLeftovers(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, modifiedTime := range map[string]time.Time{
		"token.123.tmp": now.Add(-time.Hour), "token.9.tmp": now.Add(time.Hour),
		"token.5.tmp": now, "notes.txt": now.Add(-time.Hour),
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, modifiedTime, modifiedTime)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	RemoveLeftovers(dir)
	if got := fileNames(t, dir); got != "folder.tmp notes.txt token.5.tmp" {
		t.Errorf("files after RemoveLeftovers = %s; want %q", got, "folder.tmp notes.txt token.5.tmp")
	}
	RemoveLeftovers(filepath.Join(dir, "none"))
}
