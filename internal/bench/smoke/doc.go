// Package smoke compares measurements of `make bench-smoke` with the values that were
// measured last and are stored in a file of the repository. A value that became worse by
// more than its tolerance is a [Loss]. For all rows, less is better.
package smoke
