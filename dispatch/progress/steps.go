package progress

import "math"

// numberSequence chooses the progress of a notification if the tool has reported no number
// that can be sent. MCP requires that progress increases, so numberSequence adds a tiny step
// to the last number. The steps are tiny, so that the progress stays below the number that
// the tool reports next.
type numberSequence struct {
	lastSent                        float64
	stepBase                        float64
	hasNumber                       bool
	lastNumber, minReportedIncrease float64
	totalProgress                   float64
}

const (
	// stepSizeFraction is the size of one artificial progress step, as a fraction of the
	// tool's total.
	stepSizeFraction = 1e-6
	// stepRangeFraction limits how far artificial steps raise the progress above a reported number, as a fraction of the
	// total.
	stepRangeFraction = 1e-3
	minRangeSteps     = 500
	minRangeFloatGaps = 1 << 20
)

func (l *numberSequence) recordNumber(progress float64) {
	if progressIncrease := progress - l.lastNumber; progressIncrease > 0 && (l.minReportedIncrease == 0 || progressIncrease < l.minReportedIncrease) {
		l.minReportedIncrease = progressIncrease
	}
	l.hasNumber, l.lastNumber = true, progress
}

func (l *numberSequence) restartSteps(progress float64) { l.lastSent, l.stepBase = progress, progress }

func (l *numberSequence) advanceStep(upperBound float64) (float64, bool) {
	nextStep := l.nextStep(upperBound)
	if nextStep <= l.lastSent {
		l.stepBase = l.lastSent
		nextStep = l.nextStep(upperBound)
	}
	if nextStep <= l.lastSent {
		nextStep = l.lastSent + floatGapAbove(l.lastSent)
	}
	if nextStep >= upperBound || math.IsInf(nextStep, 0) {
		return 0, false
	}
	l.lastSent = nextStep
	return nextStep, true
}

func (l *numberSequence) nextStep(upperBound float64) float64 {
	stepLimit := min(l.stepRange(), upperBound-l.stepBase)
	usedStepRange := l.lastSent - l.stepBase
	if usedStepRange >= stepLimit {
		return l.lastSent
	}
	idealStepSize := max(l.stepScale()*stepSizeFraction, 16*floatGapAbove(l.lastSent))
	stepSize := min(idealStepSize, stepLimit/minRangeSteps)
	if usedStepRange > stepLimit/2 {
		// The steps get smaller as more of the range is used, so that millions of steps fit into
		// the range.
		remainingFraction := (stepLimit - usedStepRange) / (stepLimit / 2)
		return l.lastSent + stepSize*remainingFraction*remainingFraction
	}
	if stepSize == idealStepSize { // a multiple of the step has fewer decimal digits than a sum of steps
		if nextStep := l.stepBase + (math.Round(usedStepRange/stepSize)+1)*l.stepScale()/(1/stepSizeFraction); nextStep > l.lastSent && nextStep < l.stepBase+stepLimit {
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

// stepRange returns how far artificial steps may raise the progress above stepBase. The range ends below the number
// that the tool is expected to report next.
func (l *numberSequence) stepRange() float64 {
	rangeSize := l.stepScale() * stepRangeFraction
	if l.hasNumber && l.lastNumber == math.Trunc(l.lastNumber) && l.totalProgress == math.Trunc(l.totalProgress) {
		rangeSize = min(rangeSize, 0.5)
	}
	if l.minReportedIncrease > 0 {
		rangeSize = min(rangeSize, l.minReportedIncrease/2)
	}
	return max(rangeSize, minRangeFloatGaps*floatGapAbove(l.lastSent))
}

func floatGapAbove(v float64) float64 { return math.Nextafter(v, math.Inf(1)) - v }
