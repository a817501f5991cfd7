package author

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"opentabs/internal/jsbuild"
	"opentabs/plugin"
)

const readmeFile = "README.md"

const (
	tablesBegin = "<!-- opentabs plugin readme: begin (what is below is made from the plugin) -->"
	tablesEnd   = "<!-- opentabs plugin readme: end -->"
)

// UpdateReadme updates the tables of tools, prompts and settings in the plugin's
// README.md. The tables in README.md are between two marker lines. If the marker lines or
// README.md are missing, UpdateReadme creates them. UpdateReadme returns true if it
// changed README.md. If isCheckOnly is true, UpdateReadme writes nothing and reports
// whether README.md would change. If the plugin's source does not compile, the error is a
// *jsbuild.BuildError.
func UpdateReadme(ctx context.Context, dir string, isCheckOnly bool, o jsbuild.Options) (bool, error) {
	b, removeBuild, err := buildTemporary(ctx, dir, o)
	if err != nil {
		return false, err
	}
	defer removeBuild()
	currentText, updatedText, err := b.readmeTexts()
	if err != nil || bytes.Equal(currentText, updatedText) {
		return false, err
	}
	if isCheckOnly {
		return true, nil
	}
	root, err := os.OpenRoot(b.sourceDir)
	if err != nil {
		return false, fmt.Errorf("open the plugin's directory: %w", err)
	}
	defer root.Close()
	if err := root.WriteFile(readmeFile, updatedText, 0o644); err != nil {
		return false, fmt.Errorf("write the README: %w", err)
	}
	return true, nil
}

func (b *tempBuild) readmeTexts() (currentText, updatedText []byte, err error) {
	currentText, err = os.ReadFile(filepath.Join(b.sourceDir, readmeFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("read the README: %w", err)
	}
	tablesText := tablesBegin + "\n\n" + formatPluginTables(b.Plugin) + "\n" + tablesEnd
	if len(currentText) == 0 {
		return currentText, fmt.Appendf(nil, "# %s\n\n%s\n\n%s\n", joinLines(b.DisplayName), joinLines(b.Description), tablesText), nil
	}
	readme := string(currentText)
	tablesStart := strings.Index(readme, tablesBegin)
	if tablesStart < 0 {
		return currentText, []byte(strings.TrimRight(readme, "\n") + "\n\n" + tablesText + "\n"), nil
	}
	tablesLength := strings.Index(readme[tablesStart:], tablesEnd)
	if tablesLength < 0 {
		return nil, nil, fmt.Errorf("%s has the line %q but not %q after it; add that line below the tables, or remove the first one", readmeFile, tablesBegin, tablesEnd)
	}
	return currentText, []byte(readme[:tablesStart] + tablesText + readme[tablesStart+tablesLength+len(tablesEnd):]), nil
}

func formatPluginTables(p *plugin.Plugin) string {
	var b strings.Builder
	b.WriteString("| tool | does | |\n|---|---|---|\n")
	for _, t := range p.Tools {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", t.Name, escapeCell(t.Description), formatHints(t.Annotations))
	}
	if len(p.Prompts) > 0 {
		b.WriteString("\n| prompt | does |\n|---|---|\n")
	}
	for _, prompt := range p.Prompts {
		fmt.Fprintf(&b, "| `%s` | %s |\n", prompt.Name, escapeCell(prompt.Description))
	}
	if len(p.Settings) > 0 {
		b.WriteString("\n| setting | type | is |\n|---|---|---|\n")
	}
	for _, s := range p.Settings {
		kind := string(s.Type)
		if s.Required {
			kind += ", required"
		}
		description := s.Label
		if s.Description != "" {
			description += ": " + s.Description
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Key, kind, escapeCell(description))
	}
	return b.String()
}

func escapeCell(cellText string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(joinLines(cellText))
}

func formatHints(a plugin.Annotations) string {
	switch {
	case a.ReadOnly != nil && *a.ReadOnly:
		return "reads"
	case a.Destructive != nil && *a.Destructive:
		return "may destroy"
	case a.ReadOnly != nil:
		return "changes"
	}
	return ""
}
