package extension

import (
	"encoding/json"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"
)

// The extension ID must not change by accident: the server trusts this ID, and users
// grant permissions to it.
func TestExtensionID(t *testing.T) {
	if got, want := ID(), "jedkcmmmabfghpkgpomjfogkhbhhceko"; got != want {
		t.Errorf("ID() = %q, want %q", got, want)
	}
}

func TestExtensionIDOfInvalidManifest(t *testing.T) {
	for _, manifest := range []string{"", "{", `{"key":"not base64!"}`} {
		if id, err := extensionID([]byte(manifest)); err == nil {
			t.Errorf("extensionID(%q) = %q, want an error", manifest, id)
		}
	}
}

// TestEmbeddedSources checks that the program contains each source file of the extension,
// and no test.
func TestEmbeddedSources(t *testing.T) {
	sourceCount := 0
	err := fs.WalkDir(os.DirFS("."), "src", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		_, err = fs.Stat(Source, name)
		isEmbedded := err == nil
		isTest := strings.HasSuffix(name, ".test.ts") || strings.HasSuffix(name, ".test.tsx")
		if isTest && isEmbedded {
			t.Errorf("the test %s is embedded; exclude it in embed.go", name)
		}
		if !isTest && !isEmbedded {
			t.Errorf("the source %s is not embedded; add a pattern for it to embed.go", name)
		}
		if !isTest {
			sourceCount++
		}
		return nil
	})
	if err != nil || sourceCount == 0 {
		t.Errorf("walk over src: %d sources, error %v; want at least 1 source and no error", sourceCount, err)
	}
}

// Chrome shows the extension's permissions to the user during the installation, so a
// permission must not be added by accident.
func TestManifestPermissions(t *testing.T) {
	fileContent, err := Source.ReadFile("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(fileContent, &m); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"permissions":          []any{"alarms", "favicon", "notifications", "scripting", "sidePanel", "storage", "tabs", "userScripts", "webNavigation"},
		"optional_permissions": []any{"bookmarks", "browsingData", "cookies", "downloads", "history", "sessions", "tabGroups"},
		// captureVisibleTab works with <all_urls> only.
		"host_permissions":       []any{"<all_urls>"},
		"minimum_chrome_version": "138",
		"manifest_version":       3.0,
	}
	for field, value := range want {
		if !reflect.DeepEqual(m[field], value) {
			t.Errorf("manifest field %s = %v, want %v", field, m[field], value)
		}
	}
	for _, field := range []string{"content_scripts", "web_accessible_resources", "externally_connectable"} {
		if m[field] != nil {
			t.Errorf("the manifest has the field %s, want no such field: pages could detect the extension by it", field)
		}
	}
}

// The side panel shows text of servers, tools and pages, so text must never become
// markup.
func TestSourceSetsNoRawHTML(t *testing.T) {
	dirEntries, err := Source.ReadDir("src/panel")
	if err != nil || len(dirEntries) == 0 {
		t.Fatalf("ReadDir(src/panel) returned %d files and error %v; want at least 1 file and no error", len(dirEntries), err)
	}
	for _, e := range dirEntries {
		fileContent, err := Source.ReadFile("src/panel/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "document.write"} {
			if strings.Contains(string(fileContent), word) {
				t.Errorf("src/panel/%s uses %s; want no function that parses HTML", e.Name(), word)
			}
		}
	}
}
