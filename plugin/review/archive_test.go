package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

func bundledAdapter(library, ownCode string) string {
	return "(()=>{\n  // node_modules/lib/index.js\n  " + library + "\n\n  // src/index.ts\n  " + ownCode + "\n})();\n"
}

func storeReviewedCopy(t *testing.T, a Archive, wikiPlugin *plugin.Plugin) {
	t.Helper()
	if err := a.StoreReviewedCopy(wikiPlugin); err != nil {
		t.Fatal(err)
	}
}

func readChanges(t *testing.T, a Archive, wikiPlugin *plugin.Plugin) (changes string, hasReviewed bool) {
	t.Helper()
	changes, hasReviewed, err := a.Changes(wikiPlugin)
	if err != nil {
		t.Fatal(err)
	}
	return changes, hasReviewed
}

func changedLines(diff string) string {
	var changes []string
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++") || strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "---") {
			changes = append(changes, strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(changes, "\n")
}

func TestArchiveShowsChanges(t *testing.T) {
	a := NewArchive(t.TempDir())
	originalPackage := plugintest.Package{Name: "wiki", Code: bundledAdapter("var lib = 1;", "var own = 1;"), PreScript: "pre();\n"}
	wikiPlugin := plugintest.Load(t, originalPackage)
	if changes, hasReviewed := readChanges(t, a, wikiPlugin); changes != "" || hasReviewed {
		t.Errorf("changes before the first review = %q, reviewed before %t; want none and false", changes, hasReviewed)
	}
	storeReviewedCopy(t, a, wikiPlugin)
	if changes, hasReviewed := readChanges(t, a, wikiPlugin); changes != "" || !hasReviewed {
		t.Errorf("changes of an unchanged plugin = %q, reviewed before %t; want none and true", changes, hasReviewed)
	}
	changedPackage := originalPackage
	changedPackage.Code, changedPackage.PreScript = bundledAdapter("var lib = 2;", "var own = 2;"), "pre(2);\n"
	changedPackage.Tools = []plugintest.Tool{{Name: "echo", Description: "Sends its arguments away."}}
	changes, hasReviewed := readChanges(t, a, plugintest.Load(t, changedPackage))
	if !hasReviewed {
		t.Error("the archive has no copy of the reviewed content; want hasReviewed true")
	}
	for _, want := range []string{
		"--- reviewed/tools.json", `-      "description": "Returns its arguments.",`, `+      "description": "Sends its arguments away.",`,
		"-pre();", "+pre(2);", "-  var own = 1;", "+  var own = 2;", "+++ now/libraries.txt", " node_modules/lib/index.js",
	} {
		if !strings.Contains(changes, want) {
			t.Errorf("the diff lacks the text %q; want it in the diff", want)
		}
	}
	if strings.Contains(changes, "var lib") {
		t.Error("the diff contains the code of a library; want only its hash")
	}
	if strings.Contains(changes, "reviewed/package.json") {
		t.Error("the diff names a file that did not change; want only changed files")
	}
}

// The diff of a rebuild of unchanged code shows only the adapter's hash.
func TestArchiveIgnoresGeneratedNames(t *testing.T) {
	a := NewArchive(t.TempDir())
	code := func(id string) plugintest.Package {
		return plugintest.Package{Name: "wiki", Code: bundledAdapter("", "var _adapter_entry_"+id+" = 1;")}
	}
	storeReviewedCopy(t, a, plugintest.Load(t, code("0a1b2c3d-1111-2222-3333-444455556666")))
	changes, _ := readChanges(t, a, plugintest.Load(t, code("ffffffff-1111-2222-3333-444455556666")))
	if got := changedLines(changes); strings.Count(got, "__adapterHash") != 2 || strings.Count(got, "\n") != 1 {
		t.Errorf("changed lines = %s; want only the two lines with the adapter's hash", got)
	}
}

func TestArchiveLimitsSize(t *testing.T) {
	dir := t.TempDir()
	a := NewArchive(dir)
	loadLargePlugin := func(codeSuffix string) *plugin.Plugin {
		return plugintest.Load(t, plugintest.Package{Name: "wiki", Code: "/*" + strings.Repeat(strings.Repeat("x", 99)+"\n", maxFileBytes/100) + "*/" + strings.Repeat(" ", 200) + codeSuffix + "\n"})
	}
	storeReviewedCopy(t, a, loadLargePlugin("one()"))
	fileInfo, err := os.Stat(filepath.Join(dir, reviewedFolder, "wiki", "own.js"))
	if err != nil || fileInfo.Size() > maxFileBytes+200 {
		t.Fatalf("stored copy = %v, error %v; want a truncated file", fileInfo, err)
	}
	changes, _ := readChanges(t, a, loadLargePlugin("two()"))
	if got := changedLines(changes); strings.Count(got, "more is not kept; all of it has the hash") != 2 || strings.Contains(got, "two()") {
		t.Errorf("changed lines = %s; want two notes about truncated files", got)
	}
}

func TestArchiveRemove(t *testing.T) {
	dir := t.TempDir()
	a := NewArchive(dir)
	wikiPlugin := plugintest.Load(t, plugintest.Package{Name: "wiki"})
	storeReviewedCopy(t, a, wikiPlugin)
	for _, name := range []string{"", ".", "..", "../reviewed", "Wiki"} {
		if err := a.Remove(name); err != nil {
			t.Errorf("Remove(%q): error %v; want none", name, err)
		}
	}
	if _, hasReviewed := readChanges(t, a, wikiPlugin); !hasReviewed {
		t.Fatal("Remove with an invalid plugin name removed a stored copy; want the copy kept")
	}
	if err := a.Remove("wiki"); err != nil {
		t.Fatal(err)
	}
	if _, hasReviewed := readChanges(t, a, wikiPlugin); hasReviewed {
		t.Error("the stored copy still exists after Remove; want none")
	}
	if err := a.Remove("wiki"); err != nil {
		t.Errorf("error of a second Remove = %v; want none", err)
	}
}

func TestArchiveRejectsFilesChangedAfterLoading(t *testing.T) {
	a := NewArchive(t.TempDir())
	wikiPlugin := plugintest.Load(t, plugintest.Package{Name: "wiki"})
	storeReviewedCopy(t, a, wikiPlugin)
	plugintest.Package{Name: "wiki", Code: "other();"}.WriteTo(t, wikiPlugin.Dir)
	if err := a.StoreReviewedCopy(wikiPlugin); err == nil {
		t.Error("StoreReviewedCopy stored content that differs from the loaded plugin; want an error")
	}
	if changes, hasReviewed, err := a.Changes(wikiPlugin); err == nil || changes != "" || hasReviewed {
		t.Errorf("Changes = %q, reviewed before %t, error %v; want an error", changes, hasReviewed, err)
	}
}
