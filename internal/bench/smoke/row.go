package smoke

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Row is one number that `make bench-smoke` measures, such as the allocations of a call.
type Row struct {
	// ID is the unique name of the row. The field Description describes the measurement for
	// developers.
	ID          string `json:"id"`
	Description string `json:"what"`
	// Value is the measured number, such as 113 for 113 allocations. Unit is the unit of
	// Value, such as "MB" or "x"; empty for counts.
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Tolerance is how far a new measurement may be above the stored value, in the unit of
	// Value.
	Tolerance float64 `json:"tolerance"`
	// Date is the day on which the stored value was measured, such as 2026-11-23.
	Date string `json:"date,omitempty"`
}

// roundingError is a tolerance for floating-point errors, smaller than any real difference
// between two measurements.
const roundingError = 1e-9

func (r Row) isWorse(rowValue float64) bool { return rowValue > r.Value+r.Tolerance+roundingError }

func (r Row) isImprovedBy(rowValue float64) bool { return rowValue < r.Value-r.Tolerance-roundingError }

// IsWorse reports whether a new measurement of a row exceeds the row's stored value by
// more than the tolerance. If the row has no stored value, IsWorse returns false.
func IsWorse(lastRows []Row, measuredRow Row) bool {
	smokeRow, ok := find(lastRows, measuredRow.ID)
	return ok && smokeRow.isWorse(measuredRow.Value)
}

// Regression is a row of `make bench-smoke` whose new value exceeds the stored value by more
// than the tolerance.
type Regression struct {
	LastRow Row
	// Value is the value of the new measurement.
	Value float64
	// Commits is the range of commits that may have caused the loss; see [CommitsSince].
	Commits string
}

func (l Regression) String() string {
	return fmt.Sprintf(`row %q is worse than its last value
  what        %s
  last value  %s (%s)
  new value   %s
  tolerance   %s
  commits     %s`,
		l.LastRow.ID, l.LastRow.Description, format(l.LastRow.Value, l.LastRow.Unit), l.LastRow.Date, format(l.Value, l.LastRow.Unit),
		format(l.LastRow.Tolerance, l.LastRow.Unit), l.Commits)
}

// Result is the result of the comparison of new measurements with the stored values.
type Result struct {
	Regressions []Regression
	// The field Improvements contains the rows whose new value is better than the stored value
	// by more than the tolerance.
	Improvements []Row
	// The field UnknownRowIDs contains the IDs of measured rows without a stored value. The
	// field UnmeasuredRowIDs contains the IDs of rows that have a stored value but were not
	// measured.
	UnknownRowIDs, UnmeasuredRowIDs []string
}

// Compare compares new measurements with the stored values. For the ID of a row, the
// function commitsSince returns the commits made after the row's value was stored.
func Compare(lastRows, measuredRows []Row, commitsSince func(id string) string) Result {
	var callResult Result
	for _, smokeRow := range measuredRows {
		lastRow, ok := find(lastRows, smokeRow.ID)
		switch {
		case !ok:
			callResult.UnknownRowIDs = append(callResult.UnknownRowIDs, smokeRow.ID)
		case lastRow.isWorse(smokeRow.Value):
			callResult.Regressions = append(callResult.Regressions, Regression{LastRow: lastRow, Value: smokeRow.Value, Commits: commitsSince(smokeRow.ID)})
		case lastRow.isImprovedBy(smokeRow.Value):
			callResult.Improvements = append(callResult.Improvements, smokeRow)
		}
	}
	for _, smokeRow := range lastRows {
		if _, ok := find(measuredRows, smokeRow.ID); !ok {
			callResult.UnmeasuredRowIDs = append(callResult.UnmeasuredRowIDs, smokeRow.ID)
		}
	}
	return callResult
}

// Err returns an error that lists every [Regression], every row without a stored value, and
// every stored row that was not measured. If the measurements match the stored values,
// Err returns nil.
func (r Result) Err() error {
	var lines []string
	for _, regression := range r.Regressions {
		lines = append(lines, regression.String())
	}
	if len(r.Regressions) > 0 {
		lines = append(lines, "Find the commit and remove the cost. If the cost is justified, run `make bench-smoke UPDATE=1` and give the reason in the commit message.")
	}
	if len(r.UnknownRowIDs) > 0 {
		lines = append(lines, "No last value is stored for "+strings.Join(r.UnknownRowIDs, ", ")+". Run `make bench-smoke UPDATE=1`.")
	}
	if len(r.UnmeasuredRowIDs) > 0 {
		lines = append(lines, "A last value is stored for "+strings.Join(r.UnmeasuredRowIDs, ", ")+", but nothing was measured. Run `make bench-smoke UPDATE=1`.")
	}
	if lines == nil {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(lines, "\n"))
}

// Update returns the rows to store after a measurement on the given date. A row keeps its
// stored value if the new value differs by at most half of the tolerance, so that noise
// does not change the file.
func Update(lastRows, measuredRows []Row, date string) []Row {
	updatedRows := make([]Row, 0, len(measuredRows))
	for _, smokeRow := range measuredRows {
		smokeRow.Date = date
		if lastRow, ok := find(lastRows, smokeRow.ID); ok && math.Abs(smokeRow.Value-lastRow.Value) <= smokeRow.Tolerance/2 {
			smokeRow.Value, smokeRow.Date = lastRow.Value, lastRow.Date
		}
		updatedRows = append(updatedRows, smokeRow)
	}
	return updatedRows
}

// Table formats the rows as a text table with the stored value, the new value and the
// tolerance of each row.
func Table(lastRows, measuredRows []Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s %12s %12s %12s  %s\n", "row", "last", "new", "tolerance", "what")
	for _, smokeRow := range measuredRows {
		lastValue := "-"
		if lastRow, ok := find(lastRows, smokeRow.ID); ok {
			lastValue = format(lastRow.Value, smokeRow.Unit)
		}
		fmt.Fprintf(&b, "%-16s %12s %12s %12s  %s\n", smokeRow.ID, lastValue, format(smokeRow.Value, smokeRow.Unit), format(smokeRow.Tolerance, smokeRow.Unit), smokeRow.Description)
	}
	return b.String()
}

func find(rows []Row, id string) (Row, bool) {
	for _, smokeRow := range rows {
		if smokeRow.ID == id {
			return smokeRow, true
		}
	}
	return Row{}, false
}

func format(rowValue float64, unit string) string {
	formattedValue := strconv.FormatFloat(rowValue, 'f', -1, 64)
	if unit == "" {
		return formattedValue
	}
	return formattedValue + " " + unit
}
