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

// The lines of README.md that enclose the tables. The author writes the rest.
const (
	tablesBegin = "<!-- opentabs plugin readme: begin (what is below is made from the plugin) -->"
	tablesEnd   = "<!-- opentabs plugin readme: end -->"
)

// UpdateReadme updates the tables of tools, prompts and settings in the plugin's
// README.md. The tables are between two marker lines, which UpdateReadme appends if
// they are missing. UpdateReadme creates the file if there is none. UpdateReadme
// reports whether the file changed. With check, UpdateReadme writes nothing and reports
// whether the file would change. The error is a *jsbuild.BuildError if the plugin can't
// be built.
func UpdateReadme(ctx context.Context, dir string, check bool, o jsbuild.Options) (bool, error) {
	b, remove, err := buildTemporary(ctx, dir, o)
	if err != nil {
		return false, err
	}
	defer remove()
	current, updated, err := b.readmeTexts()
	if err != nil || bytes.Equal(current, updated) {
		return false, err
	}
	if check {
		return true, nil
	}
	root, err := os.OpenRoot(b.source)
	if err != nil {
		return false, fmt.Errorf("open the plugin's directory: %w", err)
	}
	defer root.Close()
	if err := root.WriteFile(readmeFile, updated, 0o644); err != nil {
		return false, fmt.Errorf("write the README: %w", err)
	}
	return true, nil
}

// readmeTexts returns the current content of README.md, and the content with updated tables.
func (b *tempBuild) readmeTexts() (current, updated []byte, err error) {
	current, err = os.ReadFile(filepath.Join(b.source, readmeFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("read the README: %w", err)
	}
	tables := tablesBegin + "\n\n" + tablesOf(b.Plugin) + "\n" + tablesEnd
	if len(current) == 0 {
		return current, fmt.Appendf(nil, "# %s\n\n%s\n\n%s\n", oneLine(b.DisplayName), oneLine(b.Description), tables), nil
	}
	text := string(current)
	begin := strings.Index(text, tablesBegin)
	if begin < 0 {
		return current, []byte(strings.TrimRight(text, "\n") + "\n\n" + tables + "\n"), nil
	}
	end := strings.Index(text[begin:], tablesEnd)
	if end < 0 {
		return nil, nil, fmt.Errorf("%s has the line %q but not %q after it; add that line below the tables, or remove the first one", readmeFile, tablesBegin, tablesEnd)
	}
	return current, []byte(text[:begin] + tables + text[begin+end+len(tablesEnd):]), nil
}

// tablesOf returns the tables of a plugin, in Markdown.
func tablesOf(p *plugin.Plugin) string {
	var b strings.Builder
	b.WriteString("| tool | does | |\n|---|---|---|\n")
	for _, t := range p.Tools {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", t.Name, escapeCell(t.Description), hintOf(t.Annotations))
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
		about := s.Label
		if s.Description != "" {
			about += ": " + s.Description
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Key, kind, escapeCell(about))
	}
	return b.String()
}

// escapeCell escapes a text for the cell of a table.
func escapeCell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(oneLine(text))
}

// hintOf returns the effect of a tool on the site by its annotations; "" without any.
func hintOf(a plugin.Annotations) string {
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
