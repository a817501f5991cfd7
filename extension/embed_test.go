package extension

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// The id is part of what people allow and of what the server trusts: it may
// not change by accident.
func TestID(t *testing.T) {
	if got, want := ID(), "jedkcmmmabfghpkgpomjfogkhbhhceko"; got != want {
		t.Errorf("ID() = %q, want %q", got, want)
	}
}

func TestIDOfBadManifest(t *testing.T) {
	for _, manifest := range []string{"", "{", `{"key":"not base64!"}`} {
		if id, err := idOf([]byte(manifest)); err == nil {
			t.Errorf("idOf(%q) = %q, want an error", manifest, id)
		}
	}
}

// What the extension may do is what a person is asked for at install. More of
// it is a decision.
func TestManifestAsksForNoMore(t *testing.T) {
	text, err := Source.ReadFile("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"permissions":            []any{"alarms", "scripting", "sidePanel", "storage", "tabs", "userScripts"},
		"host_permissions":       []any{"*://*/*"},
		"minimum_chrome_version": "138",
		"manifest_version":       3.0,
	}
	for field, value := range want {
		if !reflect.DeepEqual(m[field], value) {
			t.Errorf("%s = %v, want %v", field, m[field], value)
		}
	}
	for _, field := range []string{"content_scripts", "web_accessible_resources", "externally_connectable"} {
		if m[field] != nil {
			t.Errorf("the manifest has %s: pages could see the extension by it", field)
		}
	}
}

// The panel shows what servers, tools and pages say.
func TestNoMarkupFromText(t *testing.T) {
	entries, err := Source.ReadDir("src/panel")
	if err != nil || len(entries) == 0 {
		t.Fatalf("no panel: %v", err)
	}
	for _, e := range entries {
		text, err := Source.ReadFile("src/panel/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "document.write"} {
			if strings.Contains(string(text), word) {
				t.Errorf("src/panel/%s uses %s", e.Name(), word)
			}
		}
	}
}

// late finds what looks a built-in up when it is used: a page may have
// replaced it by then (src/host/primordials.ts).
var late = regexp.MustCompile(`\bawait\b|\basync\b|\bfor \([^;]* of |\.\.\.|\.(push|pop|map|filter|forEach|join|slice|splice|concat|includes|indexOf|keys|entries|then|catch|finally|test|exec|replace|call|apply|bind|toString)\(`)

// quoted finds texts, and the name of context.call in those with values, which
// are sentences and look nothing up.
var quoted = regexp.MustCompile(`'[^']*'|\bcontext\.call\(\):`)

func TestHostLooksNothingUpLate(t *testing.T) {
	entries, err := Source.ReadDir("src/host")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".test.ts") {
			continue
		}
		seen++
		text, err := Source.ReadFile("src/host/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			code, _, _ := strings.Cut(line, "//")
			code = quoted.ReplaceAllString(code, "''")
			if trimmed := strings.TrimSpace(code); strings.HasPrefix(trimmed, "*") || strings.HasPrefix(trimmed, "/*") {
				continue
			}
			if found := late.FindString(code); found != "" && !strings.Contains(code, "...args: unknown[]") {
				t.Errorf("src/host/%s:%d: %q is looked up when it is used", e.Name(), n, found)
			}
		}
	}
	if seen < 5 {
		t.Errorf("%d files of the host seen", seen)
	}
}
