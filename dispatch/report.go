package dispatch

import (
	"math"

	"opentabs/wire"
)

// epsilon is how far progress may exceed total, relative to total, and still
// be taken for rounding.
const epsilon = 1e-9

// smallest is the least number that is not taken for 0. Steps of a millionth of
// it are still far from denormal numbers.
const smallest = 1e-280

// numbers are the numbers of a report after rule 2 of design section 6.
type numbers struct {
	progress, total, loaded          float64
	hasProgress, hasTotal, hasLoaded bool
}

// final reports whether the work is done by its own count.
func (n numbers) final() bool { return n.hasProgress && n.hasTotal && n.progress == n.total }

// numbersOf returns the numbers of r, short forms resolved: percent stands for
// progress with a total of 100, loaded for progress where there is none. It
// reports false, and no numbers, if one of them is not finite, is negative, or
// if progress is greater than total.
func numbersOf(r *wire.Report) (numbers, bool) {
	var n numbers
	if r.Invalid {
		return n, false
	}
	for _, f := range [...]*float64{r.Progress, r.Total, r.Percent, r.Loaded} {
		if f != nil && (math.IsNaN(*f) || math.IsInf(*f, 0) || *f < 0) {
			return n, false
		}
	}
	set := func(f *float64, v *float64, has *bool) {
		if f != nil {
			*v, *has = *f, true
			if *v < smallest {
				*v = 0
			}
		}
	}
	set(r.Progress, &n.progress, &n.hasProgress)
	set(r.Total, &n.total, &n.hasTotal)
	set(r.Loaded, &n.loaded, &n.hasLoaded)
	switch {
	case n.hasProgress:
	case r.Percent != nil:
		set(r.Percent, &n.progress, &n.hasProgress)
		n.total, n.hasTotal = 100, true
	case n.hasLoaded:
		n.progress, n.hasProgress = n.loaded, true
	}
	if n.hasProgress && n.hasTotal && n.progress > n.total {
		if n.progress-n.total > n.total*epsilon {
			return numbers{}, false
		}
		n.progress = n.total
	}
	return n, true
}
