package layout

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// coverageDoc is the document that maps each product requirement to code and tests.
const coverageDoc = "docs/coverage.md"

// testReference matches a reference to a test in backticks: `file_test.go:TestName`,
// `file.test.ts` "title", or `script.txtar`.
var testReference = regexp.MustCompile("`([A-Za-z0-9_./-]+_test\\.go:(?:Test|Benchmark)[A-Za-z0-9_]+)`|`([A-Za-z0-9_./-]+\\.test\\.tsx?)` \"([^\"|]+)\"|`([A-Za-z0-9_./-]+\\.txtar)`")

// Each row of the table of product requirements must name code and a test, or explain why the product differs from the
// requirement. TestReferences checks that the code and the Go tests that docs/coverage.md names exist.
func TestCoverage(t *testing.T) {
	changeToRoot(t)
	fileContent, err := os.ReadFile(coverageDoc)
	if err != nil {
		t.Fatal(err)
	}
	rowCount, isInTable := 0, false
	for i, line := range strings.Split(string(fileContent), "\n") {
		isInTable = isInTable || strings.HasPrefix(line, "## ")
		if !isInTable || !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| statement |") || strings.HasPrefix(line, "|---") {
			continue
		}
		rowCount++
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 3 {
			t.Errorf("%s:%d: %d cells, want statement, where, shown by", coverageDoc, i+1, len(cells))
			continue
		}
		if reason, different := strings.CutPrefix(cells[1], "Different: "); different {
			if len(reason) < 20 {
				t.Errorf("%s:%d: give the reason for the difference", coverageDoc, i+1)
			}
			continue
		}
		if !referencePattern.MatchString(cells[1]) {
			t.Errorf("%s:%d: no place in the code, as `file:Symbol`, and no \"Different: why\"", coverageDoc, i+1)
		}
		tests := testReference.FindAllStringSubmatch(cells[2], -1)
		if len(tests) == 0 {
			t.Errorf("%s:%d: no test", coverageDoc, i+1)
		}
		for _, m := range tests {
			checkTestReference(t, i+1, m)
		}
	}
	if rowCount < 150 {
		t.Errorf("%s has %d rows; the five documents have more statements than that", coverageDoc, rowCount)
	}
}

func checkTestReference(t *testing.T, line int, m []string) {
	t.Helper()
	file, title := m[2], m[3]
	if m[4] != "" {
		file = m[4]
	}
	if file == "" {
		return
	}
	sourceCode, err := os.ReadFile(file)
	if err != nil {
		t.Errorf("%s:%d: %v", coverageDoc, line, err)
	} else if title != "" && !strings.Contains(string(sourceCode), title) {
		t.Errorf("%s:%d: %s has no test %q", coverageDoc, line, file, title)
	}
}
