package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhyNot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serve.log")
	const before = "opentabs: of another start\n"
	for text, want := range map[string]string{
		"":                       "the server did not start and did not say why",
		"{\"level\":\"info\"}\n": "the server did not start and did not say why",
		"opentabs: a warning\n{\"level\":\"info\"}\nopentabs: port 1 is taken\n": "port 1 is taken",
		"opentabs: cut off": "cut off",
	} {
		if err := os.WriteFile(path, []byte(before+text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := whyNot(path, int64(len(before))); got != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
	if got := whyNot(path+"x", 0); got != "the server did not start and did not say why" {
		t.Errorf("without a log: %q", got)
	}
}

func TestOpenLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serve.log")
	open := func(want int64) {
		t.Helper()
		f, err := openLog(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || info.Size() != want || info.Mode().Perm() != 0o600 {
			t.Errorf("the log has %d bytes and mode %o, %v; want %d", info.Size(), info.Mode().Perm(), err, want)
		}
		if _, err := f.WriteString("x"); err != nil {
			t.Fatal(err)
		}
	}
	open(0)
	open(1)
	if err := os.Truncate(path, maxLogBytes+1); err != nil {
		t.Fatal(err)
	}
	open(0)
	if info, err := os.Stat(path + ".1"); err != nil || info.Size() != maxLogBytes+1 {
		t.Errorf("the old log was not kept: %v", err)
	}
	if _, err := openLog(filepath.Join(path, "x")); err == nil {
		t.Error("opened a log below a file")
	}
}
