// Package layout tests the conventions of this repository. Package layout contains only
// tests, which read source files and documents. Exceptions from a convention are entries
// in a table, each with a reason.
//
// The files imports_test.go, habits_test.go, budgets_test.go and exported_test.go check
// Go code. The file framefields_test.go checks that only package wire contains JSON names
// of message frames. TypeScript code is checked by typescript_test.go and
// primordials_test.go. Banned words are listed in words_test.go. Documents are checked by
// documents_test.go and coverage_test.go.
package layout
