package jsbuild

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// Problem is one thing that is wrong with a plugin, and what to do about it.
type Problem struct {
	// Where is a file of the plugin, with line and column ("src/a.ts:3:7") if
	// they are known; empty if the problem has no place.
	Where string
	Text  string
	// Line is the line of source at Where; empty if it is not known.
	Line string
}

// String returns the problem as people read it.
func (p Problem) String() string {
	text := p.Text
	if p.Where != "" {
		text = p.Where + ": " + text
	}
	if line := strings.TrimSpace(p.Line); line != "" {
		text += "\n      " + line
	}
	return text
}

// BuildError says why a plugin can't be built: all that is known, not only the
// first.
type BuildError struct {
	// Dir is the plugin's directory.
	Dir      string
	Problems []Problem
}

// Error lists the problems, one a line.
func (e *BuildError) Error() string {
	var b strings.Builder
	noun := "problems"
	if len(e.Problems) == 1 {
		noun = "problem"
	}
	fmt.Fprintf(&b, "the plugin in %s has %d %s; fix what is listed and build again", e.Dir, len(e.Problems), noun)
	for _, p := range e.Problems {
		b.WriteString("\n  - " + p.String())
	}
	return b.String()
}

// noExport is what esbuild says of a name that the SDK does not have.
var noExport = regexp.MustCompile(`^No matching export in "opentabs:sdk/src/(?:index|pre-script)\.ts" for import "(.*)"$`)

// elsewhere says where to find what authors look for in the SDK and is not there.
var elsewhere = map[string]string{
	"definePreScript": `definePreScript is in the entry "@opentabs/sdk/pre-script"; import it from there`,
	"defineResource":  "plugins have no resources, agents read what tools return; make each resource a tool with defineTool, whose handle returns what read returned",
}

// sayNoExport says in the author's words what esbuild says of a missing name.
func sayNoExport(text string) string {
	found := noExport.FindStringSubmatch(text)
	if found == nil {
		return text
	}
	if advice, ok := elsewhere[found[1]]; ok {
		return advice
	}
	return "this version of the SDK has no " + found[1] + "; remove the import (docs/plugins.md lists what there is)"
}

// sayNote says in the author's words what esbuild advises: some of it is about
// options of esbuild, which the author does not have.
func sayNote(text string) string {
	switch {
	case strings.Contains(text, "PlatformNode"):
		return "it is a module of Node, which a page does not have; use what browsers offer"
	case strings.Contains(text, "as external to exclude it"):
		return "if it is a package, install it with npm in the plugin's directory"
	}
	return strings.TrimSuffix(text, ".")
}

// fromEsbuild turns esbuild's messages into problems.
func fromEsbuild(messages []api.Message) []Problem {
	problems := make([]Problem, 0, len(messages))
	for _, m := range messages {
		p := Problem{Text: sayNoExport(m.Text)}
		if at := m.Location; at != nil {
			p.Where = fmt.Sprintf("%s:%d:%d", at.File, at.Line, at.Column+1)
			p.Line = at.LineText
		}
		for _, note := range m.Notes {
			p.Text += "; " + sayNote(note.Text)
		}
		problems = append(problems, p)
	}
	return problems
}
