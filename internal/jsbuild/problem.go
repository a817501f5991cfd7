package jsbuild

import (
	"fmt"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"opentabs/internal/lazyregexp"
)

// Problem is one defect of a plugin, with the action for its author.
type Problem struct {
	// Location is a file of the plugin, with line and column if available, such as
	// "src/a.ts:3:7". The field Location is empty if the place of the defect is unknown.
	Location string
	Text     string
	// Line is the line of source code at Location; Line may be empty.
	Line string
}

// String returns the problem in the form that the terminal shows.
func (p Problem) String() string {
	errorMessage := p.Text
	if p.Location != "" {
		errorMessage = p.Location + ": " + errorMessage
	}
	if line := strings.TrimSpace(p.Line); line != "" {
		errorMessage += "\n      " + line
	}
	return errorMessage
}

// BuildError is the error of a failed build of a plugin; it lists the problems.
type BuildError struct {
	// Dir is the plugin's directory.
	Dir      string
	Problems []Problem
}

// Error lists the problems of the plugin, one per line.
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

// noExportPattern matches esbuild's error message about an import of a name that the SDK
// does not export.
var noExportPattern = lazyregexp.New(`^No matching export in "opentabs:sdk/src/(?:index|pre-script)\.ts" for import "(.*)"$`)

var missingExports = map[string]string{
	"definePreScript": `definePreScript is in the entry "@opentabs/sdk/pre-script"; import it from there`,
	"defineResource":  "plugins have no resources; turn each resource into a tool with defineTool, whose handle returns the result of read",
}

func explainMissingExport(errorMessage string) string {
	regexpMatch := noExportPattern().FindStringSubmatch(errorMessage)
	if regexpMatch == nil {
		return errorMessage
	}
	if advice, ok := missingExports[regexpMatch[1]]; ok {
		return advice
	}
	return "this version of the SDK has no " + regexpMatch[1] + "; remove the import (docs/plugins.md lists all exports)"
}

// explainEsbuildNote replaces esbuild's notes that advise the author to set esbuild options,
// because authors cannot set them.
func explainEsbuildNote(errorMessage string) string {
	switch {
	case strings.Contains(errorMessage, "PlatformNode"):
		return "this is a module of Node, which a page does not have; use what browsers offer"
	case strings.Contains(errorMessage, "as external to exclude it"):
		return "if it is a package, install it with npm in the plugin's directory"
	}
	return strings.TrimSuffix(errorMessage, ".")
}

func problemsFromEsbuild(messages []api.Message) []Problem {
	problems := make([]Problem, 0, len(messages))
	for _, m := range messages {
		p := Problem{Text: explainMissingExport(m.Text)}
		if location := m.Location; location != nil {
			p.Location = fmt.Sprintf("%s:%d:%d", location.File, location.Line, location.Column+1)
			p.Line = location.LineText
		}
		for _, note := range m.Notes {
			p.Text += "; " + explainEsbuildNote(note.Text)
		}
		problems = append(problems, p)
	}
	return problems
}
