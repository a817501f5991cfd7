package author

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opentabs/plugin"
	"opentabs/wire"
)

func TestReadmeChangesItsTablesOnly(t *testing.T) {
	dir := createPluginWithEdit(t, "src/tools/read-titles.ts", "Use it to find out what pages are about.", "Two | three\\n<b>.")
	for _, check := range []bool{true, false} {
		if hasChanged, err := UpdateReadme(t.Context(), dir, check, childOptions); !hasChanged || err != nil {
			t.Fatalf("check %t: changed %t, %v", check, hasChanged, err)
		}
		readme := readPluginFile(t, dir, readmeFile)
		if strings.Contains(readme, `Two \| three &lt;b>. | reads |`) == check {
			t.Errorf("check %t: the README contains %s", check, readme)
		}
		if !strings.HasPrefix(readme, "# Tickets\n") || !strings.Contains(readme, "## Develop") {
			t.Errorf("the author's part is gone: %s", readme)
		}
	}
	if hasChanged, err := UpdateReadme(t.Context(), dir, false, childOptions); hasChanged || err != nil {
		t.Errorf("changed again: %t, %v", hasChanged, err)
	}
}

func TestReadmeBegins(t *testing.T) {
	b := buildGoodPlugin(t)
	b.Prompts = []*plugin.Prompt{{Name: "sum_up", Description: "Sums up"}}
	b.Settings = []plugin.Setting{{Key: "site", Type: wire.SettingURL, Label: "Site", Description: "Of your company", Required: true}}
	for _, c := range []struct{ oldText, want string }{
		{"", "# Tickets\n\nReads and files tickets.\n\n" + tablesBegin},
		{"# Mine\n\ntext\n\n\n", "# Mine\n\ntext\n\n" + tablesBegin},
		{"a\n" + tablesBegin + "old" + tablesEnd + "\nz\n", "a\n" + tablesBegin},
	} {
		writePluginFile(t, b.sourceDir, readmeFile, c.oldText)
		_, updatedReadme, err := b.readmeTexts()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"| `sum_up` | Sums up |", "| `site` | url, required | Site: Of your company |", "| `list_tickets` |"} {
			if !strings.HasPrefix(string(updatedReadme), c.want) || !strings.Contains(string(updatedReadme), want) {
				t.Errorf("%q became %q", c.oldText, updatedReadme)
			}
		}
		if strings.HasSuffix(c.oldText, "\nz\n") && !strings.HasSuffix(string(updatedReadme), tablesEnd+"\nz\n") {
			t.Errorf("%q became %q", c.oldText, updatedReadme)
		}
	}
	writePluginFile(t, b.sourceDir, readmeFile, tablesBegin+"\nno end")
	if _, _, err := b.readmeTexts(); err == nil || !strings.Contains(err.Error(), tablesEnd) {
		t.Errorf("got %v; want an error that contains %q", err, tablesEnd)
	}
}

// TestReadmeStaysInThePlugin checks that UpdateReadme does not write through a link that
// replaces README.md.
func TestReadmeStaysInThePlugin(t *testing.T) {
	dir, otherFile := createPlugin(t), filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(otherFile, []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, readmeFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(otherFile, filepath.Join(dir, readmeFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := UpdateReadme(t.Context(), dir, false, childOptions); err == nil {
		t.Error("Readme followed the link")
	}
	if fileContent, err := os.ReadFile(otherFile); err != nil || string(fileContent) != "other" {
		t.Errorf("the other file contains %q, %v; want %q", fileContent, err, "other")
	}
}
