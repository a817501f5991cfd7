package progress

import "math"

// numberSequence chooses the progress of a notification if the tool has reported no number
// that can be sent. MCP requires that progress increases, so numberSequence adds a tiny step
// to the last number. The steps are tiny, so that the progress stays below the number that
// the tool reports next.
type numberSequence struct {
	lastSent                float64
	stepBase                float64
	hasNumber               bool
	lastNumber, minIncrease float64
	totalProgress           float64
}

const (
	// stepFraction is the size of one artificial progress step, as a fraction of the
	// tool's total.
	stepFraction = 1e-6
	// rangeFraction limits how far artificial steps raise the progress above a reported number, as a fraction of the
	// total.
	rangeFraction = 1e-3
	minRangeSteps = 500
	minRangeGaps  = 1 << 20
)

func (l *numberSequence) recordNumber(progress float64) {
	if increase := progress - l.lastNumber; increase > 0 && (l.minIncrease == 0 || increase < l.minIncrease) {
		l.minIncrease = increase
	}
	l.hasNumber, l.lastNumber = true, progress
}

func (l *numberSequence) restartAt(progress float64) { l.lastSent, l.stepBase = progress, progress }

func (l *numberSequence) advanceStep(ceiling float64) (float64, bool) {
	nextStep := l.nextStep(ceiling)
	if nextStep <= l.lastSent {
		l.stepBase = l.lastSent
		nextStep = l.nextStep(ceiling)
	}
	if nextStep <= l.lastSent {
		nextStep = l.lastSent + gapAbove(l.lastSent)
	}
	if nextStep >= ceiling || math.IsInf(nextStep, 0) {
		return 0, false
	}
	l.lastSent = nextStep
	return nextStep, true
}

func (l *numberSequence) nextStep(ceiling float64) float64 {
	available := min(l.stepRange(), ceiling-l.stepBase)
	usedRange := l.lastSent - l.stepBase
	if usedRange >= available {
		return l.lastSent
	}
	fullStep := max(l.stepScale()*stepFraction, 16*gapAbove(l.lastSent))
	stepSize := min(fullStep, available/minRangeSteps)
	if usedRange > available/2 {
		// The steps get smaller as more of the range is used, so that millions of steps fit into
		// the range.
		remainingPart := (available - usedRange) / (available / 2)
		return l.lastSent + stepSize*remainingPart*remainingPart
	}
	if stepSize == fullStep { // a multiple of the step size has fewer decimal digits than a sum of steps
		if nextStep := l.stepBase + (math.Round(usedRange/stepSize)+1)*l.stepScale()/(1/stepFraction); nextStep > l.lastSent && nextStep < l.stepBase+available {
			return nextStep
		}
	}
	return l.lastSent + stepSize
}

func (l *numberSequence) stepScale() float64 {
	switch {
	case l.totalProgress > 0:
		return l.totalProgress
	case l.lastNumber > 0:
		return min(l.lastNumber, 1)
	default:
		return 1
	}
}

// stepRange returns the size of the range for steps above stepBase, which ends below the number that the tool is
// expected to report next.
func (l *numberSequence) stepRange() float64 {
	rangeSize := l.stepScale() * rangeFraction
	if l.hasNumber && l.lastNumber == math.Trunc(l.lastNumber) && l.totalProgress == math.Trunc(l.totalProgress) {
		rangeSize = min(rangeSize, 0.5)
	}
	if l.minIncrease > 0 {
		rangeSize = min(rangeSize, l.minIncrease/2)
	}
	return max(rangeSize, minRangeGaps*gapAbove(l.lastSent))
}

func gapAbove(v float64) float64 { return math.Nextafter(v, math.Inf(1)) - v }
