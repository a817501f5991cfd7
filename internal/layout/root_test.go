package layout

import "testing"

// changeToRoot runs a test in the root of the repository, so that every path in it is
// relative to the root. TestMain cannot change the directory: go test would not notice
// which files the tests read, and would return results of older files.
func changeToRoot(t *testing.T) {
	t.Helper()
	t.Chdir("../..")
}
