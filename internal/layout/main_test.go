package layout

import (
	"fmt"
	"os"
	"testing"
)

// TestMain runs the tests in the root of the repository, so that every path in
// them is relative to the root.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, "layout:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
