// Package layout tests the rules of this repository. Package layout has tests only:
// each reads the sources and the documents. An exception from a rule is an entry in a
// table, with its reason.
//
//	imports_test.go      which package may import which package and library
//	habits_test.go       file and function sizes, names, mutexes, output, tests
//	budgets_test.go      package sizes and methods of a type
//	exported_test.go     exported names that no other package uses
//	framefields_test.go  field names of frames outside package wire
//	words_test.go        banned words and the terms to use instead
//	typescript_test.go   the same rules for TypeScript, and lint settings
//	primordials_test.go  code that must not look up built-ins while a page runs
//	documents_test.go    links, references and code excerpts in the documents
//	coverage_test.go     docs/coverage.md
package layout
