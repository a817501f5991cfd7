package logfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serve.log")
	if err := os.WriteFile(path, []byte("of an earlier server\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const limit = 1000
	l, err := Open(path, limit)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if _, err := fmt.Fprintf(l, "line %d\n", i); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var allLines []string
	for _, name := range []string{path + ".1", path} {
		fileContent, err := os.ReadFile(name)
		if err != nil || len(fileContent) > limit || len(fileContent) == 0 {
			t.Errorf("log file %s has %d bytes, error %v; want 1 byte up to the size limit", name, len(fileContent), err)
		}
		allLines = append(allLines, strings.Split(strings.TrimSpace(string(fileContent)), "\n")...)
	}
	// A rotation must lose no line, and must not split a line between the rotated file
	// and the new file.
	for i, line := range allLines {
		if want := fmt.Sprintf("line %d", 1000-len(allLines)+i); line != want {
			t.Fatalf("line of the log = %q, want %q", line, want)
		}
	}
	if dirEntries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(dirEntries) != 2 {
		t.Errorf("files in the log folder = %v, error %v; want 2 files", dirEntries, err)
	}
}

func TestRotationFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serve.log")
	if err := os.MkdirAll(filepath.Join(path+".1", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFiveLines(t, path)
	if fileContent, err := os.ReadFile(path); err != nil || strings.Count(string(fileContent), "\n") != 5 {
		t.Errorf("content of the log that cannot be rotated = %q, error %v; want all 5 lines", fileContent, err)
	}
}

func TestOpenLogFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serve.log")
	openFile := func(want int64) {
		t.Helper()
		l, err := Open(path, MaxBytes)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		fileInfo, err := l.file.Stat()
		if err != nil || fileInfo.Size() != want || fileInfo.Mode().Perm() != 0o600 {
			t.Errorf("the log has %d bytes and mode %o, error %v; want %d", fileInfo.Size(), fileInfo.Mode().Perm(), err, want)
		}
		if _, err := l.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	openFile(0)
	openFile(1)
	if err := os.Truncate(path, MaxBytes+1); err != nil {
		t.Fatal(err)
	}
	openFile(0)
	if fileInfo, err := os.Stat(path + ".1"); err != nil || fileInfo.Size() != MaxBytes+1 {
		t.Errorf("the rotated log is missing or has another size: %v; want the old log as path.1", err)
	}
	if _, err := Open(filepath.Join(path, "x"), MaxBytes); err == nil {
		t.Error("Open of a path below a file returned no error, want an error")
	}
}

// A named pipe or device is never renamed, even if the process runs as root.
func TestPipeIsNotRotated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	writeFiveLines(t, path)
	if dirEntries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(dirEntries) != 1 {
		t.Errorf("files in the log folder = %v, error %v; want only the pipe", dirEntries, err)
	}
}

func writeFiveLines(t *testing.T, path string) {
	t.Helper()
	l, err := Open(path, 10)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	for range 5 {
		if _, err := l.Write([]byte("12345678\n")); err != nil {
			t.Fatal(err)
		}
	}
}
