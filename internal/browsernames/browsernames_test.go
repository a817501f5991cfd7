package browsernames

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func openTestStore(t *testing.T) (s *Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "browsers.json")
	s, warning := Open(path)
	if warning != "" {
		t.Fatalf("warning about a missing file = %q, want no warning", warning)
	}
	return s, path
}

func wantBrowserName(t *testing.T, s *Store, id, sentName string, isDefault bool, want string) {
	t.Helper()
	if name, _ := s.NameOf(id, sentName, isDefault); name != want {
		t.Errorf("name of browser %s that sent %q = %q, want %q", id, sentName, name, want)
	}
}

// TestBrowserNamesAreUnique checks that browsers with the same default name get different
// numbers, and keep the numbers after a restart.
func TestBrowserNamesAreUnique(t *testing.T) {
	s, path := openTestStore(t)
	wantBrowserName(t, s, "a", "Chrome on Linux", true, "Chrome on Linux")
	wantBrowserName(t, s, "b", "Chrome on Linux", true, "Chrome on Linux 2")
	wantBrowserName(t, s, "c", "Work", false, "Work")
	wantBrowserName(t, s, "d", "work", false, "work 2")
	s, _ = Open(path)
	wantBrowserName(t, s, "b", "Chrome on Linux", true, "Chrome on Linux 2")
	wantBrowserName(t, s, "a", "Chrome on Linux", true, "Chrome on Linux")
}

// TestRenamedBrowserKeepsName checks that the user's latest name for a browser counts, whether from a
// command or from the side panel.
func TestRenamedBrowserKeepsName(t *testing.T) {
	s, path := openTestStore(t)
	wantBrowserName(t, s, "a", "Chrome on Linux", true, "Chrome on Linux")
	wantBrowserName(t, s, "b", "Chrome on Linux", true, "Chrome on Linux 2")
	if b, err := s.Rename("chrome on linux 2", " Work ", nil); err != nil || b.ID != "b" || b.Name != "Work" {
		t.Fatalf("renamed browser = %+v, error %v; want the browser b with the name Work", b, err)
	}
	s, _ = Open(path)
	wantBrowserName(t, s, "b", "Chrome on Linux", true, "Work") // the extension still sends its default name after the command
	wantBrowserName(t, s, "b", "Work", false, "Work")
	wantBrowserName(t, s, "b", "Private", false, "Private") // the user typed the name Private in the side panel
	wantBrowserName(t, s, "b", "Chrome on Linux", true, "Chrome on Linux 2")
	for _, invalidName := range []struct{ browser, name, want string }{
		{"x", "Work", `there is no browser "x"`},
		{"b", strings.Repeat("x", 61), "more than 60 characters"},
		{"b", "a\nb", "cannot be shown"},
		{"b", "Chrome on Linux", "another connected browser has the name"},
	} {
		if _, err := s.Rename(invalidName.browser, invalidName.name, []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), invalidName.want) {
			t.Errorf("error of renaming %q to %q = %v, want %q", invalidName.browser, invalidName.name, err, invalidName.want)
		}
	}
	if b, err := s.Rename("b", "", nil); err != nil || b.IsUserGiven || b.Name != "Chrome on Linux 2" {
		t.Errorf("browser after Rename to an empty name = %+v, error %v; want the default name", b, err)
	}
}

func TestReinstalledExtensionKeepsBrowserName(t *testing.T) {
	s, _ := openTestStore(t)
	wantBrowserName(t, s, "old", "Work", false, "Work")
	if _, err := s.SetDefault("Cursor", "Work"); err != nil {
		t.Fatal(err)
	}
	wantBrowserName(t, s, "new", "Chrome on Linux", true, "Chrome on Linux")
	if _, err := s.Rename("new", "Work", []string{"new"}); err != nil {
		t.Fatal(err)
	}
	if got := s.defaultBrowserFor("cursor"); got != "new" {
		t.Errorf("default browser of the client cursor = %q, want the browser new", got)
	}
	if browsers, clientNames := s.List(); len(browsers) != 1 || len(clientNames("new")) != 1 {
		t.Errorf("browsers after one browser replaced another = %+v, want only the browser new", browsers)
	}
}

