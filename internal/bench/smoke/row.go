package smoke

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Row is one number that `make bench-smoke` measures, such as the allocations of a call.
type Row struct {
	// ID is the unique name of the row. The field What describes the measurement for
	// developers.
	ID   string `json:"id"`
	What string `json:"what"`
	// Value is the measured number, such as 113 for 113 allocations. Unit is the unit of
	// Value, such as "MB" or "x"; empty for counts.
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Tolerance is how far a new measurement may be above the stored value, in the unit
	// Unit.
	Tolerance float64 `json:"tolerance"`
	// Date is the day on which the stored value was measured, such as 2026-11-23.
	Date string `json:"date,omitempty"`
}

// roundingError is a tolerance for floating-point errors, smaller than any real difference
// between two measurements.
const roundingError = 1e-9

func (r Row) isWorse(value float64) bool { return value > r.Value+r.Tolerance+roundingError }

func (r Row) isBetter(value float64) bool { return value < r.Value-r.Tolerance-roundingError }

// IsWorse reports whether a new measurement of a row exceeds the row's stored value by
// more than the tolerance. If the row has no stored value, IsWorse returns false.
func IsWorse(last []Row, measured Row) bool {
	row, ok := find(last, measured.ID)
	return ok && row.isWorse(measured.Value)
}

// Loss is a row of `make bench-smoke` whose new value exceeds the stored value by more
// than the tolerance.
type Loss struct {
	Last Row
	// Value is the value of the new measurement.
	Value float64
	// Commits is the range of commits that may have caused the loss; see [CommitsSince].
	Commits string
}

func (l Loss) String() string {
	return fmt.Sprintf(`row %q is worse than its last value
  what        %s
  last value  %s (%s)
  new value   %s
  tolerance   %s
  commits     %s`,
		l.Last.ID, l.Last.What, format(l.Last.Value, l.Last.Unit), l.Last.Date, format(l.Value, l.Last.Unit),
		format(l.Last.Tolerance, l.Last.Unit), l.Commits)
}

// Result is the result of the comparison of new measurements with the stored values.
type Result struct {
	Losses []Loss
	// The field Gains contains the rows whose new value is better than the stored value
	// by more than the tolerance.
	Gains []Row
	// The field Unknown contains the IDs of measured rows without a stored value. The
	// field Unmeasured contains the IDs of rows that have a stored value but were not
	// measured.
	Unknown, Unmeasured []string
}

// Compare compares new measurements with the stored values. For the ID of a row, the
// function commitsSince returns the commits made after the row's value was stored.
func Compare(last, measured []Row, commitsSince func(id string) string) Result {
	var result Result
	for _, row := range measured {
		lastRow, ok := find(last, row.ID)
		switch {
		case !ok:
			result.Unknown = append(result.Unknown, row.ID)
		case lastRow.isWorse(row.Value):
			result.Losses = append(result.Losses, Loss{Last: lastRow, Value: row.Value, Commits: commitsSince(row.ID)})
		case lastRow.isBetter(row.Value):
			result.Gains = append(result.Gains, row)
		}
	}
	for _, row := range last {
		if _, ok := find(measured, row.ID); !ok {
			result.Unmeasured = append(result.Unmeasured, row.ID)
		}
	}
	return result
}

// Err returns an error that lists every [Loss], every row without a stored value, and
// every stored row that was not measured. If the measurements match the stored values,
// Err returns nil.
func (r Result) Err() error {
	var lines []string
	for _, loss := range r.Losses {
		lines = append(lines, loss.String())
	}
	if len(r.Losses) > 0 {
		lines = append(lines, "Find the commit and remove the cost. If the cost is justified, run `make bench-smoke UPDATE=1` and give the reason in the commit message.")
	}
	if len(r.Unknown) > 0 {
		lines = append(lines, "No last value is stored for "+strings.Join(r.Unknown, ", ")+". Run `make bench-smoke UPDATE=1`.")
	}
	if len(r.Unmeasured) > 0 {
		lines = append(lines, "A last value is stored for "+strings.Join(r.Unmeasured, ", ")+", but nothing was measured. Run `make bench-smoke UPDATE=1`.")
	}
	if lines == nil {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(lines, "\n"))
}

// Update returns the rows to store after a measurement on the given date. A row keeps its
// stored value if the new value differs by at most half of the tolerance, so that noise
// does not change the file.
func Update(last, measured []Row, date string) []Row {
	updated := make([]Row, 0, len(measured))
	for _, row := range measured {
		row.Date = date
		if lastRow, ok := find(last, row.ID); ok && math.Abs(row.Value-lastRow.Value) <= row.Tolerance/2 {
			row.Value, row.Date = lastRow.Value, lastRow.Date
		}
		updated = append(updated, row)
	}
	return updated
}

// Table formats the rows as a text table with the stored value, the new value and the
// tolerance of each row.
func Table(last, measured []Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s %12s %12s %12s  %s\n", "row", "last", "new", "tolerance", "what")
	for _, row := range measured {
		lastValue := "-"
		if lastRow, ok := find(last, row.ID); ok {
			lastValue = format(lastRow.Value, row.Unit)
		}
		fmt.Fprintf(&b, "%-16s %12s %12s %12s  %s\n", row.ID, lastValue, format(row.Value, row.Unit), format(row.Tolerance, row.Unit), row.What)
	}
	return b.String()
}

func find(rows []Row, id string) (Row, bool) {
	for _, row := range rows {
		if row.ID == id {
			return row, true
		}
	}
	return Row{}, false
}

func format(value float64, unit string) string {
	text := strconv.FormatFloat(value, 'f', -1, 64)
	if unit == "" {
		return text
	}
	return text + " " + unit
}
