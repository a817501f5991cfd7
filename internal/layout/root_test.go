package layout

import "testing"

// changeToRoot changes the working directory of a test to the root of the repository.
// TestMain cannot change the directory: go test would not detect which files the tests
// read, and would return cached results for changed files.
func changeToRoot(t *testing.T) {
	t.Helper()
	t.Chdir("../..")
}
