// Package smoke compares the measurements of `make bench-smoke` with values from a file
// in the repository. A measurement that exceeds the stored value by more than its
// tolerance is a [Regression]. For all rows of `make bench-smoke`, a lower value is better.
package smoke
