package author

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opentabs/plugin"
	"opentabs/wire"
)

func TestUpdateReadmeKeepsOtherText(t *testing.T) {
	dir := createPluginWithEdit(t, "src/tools/read-titles.ts", "Use it to find out what pages are about.", "Two | three\\n<b>.")
	for _, check := range []bool{true, false} {
		if hasChanged, err := UpdateReadme(t.Context(), dir, check, childBuildOptions); !hasChanged || err != nil {
			t.Fatalf("UpdateReadme with check = %t: changed %t, error %v; want a change and no error", check, hasChanged, err)
		}
		readme := readPluginFile(t, dir, readmeFile)
		if strings.Contains(readme, `Two \| three &lt;b>. | reads |`) == check {
			t.Errorf("after UpdateReadme with check = %t, the README is %s\nwant the new description only without check", check, readme)
		}
		if !strings.HasPrefix(readme, "# Tickets\n") || !strings.Contains(readme, "## Develop") {
			t.Errorf("UpdateReadme removed the author's text: %s\nwant the title and the heading Develop", readme)
		}
	}
	if hasChanged, err := UpdateReadme(t.Context(), dir, false, childBuildOptions); hasChanged || err != nil {
		t.Errorf("second UpdateReadme: changed = %t, error %v; want no change and no error", hasChanged, err)
	}
}

func TestReadmeGetsTables(t *testing.T) {
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
				t.Errorf("README %q became %q; want the beginning %q, and %q in it", c.oldText, updatedReadme, c.want, want)
			}
		}
		if strings.HasSuffix(c.oldText, "\nz\n") && !strings.HasSuffix(string(updatedReadme), tablesEnd+"\nz\n") {
			t.Errorf("README %q became %q; want the author's last line after the tables", c.oldText, updatedReadme)
		}
	}
	writePluginFile(t, b.sourceDir, readmeFile, tablesBegin+"\nno end")
	if _, _, err := b.readmeTexts(); err == nil || !strings.Contains(err.Error(), tablesEnd) {
		t.Errorf("README without an end marker: got the error %v; want an error that contains %q", err, tablesEnd)
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
	if _, err := UpdateReadme(t.Context(), dir, false, childBuildOptions); err == nil {
		t.Error("UpdateReadme wrote through the link; want an error")
	}
	if fileContent, err := os.ReadFile(otherFile); err != nil || string(fileContent) != "other" {
		t.Errorf("the target of the link contains %q, error %v; want %q", fileContent, err, "other")
	}
}
