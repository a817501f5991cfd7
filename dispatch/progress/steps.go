package progress

import "math"

// numberLine chooses the progress of notifications without a usable number. The steps
// of numberLine stay close to the last number of the tool, so that the next number of
// the tool is still greater.
type numberLine struct {
	lastSent float64 // the progress of the last notification
	stepBase float64 // the number from which steps start: the last number of the tool, if any
	// hasNumber is set once the tool has reported a number. lastNumber is the last
	// number that the tool reported; minIncrease is the smallest increase between two
	// such numbers, or 0.
	hasNumber               bool
	lastNumber, minIncrease float64
	total                   float64 // the total that steps are a part of, 0 if unknown
}

const (
	// stepFraction is the size of a step as a part of the total.
	stepFraction = 1e-6
	// rangeFraction is the range of steps above a number of the tool, as a part of the
	// total. Steps keep their size in the lower half of the range and shrink in the
	// upper half of the range.
	rangeFraction = 1e-3
	// minRangeSteps is the least number of whole steps above a number of the tool.
	minRangeSteps = 500
	// minRangeGaps is the least range of steps, in distances between neighbouring
	// floating-point numbers.
	minRangeGaps = 1 << 20
)

// recordNumber stores a number that the tool reported, whether it is sent or not.
func (l *numberLine) recordNumber(progress float64) {
	if increase := progress - l.lastNumber; increase > 0 && (l.minIncrease == 0 || increase < l.minIncrease) {
		l.minIncrease = increase
	}
	l.hasNumber, l.lastNumber = true, progress
}

// restartAt stores a number of the tool that is sent. Later steps begin above the stored
// number.
func (l *numberLine) restartAt(progress float64) { l.lastSent, l.stepBase = progress, progress }

// advanceStep advances by a small step and returns the new progress, or false if no
// number is left below ceiling.
func (l *numberLine) advanceStep(ceiling float64) (float64, bool) {
	next := l.nextStep(ceiling)
	if next <= l.lastSent { // the range of steps is used up
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

// nextStep returns the progress one step above lastSent, or lastSent if the range above
// stepBase is used up.
func (l *numberLine) nextStep(ceiling float64) float64 {
	available := min(l.stepRange(), ceiling-l.stepBase)
	usedRange := l.lastSent - l.stepBase
	if usedRange >= available {
		return l.lastSent
	}
	fullStep := max(l.stepScale()*stepFraction, 16*gapAbove(l.lastSent))
	step := min(fullStep, available/minRangeSteps)
	if usedRange > available/2 {
		// Steps shrink as the range fills, so that the range has room for millions of
		// steps.
		remainingPart := (available - usedRange) / (available / 2)
		return l.lastSent + step*remainingPart*remainingPart
	}
	if step == fullStep { // a multiple of the step has fewer digits than a sum of steps
		if next := l.stepBase + (math.Round(usedRange/step)+1)*l.stepScale()/(1/stepFraction); next > l.lastSent && next < l.stepBase+available {
			return next
		}
	}
	return l.lastSent + step
}

// stepScale returns the number that steps are a part of: the total, or at most 1 if the
// total is unknown.
func (l *numberLine) stepScale() float64 {
	switch {
	case l.total > 0:
		return l.total
	case l.lastNumber > 0:
		return min(l.lastNumber, 1)
	default:
		return 1
	}
}

// stepRange returns the size of the range of steps above stepBase. A tool that counts
// in whole numbers is expected to report the next whole number. A tool that counts in
// fractions is expected to increase its number by the smallest increase so far. The
// range of steps ends below the expected number.
func (l *numberLine) stepRange() float64 {
	rangeSize := l.stepScale() * rangeFraction
	if l.hasNumber && l.lastNumber == math.Trunc(l.lastNumber) && l.total == math.Trunc(l.total) {
		rangeSize = min(rangeSize, 0.5)
	}
	if l.minIncrease > 0 {
		rangeSize = min(rangeSize, l.minIncrease/2)
	}
	return max(rangeSize, minRangeGaps*gapAbove(l.lastSent))
}

// gapAbove returns the distance from v to the next larger number.
func gapAbove(v float64) float64 { return math.Nextafter(v, math.Inf(1)) - v }
