package plugin

import (
	"fmt"
	"strings"
)

// listedProblems is how many problems a [PackageError] spells out.
const listedProblems = 20

// PackageError says everything that is wrong with a package, so that its author
// can mend it in one go.
type PackageError struct {
	// Dir is the package's folder.
	Dir string
	// Problems has at least one element, in the order they were found.
	Problems []Problem
}

// Problem is one thing that is wrong.
type Problem struct {
	// File is relative to the package's folder; empty for the folder itself.
	File string
	// Text says what is wrong and what to do about it.
	Text string
}

func (p Problem) String() string {
	if p.File == "" {
		return p.Text
	}
	return p.File + ": " + p.Text
}

// Error names the folder and lists the problems.
func (e *PackageError) Error() string {
	if len(e.Problems) == 1 {
		return fmt.Sprintf("plugin in %s: %s", e.Dir, e.Problems[0])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "plugin in %s has %d problems:", e.Dir, len(e.Problems))
	for i, p := range e.Problems {
		if i == listedProblems {
			fmt.Fprintf(&b, "\n- and %d more", len(e.Problems)-i)
			break
		}
		fmt.Fprintf(&b, "\n- %s", p)
	}
	return b.String()
}

// problems collects what is wrong with one file.
type problems struct {
	file string
	list []Problem
}

func (p *problems) add(format string, args ...any) {
	p.list = append(p.list, Problem{File: p.file, Text: fmt.Sprintf(format, args...)})
}
