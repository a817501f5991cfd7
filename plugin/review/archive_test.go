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

func storeCopy(t *testing.T, a Archive, wikiPlugin *plugin.Plugin) {
	t.Helper()
	if err := a.StoreCopy(wikiPlugin); err != nil {
		t.Fatal(err)
	}
}

func changesOf(t *testing.T, a Archive, wikiPlugin *plugin.Plugin) (changes string, hasReviewed bool) {
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
	packageBefore := plugintest.Package{Name: "wiki", Code: bundledAdapter("var lib = 1;", "var own = 1;"), PreScript: "pre();\n"}
	wikiPlugin := plugintest.Load(t, packageBefore)
	if changes, hasReviewed := changesOf(t, a, wikiPlugin); changes != "" || hasReviewed {
		t.Errorf("before the first review: %q, known %t", changes, hasReviewed)
	}
	storeCopy(t, a, wikiPlugin)
	if changes, hasReviewed := changesOf(t, a, wikiPlugin); changes != "" || !hasReviewed {
		t.Errorf("without a change: %q, known %t", changes, hasReviewed)
	}
	packageAfter := packageBefore
	packageAfter.Code, packageAfter.PreScript = bundledAdapter("var lib = 2;", "var own = 2;"), "pre(2);\n"
	packageAfter.Tools = []plugintest.Tool{{Name: "echo", Description: "Sends its arguments away."}}
	changes, hasReviewed := changesOf(t, a, plugintest.Load(t, packageAfter))
	if !hasReviewed {
		t.Error("the reviewed content is not known")
	}
	for _, want := range []string{
		"--- reviewed/tools.json", `-      "description": "Returns its arguments.",`, `+      "description": "Sends its arguments away.",`,
		"-pre();", "+pre(2);", "-  var own = 1;", "+  var own = 2;", "+++ now/libraries.txt", " node_modules/lib/index.js",
	} {
		if !strings.Contains(changes, want) {
			t.Errorf("the diff lacks %q", want)
		}
	}
	if strings.Contains(changes, "var lib") {
		t.Error("the diff shows the code of a library; want its hash only")
	}
	if strings.Contains(changes, "reviewed/package.json") {
		t.Error("the diff names a file that did not change")
	}
}

// The diff of a rebuild of unchanged code shows only the adapter's hash.
func TestArchiveIgnoresGeneratedNames(t *testing.T) {
	a := NewArchive(t.TempDir())
	code := func(id string) plugintest.Package {
		return plugintest.Package{Name: "wiki", Code: bundledAdapter("", "var _adapter_entry_"+id+" = 1;")}
	}
	storeCopy(t, a, plugintest.Load(t, code("0a1b2c3d-1111-2222-3333-444455556666")))
	changes, _ := changesOf(t, a, plugintest.Load(t, code("ffffffff-1111-2222-3333-444455556666")))
	if got := changedLines(changes); strings.Count(got, "__adapterHash") != 2 || strings.Count(got, "\n") != 1 {
		t.Errorf("%s", got)
	}
}

func TestArchiveLimitsSize(t *testing.T) {
	dir := t.TempDir()
	a := NewArchive(dir)
	largePlugin := func(codeEnd string) *plugin.Plugin {
		return plugintest.Load(t, plugintest.Package{Name: "wiki", Code: "/*" + strings.Repeat(strings.Repeat("x", 99)+"\n", maxFileBytes/100) + "*/" + strings.Repeat(" ", 200) + codeEnd + "\n"})
	}
	storeCopy(t, a, largePlugin("one()"))
	fileInfo, err := os.Stat(filepath.Join(dir, reviewedFolder, "wiki", "own.js"))
	if err != nil || fileInfo.Size() > maxFileBytes+200 {
		t.Fatalf("%v, %v", fileInfo, err)
	}
	changes, _ := changesOf(t, a, largePlugin("two()"))
	if got := changedLines(changes); strings.Count(got, "more is not kept; all of it has the hash") != 2 || strings.Contains(got, "two()") {
		t.Errorf("%s", got)
	}
}

func TestArchiveRemove(t *testing.T) {
	dir := t.TempDir()
	a := NewArchive(dir)
	wikiPlugin := plugintest.Load(t, plugintest.Package{Name: "wiki"})
	storeCopy(t, a, wikiPlugin)
	for _, name := range []string{"", ".", "..", "../reviewed", "Wiki"} {
		if err := a.Remove(name); err != nil {
			t.Errorf("Remove(%q): %v", name, err)
		}
	}
	if _, hasReviewed := changesOf(t, a, wikiPlugin); !hasReviewed {
		t.Fatal("a name that no plugin can have removed a copy")
	}
	if err := a.Remove("wiki"); err != nil {
		t.Fatal(err)
	}
	if _, hasReviewed := changesOf(t, a, wikiPlugin); hasReviewed {
		t.Error("the copy is still there")
	}
	if err := a.Remove("wiki"); err != nil {
		t.Errorf("a second Remove: %v", err)
	}
}

func TestArchiveNeedsTheLoadedFiles(t *testing.T) {
	a := NewArchive(t.TempDir())
	wikiPlugin := plugintest.Load(t, plugintest.Package{Name: "wiki"})
	storeCopy(t, a, wikiPlugin)
	plugintest.Package{Name: "wiki", Code: "other();"}.WriteTo(t, wikiPlugin.Dir)
	if err := a.StoreCopy(wikiPlugin); err == nil {
		t.Error("Keep stored content that was not loaded")
	}
	if changes, hasReviewed, err := a.Changes(wikiPlugin); err == nil || changes != "" || hasReviewed {
		t.Errorf("Changes: %q, %t, %v", changes, hasReviewed, err)
	}
}
