package layout

import "testing"

// TestMain cannot change the directory: go test would not detect which files the tests read, and would cache wrong
// results.
func changeToRoot(t *testing.T) {
	t.Helper()
	t.Chdir("../..")
}
