package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRepairKeepsDamagedFiles(t *testing.T) {
	d := makeHome(t, "")
	for round, damagedText := range []string{"", "half a tok", `{"pid":0}`} {
		for _, file := range []string{d.TokenFile(), d.serverFile()} {
			if err := os.WriteFile(file, []byte(damagedText), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		warnings, err := d.RepairStateDir()
		if err != nil || len(warnings) != 2 {
			t.Fatalf("got %q, %v; want length 2", warnings, err)
		}
		for i, file := range []string{d.TokenFile(), d.serverFile()} {
			if !strings.Contains(warnings[i], file) || !strings.Contains(warnings[i], " is kept as "+file+".corrupt-") {
				t.Errorf("got %q", warnings[i])
			}
			keptFiles, err := filepath.Glob(file + ".corrupt-*")
			if err != nil || len(keptFiles) != round+1 {
				t.Fatalf("kept %q, %v", keptFiles, err)
			}
			if fileContent, err := os.ReadFile(keptFiles[round]); err != nil || string(fileContent) != damagedText {
				t.Errorf("%s holds %q, %v", keptFiles[round], fileContent, err)
			}
		}
		if _, err := d.Token(); err != nil {
			t.Errorf("no new token: %v", err)
		}
	}
}

func TestRepairChangesNoValidFile(t *testing.T) {
	d := makeHome(t, "{")
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.WriteServer(Server{PID: 1, Port: 2, Version: "3"}); err != nil {
		t.Fatal(err)
	}
	leftover := filepath.Join(d.State, "token.123.tmp")
	oldTime := time.Now().Add(-time.Hour)
	if err := errors.Join(os.WriteFile(leftover, nil, 0o600), os.Chtimes(leftover, oldTime, oldTime)); err != nil {
		t.Fatal(err)
	}
	if warnings, err := d.RepairStateDir(); err != nil || warnings != nil {
		t.Errorf("got %q, %v", warnings, err)
	}
	var names []string
	dirEntries, err := os.ReadDir(d.State)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range dirEntries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "config.json server.json token" {
		t.Errorf("there is %s; want %q", got, "config.json server.json token")
	}
	if newToken, err := d.Token(); err != nil || newToken != token {
		t.Errorf("the token is %q, %v", newToken, err)
	}
}
