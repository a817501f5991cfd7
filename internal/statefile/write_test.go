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
		t.Errorf("the failed write left %s", remainingFiles)
	}
	if CheckWritable(filepath.Join(dir, "missing")) == nil {
		t.Error("CheckWritable accepts a missing directory")
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
			t.Errorf("got %q, %v; want %q", got, err, step.want)
		}
	}
	if fileInfo, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && fileInfo.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", fileInfo, err)
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
		t.Errorf("got %v; want an error that contains %q", err, path)
	}
	if err := Write(filepath.Join(dir, "none", "f"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v; want the error %v", err, os.ErrNotExist)
	}
	if got := fileNames(t, dir); got != "f" {
		t.Errorf("the failed write left %s", got)
	}
}

func TestPutAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	seenNames := map[string]bool{}
	for _, content := range []string{"1", "2", "3"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		keptAs, err := PutAside(path)
		if err != nil || seenNames[keptAs] || !strings.HasPrefix(keptAs, path+".corrupt-") {
			t.Fatalf("got %s, %v", keptAs, err)
		}
		seenNames[keptAs] = true
		if got, err := os.ReadFile(keptAs); err != nil || string(got) != content {
			t.Errorf("%s holds %q, %v", keptAs, got, err)
		}
	}
	if _, err := PutAside(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("putting a missing file aside failed: %v", err)
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
		t.Errorf("there is %s; want %q", got, "folder.tmp notes.txt token.5.tmp")
	}
	RemoveLeftovers(filepath.Join(dir, "none"))
}
