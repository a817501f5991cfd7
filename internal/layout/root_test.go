package layout

import "testing"

// Each test calls changeToRepositoryRoot. If TestMain changed the directory, go test would not detect which files the tests
// read, and would cache wrong results.
func changeToRepositoryRoot(t *testing.T) {
	t.Helper()
	t.Chdir("../..")
}
