package main

import (
	"archive/zip"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The document docs/store.md must have the extension's summary and explain each of its permissions.
func TestStorePackage(t *testing.T) {
	t.Chdir("../..")
	r := release{outDir: t.TempDir(), version: "0.1.0", commitTime: time.Unix(1_700_000_000, 0).UTC()}
	if err := r.writeStorePackage(); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(filepath.Join(r.outDir, "opentabs_0.1.0_store.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var names []string
	for _, file := range archive.File {
		names = append(names, file.Name)
	}
	for _, name := range []string{"icons/128.png", "manifest.json", "panel.html", "worker.js"} {
		if !slices.Contains(names, name) {
			t.Errorf("the store package lacks the file %s, want it among %q", name, names)
		}
	}
	if slices.Contains(names, "connection.json") {
		t.Error("the store package contains connection.json, want no such file, because only installations write it")
	}
	manifest, err := archive.Open("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	defer manifest.Close()
	var m struct {
		Description         string   `json:"description"`
		Permissions         []string `json:"permissions"`
		OptionalPermissions []string `json:"optional_permissions"`
		Sites               []string `json:"optional_host_permissions"`
	}
	if err := json.NewDecoder(manifest).Decode(&m); err != nil {
		t.Fatal(err)
	}
	fileContent, err := os.ReadFile("docs/store.md")
	if err != nil {
		t.Fatal(err)
	}
	const maxSummaryChars = 132
	if !strings.Contains(string(fileContent), "**Summary:** "+m.Description+"\n") || len(m.Description) > maxSummaryChars {
		t.Errorf("docs/store.md needs the description of the manifest as its summary, with at most %d characters: %q", maxSummaryChars, m.Description)
	}
	var documentedPermissions []string
	for _, tableRow := range regexp.MustCompile("(?m)^\\| `([^`]+)`( \\(optional\\))? \\|").FindAllStringSubmatch(string(fileContent), -1) {
		documentedPermissions = append(documentedPermissions, tableRow[1]+tableRow[2])
	}
	want := m.Permissions
	for _, name := range append(m.OptionalPermissions, m.Sites...) {
		want = append(want, name+" (optional)")
	}
	if !slices.Equal(documentedPermissions, want) {
		t.Errorf("docs/store.md explains the permissions %q; want those in the manifest, %q", documentedPermissions, want)
	}
}
