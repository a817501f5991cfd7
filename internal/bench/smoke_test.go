package main

import (
	"context"
	"slices"
	"testing"

	"opentabs/internal/bench/smoke"
)

// TestSmokeFileMatchesMeasuredRows checks that the file smoke.json contains every row of `make bench-smoke`
// with its current description, unit and tolerance.
func TestSmokeFileMatchesMeasuredRows(t *testing.T) {
	rows, err := smoke.Read("smoke.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []smoke.Row
	for _, smokeGroup := range smokeGroups {
		want = append(want, smokeGroup.rows...)
	}
	for i := range rows {
		if rows[i].Value <= 0 || rows[i].Date == "" {
			t.Errorf("stored row %s: value %v, date %q; want a positive value and a date", rows[i].ID, rows[i].Value, rows[i].Date)
		}
		rows[i].Value, rows[i].Date = 0, ""
	}
	if !slices.Equal(rows, want) {
		t.Errorf("smoke.json has the rows\n%v\nwant\n%v\nRun `make bench-smoke UPDATE=1`.", rows, want)
	}
}

// TestWorseValueIsMeasuredAgain checks that a row fails only if every attempt is worse than the
// stored value, because other programs on the machine can slow down one attempt.
func TestWorseValueIsMeasuredAgain(t *testing.T) {
	lastRows := []smoke.Row{{ID: "ratio", Value: 1, Tolerance: 0.1}}
	for _, c := range []struct {
		measuredValues []float64
		want           float64
		wantAttempts   int
	}{
		{[]float64{1.05}, 1.05, 1},
		{[]float64{3, 1.02}, 1.02, 2},
		{[]float64{3, 2, 4}, 2, 3},
	} {
		attempts := 0
		group := smokeGroup{rows: []smoke.Row{{ID: "ratio"}}, measure: func(context.Context, string) ([]float64, error) {
			attempts++
			return []float64{c.measuredValues[attempts-1]}, nil
		}}
		rows, err := measureSmokeGroup(t.Context(), group, lastRows)
		if err != nil || rows[0].Value != c.want || attempts != c.wantAttempts {
			t.Errorf("measurements %v: got the rows %v after %d attempts, error %v; want the value %v after %d attempts", c.measuredValues, rows, attempts, err, c.want, c.wantAttempts)
		}
	}
}
