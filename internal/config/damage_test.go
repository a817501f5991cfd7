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
			t.Fatalf("RepairStateDir returned the warnings %q, error %v; want 2 warnings", warnings, err)
		}
		for i, file := range []string{d.TokenFile(), d.serverFile()} {
			if !strings.Contains(warnings[i], file) || !strings.Contains(warnings[i], " is kept as "+file+".corrupt-") {
				t.Errorf("warning = %q; want the damaged file %s and its new name", warnings[i], file)
			}
			corruptFiles, err := filepath.Glob(file + ".corrupt-*")
			if err != nil || len(corruptFiles) != round+1 {
				t.Fatalf("kept copies of %s = %q, error %v; want %d", file, corruptFiles, err, round+1)
			}
			if fileContent, err := os.ReadFile(corruptFiles[round]); err != nil || string(fileContent) != damagedText {
				t.Errorf("content of %s = %q, error %v; want the damaged text %q", corruptFiles[round], fileContent, err, damagedText)
			}
		}
		if _, err := d.Token(); err != nil {
			t.Errorf("Token after the repair returned the error %v; want a new token", err)
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
	leftoverFile := filepath.Join(d.State, "token.123.tmp")
	oldTime := time.Now().Add(-time.Hour)
	if err := errors.Join(os.WriteFile(leftoverFile, nil, 0o600), os.Chtimes(leftoverFile, oldTime, oldTime)); err != nil {
		t.Fatal(err)
	}
	if warnings, err := d.RepairStateDir(); err != nil || warnings != nil {
		t.Errorf("RepairStateDir of valid files: warnings %q, error %v; want no warnings and no error", warnings, err)
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
		t.Errorf("files in the state directory = %q; want %q", got, "config.json server.json token")
	}
	if newToken, err := d.Token(); err != nil || newToken != token {
		t.Errorf("token after the repair = %q, error %v; want the earlier token %q", newToken, err, token)
	}
}
