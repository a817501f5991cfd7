package progress

import (
	"math"

	"opentabs/wire"
)

// The constant relativeTolerance is how far rounding errors can raise a tool's progress above its
// total, as a fraction of the total.
const relativeTolerance = 1e-9

// minPositive is the smallest positive number that a progress report can contain; smaller numbers are rounded to 0. A
// millionth of minPositive is still far above the denormal floating-point numbers.
const minPositive = 1e-280

// Numbers are the valid numbers of a progress report.
type Numbers struct {
	Progress, Total, LoadedBytes          float64
	HasProgress, HasTotal, HasLoadedBytes bool
}

// IsFinal reports whether the progress equals the total, so that the report is a final
// report.
func (n Numbers) IsFinal() bool { return n.HasProgress && n.HasTotal && n.Progress == n.Total }

// NumbersOf validates and normalizes the numbers of a progress report. The field percent
// means progress with a total of 100, and the field loaded replaces a missing progress.
// NumbersOf returns false and no numbers if a number is negative or not finite, or if
// progress exceeds total.
func NumbersOf(r *wire.Report) (Numbers, bool) {
	var n Numbers
	if r.HasInvalidNumber {
		return n, false
	}
	for _, f := range [...]*float64{r.Progress, r.Total, r.Percent, r.Loaded} {
		if f != nil && (math.IsNaN(*f) || math.IsInf(*f, 0) || *f < 0) {
			return n, false
		}
	}
	setNumber := func(f *float64, v *float64, isSet *bool) {
		if f != nil {
			*v, *isSet = *f, true
			if *v < minPositive {
				*v = 0
			}
		}
	}
	setNumber(r.Progress, &n.Progress, &n.HasProgress)
	setNumber(r.Total, &n.Total, &n.HasTotal)
	setNumber(r.Loaded, &n.LoadedBytes, &n.HasLoadedBytes)
	switch {
	case n.HasProgress:
	case r.Percent != nil:
		setNumber(r.Percent, &n.Progress, &n.HasProgress)
		n.Total, n.HasTotal = 100, true
	case n.HasLoadedBytes:
		n.Progress, n.HasProgress = n.LoadedBytes, true
	}
	if n.HasProgress && n.HasTotal && n.Progress > n.Total {
		if n.Progress-n.Total > n.Total*relativeTolerance {
			return Numbers{}, false
		}
		n.Progress = n.Total
	}
	return n, true
}
