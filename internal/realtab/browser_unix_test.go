//go:build unix

package realtab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeProgram(t *testing.T, script string) Options {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Join(dir, "browser")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return Options{Program: name, Profile: filepath.Join(dir, "profile"), Extension: dir, ExtensionID: "abc", SitePort: 4711}
}

func TestStartShowsOutput(t *testing.T) {
	o := writeProgram(t, "echo one; echo no display today >&2; exit 3\n")
	b, err := Start(t.Context(), o)
	if err == nil {
		b.Close()
		t.Fatal("Start returned no error, want an error")
	}
	if errorMessage := err.Error(); errorMessage != o.Program+" did not start: no display today" {
		t.Errorf("Start returned %v, want the program and its output", err)
	}
}

func TestStartFlags(t *testing.T) {
	o := writeProgram(t, `printf '%s\n' "$@" >"$0.flags"; exit 3`+"\n")
	if _, err := Start(t.Context(), o); err == nil {
		t.Fatal("Start returned no error, want an error")
	}
	flags, err := os.ReadFile(o.Program + ".flags")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"--headless=new", "--user-data-dir=" + o.Profile, "--load-extension=" + o.Extension, "--disable-extensions-except=" + o.Extension,
		"--ignore-certificate-errors", "--host-resolver-rules=MAP * 127.0.0.1:4711, EXCLUDE 127.0.0.1", "--no-first-run", "--no-proxy-server",
	} {
		if !strings.Contains(string(flags), want+"\n") {
			t.Errorf("the browser was started without the flag %s, want it in\n%s", want, flags)
		}
	}
	preferences, err := os.ReadFile(filepath.Join(o.Profile, "Default", "Preferences"))
	if err != nil || !strings.Contains(string(preferences), `"abc":{"user_scripts_enabled":true}`) {
		t.Errorf("preferences of the profile = %s, error %v; want user scripts allowed for the extension abc", preferences, err)
	}
}

func TestStartCanBeCancelled(t *testing.T) {
	o := writeProgram(t, "mkfifo \"$0.started\" && echo >\"$0.started\" && exec sleep 1000\n")
	ctx, cancel := context.WithCancel(t.Context())
	startErr := make(chan error, 1)
	go func() {
		b, err := Start(ctx, o)
		if err == nil {
			b.Close()
		}
		startErr <- err
	}()
	for {
		if f, err := os.Open(o.Program + ".started"); err == nil {
			f.Close()
			break
		}
		select {
		case err := <-startErr:
			t.Fatalf("Start returned %v before it was cancelled, want it to block", err)
		default:
		}
	}
	cancel()
	if err := <-startErr; !errors.Is(err, context.Canceled) {
		t.Errorf("Start returned %v; want the error %v", err, context.Canceled)
	}
}
