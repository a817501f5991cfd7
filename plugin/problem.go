package plugin

import (
	"fmt"
	"strings"

	"opentabs/internal/jsonread"
)

// listedProblems is how many problems a [PackageError] spells out.
const listedProblems = 20

// PackageError says everything that is wrong with a package, so that its author
// can mend it in one go.
type PackageError struct {
	// Dir is the package's folder.
	Dir string
	// Problems has at least one element, in the order they were found.
	Problems []jsonread.Problem
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
