package progress

import "math"

// numberSequence chooses the progress of a notification if the tool has reported no number
// that can be sent. MCP requires that progress increases, so numberSequence adds a tiny step
// to the last number. The steps are tiny, so that the progress stays below the number that
// the tool reports next.
type numberSequence struct {
	lastSent float64 // the progress of the last sent notification
	stepBase float64 // the number to which steps are added: the last number that the tool reported, if any
	// hasNumber is true once the tool has reported a number. lastNumber is the last number
	// that the tool reported. minIncrease is the smallest increase between two consecutive
	// numbers, or 0 if there was no increase yet.
	hasNumber               bool
	lastNumber, minIncrease float64
	total                   float64 // the total of which a step is a fraction, or 0 if unknown
}

const (
	// stepFraction is the size of one artificial progress step, as a fraction of the
	// tool's total.
	stepFraction = 1e-6
	// rangeFraction limits how far artificial steps raise the progress above a reported number,
	// as a fraction of the total. Steps that raise the progress have equal sizes in the lower
	// half of their range, and ever smaller sizes in its upper half.
	rangeFraction = 1e-3
	// minRangeSteps is the minimum number of full-size steps in the range above a number that
	// the tool reported.
	minRangeSteps = 500
	// minRangeGaps is the minimum number of distinct float64 values in the range through which
	// steps raise the progress.
	minRangeGaps = 1 << 20
)

// recordNumber stores the last number that the tool reported, even if no notification
// will contain the number.
func (l *numberSequence) recordNumber(progress float64) {
	if increase := progress - l.lastNumber; increase > 0 && (l.minIncrease == 0 || increase < l.minIncrease) {
		l.minIncrease = increase
	}
	l.hasNumber, l.lastNumber = true, progress
}

// restartAt stores the reported number that the meter is sending to the client. Artificial
// steps after restartAt start at the stored number.
func (l *numberSequence) restartAt(progress float64) { l.lastSent, l.stepBase = progress, progress }

// advanceStep increases the progress by a small step and returns the new progress, or false
// if no number is left below ceiling.
func (l *numberSequence) advanceStep(ceiling float64) (float64, bool) {
	next := l.nextStep(ceiling)
	if next <= l.lastSent { // the range for steps is used up
		l.stepBase = l.lastSent
		next = l.nextStep(ceiling)
	}
	if next <= l.lastSent {
		next = l.lastSent + gapAbove(l.lastSent)
	}
	if next >= ceiling || math.IsInf(next, 0) {
		return 0, false
	}
	l.lastSent = next
	return next, true
}

// nextStep returns the progress one small step above lastSent. If the range for steps above
// stepBase is used up, nextStep returns lastSent.
func (l *numberSequence) nextStep(ceiling float64) float64 {
	available := min(l.stepRange(), ceiling-l.stepBase)
	usedRange := l.lastSent - l.stepBase
	if usedRange >= available {
		return l.lastSent
	}
	fullStep := max(l.stepScale()*stepFraction, 16*gapAbove(l.lastSent))
	step := min(fullStep, available/minRangeSteps)
	if usedRange > available/2 {
		// The steps get smaller as more of the range is used, so that millions of steps fit into
		// the range.
		remainingPart := (available - usedRange) / (available / 2)
		return l.lastSent + step*remainingPart*remainingPart
	}
	if step == fullStep { // a multiple of the step size has fewer decimal digits than a sum of steps
		if next := l.stepBase + (math.Round(usedRange/step)+1)*l.stepScale()/(1/stepFraction); next > l.lastSent && next < l.stepBase+available {
			return next
		}
	}
	return l.lastSent + step
}

// stepScale returns the number that is multiplied by a fraction to get the size of a step:
// the total, or at most 1 if the total is unknown.
func (l *numberSequence) stepScale() float64 {
	switch {
	case l.total > 0:
		return l.total
	case l.lastNumber > 0:
		return min(l.lastNumber, 1)
	default:
		return 1
	}
}

// stepRange returns the size of the range for steps above stepBase, which ends below the
// number that the tool is expected to report next. If all numbers of a tool are whole
// numbers, stepRange expects the next whole number. For other tools, stepRange expects an
// increase that equals the smallest increase so far.
func (l *numberSequence) stepRange() float64 {
	rangeSize := l.stepScale() * rangeFraction
	if l.hasNumber && l.lastNumber == math.Trunc(l.lastNumber) && l.total == math.Trunc(l.total) {
		rangeSize = min(rangeSize, 0.5)
	}
	if l.minIncrease > 0 {
		rangeSize = min(rangeSize, l.minIncrease/2)
	}
	return max(rangeSize, minRangeGaps*gapAbove(l.lastSent))
}

// gapAbove returns the distance from v to the next larger float64.
func gapAbove(v float64) float64 { return math.Nextafter(v, math.Inf(1)) - v }
