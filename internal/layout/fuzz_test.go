package layout

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// go test silently skips the stored inputs of a fuzz target that was renamed or moved.
func TestStoredFuzzInputsHaveTargets(t *testing.T) {
	changeToRepositoryRoot(t)
	checkedCount := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if entry.Name() == "node_modules" {
			return filepath.SkipDir
		}
		packageDir, target, ok := strings.Cut(filepath.ToSlash(path), "/testdata/fuzz/")
		if !ok {
			return nil
		}
		checkedCount++
		if !declaresTest(t, packageDir, target) {
			t.Errorf("%s: no test file of %s declares %s, want the folder beside its fuzz target", path, packageDir, target)
		}
		return nil
	})
	if err != nil || checkedCount < 15 {
		t.Errorf("%d folders with stored fuzz inputs were checked, error %v; want at least 15", checkedCount, err)
	}
}

func declaresTest(t *testing.T, packageDir, name string) bool {
	t.Helper()
	testFiles, err := filepath.Glob(filepath.Join(packageDir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range testFiles {
		sourceCode, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(sourceCode), "func "+name+"(") {
			return true
		}
	}
	return false
}