func TestSetDefaultBrowser(t *testing.T) {
	s, path := openTestStore(t)
	wantBrowserName(t, s, "a", "A", false, "A")
	wantBrowserName(t, s, "b", "B", false, "B")
	for client, browser := range map[string]string{"": "A", "Cursor": "B"} {
		if _, err := s.SetDefault(client, browser); err != nil {
			t.Fatal(err)
		}
	}
	s, _ = Open(path)
	if got := s.defaultBrowserFor("claude-code", "cursor"); got != "b" {
		t.Errorf("default browser of the client cursor = %q, want the browser b", got)
	}
	if got := s.defaultBrowserFor("claude-code"); got != "a" {
		t.Errorf("default browser of other clients = %q, want the browser a", got)
	}
	if err := s.Forget("A", []string{"a"}); err == nil {
		t.Error("forgetting a connected browser succeeded, want an error")
	}
	if err := s.Forget("A", nil); err != nil || s.defaultBrowserFor("claude-code") != "" {
		t.Errorf("default browser after the store forgot the browser = %q, error %v; want no default browser", s.defaultBrowserFor("claude-code"), err)
	}
	if _, err := s.SetDefault("cursor", ""); err != nil || s.defaultBrowserFor("cursor") != "" {
		t.Errorf("default browser after the default was removed = %q, error %v; want no default browser", s.defaultBrowserFor("cursor"), err)
	}
}

// TestOldBrowsersAreForgotten checks that the store forgets an unnamed browser after 30
// days, and never stores a browser that runs a copy of a profile.
func TestOldBrowsersAreForgotten(t *testing.T) {
	s, path := openTestStore(t)
	wantBrowserName(t, s, "a", "Chrome on Linux", true, "Chrome on Linux")
	wantBrowserName(t, s, "w", "Work", false, "Work")
	wantBrowserName(t, s, "w~boot", "Work", false, "Work 2")
	for i := range s.document.Browsers {
		s.document.Browsers[i].LastSeen = time.Now().Add(-31 * 24 * time.Hour)
	}
	wantBrowserName(t, s, "b", "Chrome on Linux", true, "Chrome on Linux")
	wantBrowserName(t, s, "w2", "Work", false, "Work 3")
	fileContent, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(fileContent), "boot") || strings.Contains(string(fileContent), `"a"`) {
		t.Errorf("stored names = %s, error %v; want neither the copied profile nor the old browser", fileContent, err)
	}
}

func TestDamagedFile(t *testing.T) {
	_, path := openTestStore(t)
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, warning := Open(path)
	if !strings.Contains(warning, "were damaged; the file is kept as "+path) {
		t.Errorf("warning about a damaged file = %q, want a warning with the new name of the file", warning)
	}
	wantBrowserName(t, s, "a", "Chrome on Linux", true, "Chrome on Linux")
}

// TestDefaultNameIncludesProfile checks that a browser gets a default name with its profile, such as "Chrome (Work) on
// laptop".
func TestDefaultNameIncludesProfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "browsers.json")
	s, _ := Open(path)
	findCalls := 0
	defaultNames := map[string]string{"a": "Chrome (Work) on laptop", "b": "Chrome (Work) on laptop"}
	s.SetDefaultNameFinder(func(id, sentName string) string {
		findCalls++
		return defaultNames[id]
	})
	for _, c := range []struct {
		id, sentName string
		isDefault    bool
		want         string
	}{
		{"a", "Chrome on Linux", true, "Chrome (Work) on laptop"},
		{"b", "Chrome on Linux", true, "Chrome (Work) on laptop 2"},
		{"c", "Chrome on Linux", true, "Chrome on Linux"},
		{"a", "Chrome on Linux", true, "Chrome (Work) on laptop"},
		{"a", "Mine", false, "Mine"},
		{"a", "Chrome on Linux", true, "Chrome (Work) on laptop"},
	} {
		if got, _ := s.NameOf(c.id, c.sentName, c.isDefault); got != c.want {
			t.Errorf("name of the browser %s after it sent the name %q: got %q, want %q", c.id, c.sentName, got, c.want)
		}
	}
	if findCalls != 3 {
		t.Errorf("the store searched for the profiles of three browsers %d times, want 3 times", findCalls)
	}
}

// TestBrowserByIDPrefix checks that commands accept the first characters of an ID, and that
// the error for several matching browsers names these browsers.
func TestBrowserByIDPrefix(t *testing.T) {
	s, _ := openTestStore(t)
	wantBrowserName(t, s, "aaaabbbb-1", "Home", false, "Home")
	wantBrowserName(t, s, "aaaabbbb-2", "Work", false, "Work")
	if b, err := s.SetDefault("", "aaaabbbb-2"); err != nil || b.Name != "Work" {
		t.Errorf("the browser of a complete ID = %+v, error %v; want Work", b, err)
	}
	wantBrowserName(t, s, "ccccdddd-1", "Play", false, "Play")
	if b, err := s.SetDefault("", "ccccdd"); err != nil || b.Name != "Play" {
		t.Errorf("the browser of the start of an ID = %+v, error %v; want Play", b, err)
	}
	const want = `several browsers match "aaaabb": "Home" (id aaaabbbb-1), "Work" (id aaaabbbb-2); use the name or more characters of the id`
	if err := s.Forget("aaaabb", nil); err == nil || err.Error() != want {
		t.Errorf("error of Forget for an ambiguous ID = %v, want %q", err, want)
	}
}
