// Package layout tests the conventions of this repository. Package layout contains only tests, which read source files
// and documents. Exceptions from a convention are entries in a table, each with a reason.
package layout
