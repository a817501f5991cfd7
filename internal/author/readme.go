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

// The lines of README.md between which the tables stand. The rest is the
// author's.
const (
	tablesBegin = "<!-- opentabs plugin readme: begin (what is below is made from the plugin) -->"
	tablesEnd   = "<!-- opentabs plugin readme: end -->"
)

// Readme brings the tables of tools, prompts and settings in the plugin's
// README.md up to date: those between two marked lines, or at its end if the
// lines are not there. It makes the file if there is none. With check nothing is
// written. It reports whether the file was, or would be, changed. The error is a
// *jsbuild.BuildError if the plugin can't be built.
func Readme(ctx context.Context, dir string, check bool, o jsbuild.Options) (bool, error) {
	b, drop, err := buildAside(ctx, dir, o)
	if err != nil {
		return false, err
	}
	defer drop()
	old, fresh, err := b.readme()
	if err != nil || bytes.Equal(old, fresh) {
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
	if err := root.WriteFile(readmeFile, fresh, 0o644); err != nil {
		return false, fmt.Errorf("write the README: %w", err)
	}
	return true, nil
}

// readme returns what README.md holds, and what it should hold.
func (b *built) readme() (old, fresh []byte, err error) {
	old, err = os.ReadFile(filepath.Join(b.source, readmeFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("read the README: %w", err)
	}
	tables := tablesBegin + "\n\n" + tablesOf(b.Plugin) + "\n" + tablesEnd
	if len(old) == 0 {
		return old, fmt.Appendf(nil, "# %s\n\n%s\n\n%s\n", oneLine(b.DisplayName), oneLine(b.Description), tables), nil
	}
	text := string(old)
	begin := strings.Index(text, tablesBegin)
	if begin < 0 {
		return old, []byte(strings.TrimRight(text, "\n") + "\n\n" + tables + "\n"), nil
	}
	end := strings.Index(text[begin:], tablesEnd)
	if end < 0 {
		return nil, nil, fmt.Errorf("%s has the line %q but not %q after it; add that line below the tables, or take the first one out", readmeFile, tablesBegin, tablesEnd)
	}
	return old, []byte(text[:begin] + tables + text[begin+end+len(tablesEnd):]), nil
}

// tablesOf are the tables of one plugin, in Markdown.
func tablesOf(p *plugin.Plugin) string {
	var b strings.Builder
	b.WriteString("| tool | does | |\n|---|---|---|\n")
	for _, t := range p.Tools {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", t.Name, cell(t.Description), hintOf(t.Annotations))
	}
	if len(p.Prompts) > 0 {
		b.WriteString("\n| prompt | does |\n|---|---|\n")
	}
	for _, prompt := range p.Prompts {
		fmt.Fprintf(&b, "| `%s` | %s |\n", prompt.Name, cell(prompt.Description))
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
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Key, kind, cell(about))
	}
	return b.String()
}

// cell writes a text into a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(oneLine(text))
}

// hintOf says what a tool does to the site, if its author says so.
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
