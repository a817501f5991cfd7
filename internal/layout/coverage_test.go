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
// requirement. TestDocumentReferences checks that the code and the Go tests that docs/coverage.md names exist.
func TestCoverageDocNamesCodeAndTests(t *testing.T) {
	changeToRepositoryRoot(t)
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
			t.Errorf("%s:%d: the table row has %d cells, want 3: statement, where, shown by", coverageDoc, i+1, len(cells))
			continue
		}
		if reason, differsByDesign := strings.CutPrefix(cells[1], "Different: "); differsByDesign {
			if len(reason) < 20 {
				t.Errorf("%s:%d: the reason for the difference has fewer than 20 characters; explain the difference", coverageDoc, i+1)
			}
			continue
		}
		if !referencePattern.MatchString(cells[1]) {
			t.Errorf("%s:%d: the cell \"where\" has no reference such as `file:Symbol`, and no \"Different: why\"; write one of them", coverageDoc, i+1)
		}
		tests := testReference.FindAllStringSubmatch(cells[2], -1)
		if len(tests) == 0 {
			t.Errorf("%s:%d: the cell \"shown by\" refers to no test; name one", coverageDoc, i+1)
		}
		for _, m := range tests {
			checkTestReference(t, i+1, m)
		}
	}
	if rowCount < 150 {
		t.Errorf("%s has %d rows, want at least 150, because the requirements have more statements", coverageDoc, rowCount)
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
		t.Errorf("%s:%d: the test file cannot be read: %v", coverageDoc, line, err)
	} else if title != "" && !strings.Contains(string(sourceCode), title) {
		t.Errorf("%s:%d: the file %s contains no test %q", coverageDoc, line, file, title)
	}
}
