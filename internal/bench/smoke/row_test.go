package smoke

import (
	"strings"
	"testing"
)

var fakeRows = []Row{
	{ID: "allocs", Description: "allocations of a call", Value: 30, Tolerance: 2, Date: "2026-11-23"},
	{ID: "ratio", Description: "time of a call, as a multiple of an echo", Value: 1.43, Unit: "x", Tolerance: 0.25, Date: "2026-11-22"},
	{ID: "bytes", Description: "bytes of a frame", Value: 242, Unit: "B", Tolerance: 10, Date: "2026-11-21"},
}

func measure(measuredValues ...float64) []Row {
	rows := make([]Row, 0, len(measuredValues))
	for i, rowValue := range measuredValues {
		smokeRow := fakeRows[i]
		smokeRow.Value, smokeRow.Date = rowValue, ""
		rows = append(rows, smokeRow)
	}
	return rows
}

func fakeCommits(id string) string { return "abc1234..def5678 (" + id + ")" }

func TestRegressionNamesCommits(t *testing.T) {
	err := Compare(fakeRows, measure(35, 1.5, 292), fakeCommits).Err()
	if err == nil {
		t.Fatal("Err returned nil for two rows that got worse; want an error")
	}
	const want = `row "allocs" is worse than its last value
  what        allocations of a call
  last value  30 (2026-11-23)
  new value   35
  tolerance   2
  commits     abc1234..def5678 (allocs)
row "bytes" is worse than its last value
  what        bytes of a frame
  last value  242 B (2026-11-21)
  new value   292 B
  tolerance   10 B
  commits     abc1234..def5678 (bytes)
Find the commit and remove the cost. If the cost is justified, run ` + "`make bench-smoke UPDATE=1`" + ` and give the reason in the commit message.`
	if err.Error() != want {
		t.Errorf("the error is:\n%v\nwant:\n%s", err, want)
	}
}

func TestValuesWithinToleranceAreNoRegression(t *testing.T) {
	callResult := Compare(fakeRows, measure(32, 1.68, 232), fakeCommits)
	if err := callResult.Err(); err != nil || len(callResult.Improvements) > 0 {
		t.Errorf("values within the tolerance: error %v, %d gains; want no error and no gains", err, len(callResult.Improvements))
	}
}

func TestImprovementIsNoError(t *testing.T) {
	callResult := Compare(fakeRows, measure(20, 1.43, 242), fakeCommits)
	if err := callResult.Err(); err != nil || len(callResult.Improvements) != 1 || callResult.Improvements[0].ID != "allocs" {
		t.Errorf("lower value of allocs: error %v, gains %v; want no error and one gain of allocs", err, callResult.Improvements)
	}
}

func TestUnmatchedRowIsAnError(t *testing.T) {
	unknownRowError := Compare(fakeRows[:2], measure(30, 1.43, 242), fakeCommits).Err()
	if unknownRowError == nil || !strings.Contains(unknownRowError.Error(), "No last value is stored for bytes. Run `make bench-smoke UPDATE=1`.") {
		t.Errorf("error for the measured row bytes without a stored value = %v; want advice to run `make bench-smoke UPDATE=1`", unknownRowError)
	}
	unmeasuredErr := Compare(fakeRows, measure(30, 1.43), fakeCommits).Err()
	if unmeasuredErr == nil || !strings.Contains(unmeasuredErr.Error(), "A last value is stored for bytes, but nothing was measured.") {
		t.Errorf("error for the stored row bytes without a measurement = %v; want an error that reports the missing measurement", unmeasuredErr)
	}
}

func TestUpdateIgnoresNoise(t *testing.T) {
	got := Update(fakeRows, measure(31, 1.2, 246), "2026-12-01")
	want := []struct {
		rowValue float64
		date     string
	}{{30, "2026-11-23"}, {1.2, "2026-12-01"}, {242, "2026-11-21"}}
	for i, smokeRow := range got {
		if smokeRow.Value != want[i].rowValue || smokeRow.Date != want[i].date {
			t.Errorf("updated row %s: value %v, date %s; want value %v, date %s", smokeRow.ID, smokeRow.Value, smokeRow.Date, want[i].rowValue, want[i].date)
		}
	}
}

// TestUpdateStoresExactValues checks that Update always stores the new value of a row whose
// tolerance is 0.
func TestUpdateStoresExactValues(t *testing.T) {
	lastRows := []Row{{ID: "count", Value: 3, Date: "2026-11-23"}}
	got := Update(lastRows, []Row{{ID: "count", Value: 2}}, "2026-12-01")
	if got[0].Value != 2 || got[0].Date != "2026-12-01" {
		t.Errorf("updated row = %v; want the value 2 and the date 2026-12-01", got[0])
	}
}
