// Package layout tests the conventions of this repository. The package contains only
// tests, which read source files and documents. Exceptions from a convention are entries
// in a table, each with a reason.
//
//   - imports_test.go: which packages and libraries each package may import
//   - habits_test.go: sizes of files and functions, names, mutexes, printing, tests
//   - budgets_test.go: sizes of packages, and methods per type
//   - exported_test.go: exported names that no other package uses
//   - framefields_test.go: JSON names of message frames outside package wire
//   - words_test.go: banned words and the terms to use instead
//   - typescript_test.go: conventions of TypeScript code, and lint settings
//   - primordials_test.go: code that must not look up built-ins while a page runs
//   - documents_test.go: links, references and code excerpts in documents
//   - coverage_test.go: docs/coverage.md
package layout
