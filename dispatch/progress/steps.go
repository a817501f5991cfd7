package progress

import "math"

// numberLine chooses the progress of notifications without a usable number. The steps
// of numberLine stay close to the last number of the tool, so that the next number of
// the tool is still greater.
type numberLine struct {
	high float64 // the progress of the last notification
	base float64 // the number from which steps start: the last number of the tool, if any
	// hasNumber is set once the tool has reported a number. number is the last
	// number, and leastRise the smallest increase between two numbers so far, or 0.
	hasNumber         bool
	number, leastRise float64
	total             float64 // the total that steps are a part of, 0 if unknown
}

const (
	// stepPart is the size of a step as a part of the total.
	stepPart = 1e-6
	// roomPart is the range of steps above a number of the tool, as a part of the
	// total. Steps keep their size in the lower half and shrink in the upper half.
	roomPart = 1e-3
	// roomSteps is the least number of whole steps in that range.
	roomSteps = 500
	// finestRoom is the least range, in distances between neighbouring numbers.
	finestRoom = 1 << 20
)

// record notes a reported number of the tool, sent or not.
func (l *numberLine) record(progress float64) {
	if rise := progress - l.number; rise > 0 && (l.leastRise == 0 || rise < l.leastRise) {
		l.leastRise = rise
	}
	l.hasNumber, l.number = true, progress
}

// restartAt notes a number of the tool that is sent: steps begin above it.
func (l *numberLine) restartAt(progress float64) { l.high, l.base = progress, progress }

// advanceStep advances by a small step and returns the new progress. advanceStep returns false if no
// number is left below ceiling.
func (l *numberLine) advanceStep(ceiling float64) (float64, bool) {
	next := l.nextStep(ceiling)
	if next <= l.high { // the range is used up
		l.base = l.high
		next = l.nextStep(ceiling)
	}
	if next <= l.high {
		next = l.high + gapAbove(l.high)
	}
	if next >= ceiling || math.IsInf(next, 0) {
		return 0, false
	}
	l.high = next
	return next, true
}

// nextStep returns the progress one step above high, or high if the range above base
// is used up.
func (l *numberLine) nextStep(ceiling float64) float64 {
	room := min(l.stepRange(), ceiling-l.base)
	used := l.high - l.base
	if used >= room {
		return l.high
	}
	whole := max(l.stepScale()*stepPart, 16*gapAbove(l.high))
	first := min(whole, room/roomSteps)
	if used > room/2 {
		// Steps shrink with the rest of the range, so that millions of them fit.
		left := (room - used) / (room / 2)
		return l.high + first*left*left
	}
	if first == whole { // a multiple has fewer digits than a sum
		if next := l.base + (math.Round(used/first)+1)*l.stepScale()/(1/stepPart); next > l.high && next < l.base+room {
			return next
		}
	}
	return l.high + first
}

// stepScale returns the number that steps are a part of: the total, or at most 1 if the
// total is unknown.
func (l *numberLine) stepScale() float64 {
	switch {
	case l.total > 0:
		return l.total
	case l.number > 0:
		return min(l.number, 1)
	default:
		return 1
	}
}

// stepRange returns the range of steps above base. A tool that counts in whole numbers is
// expected to report the next whole number. For other tools the expected distance is
// that of the closest two numbers so far. The range ends below the expected number.
func (l *numberLine) stepRange() float64 {
	room := l.stepScale() * roomPart
	if l.hasNumber && l.number == math.Trunc(l.number) && l.total == math.Trunc(l.total) {
		room = min(room, 0.5)
	}
	if l.leastRise > 0 {
		room = min(room, l.leastRise/2)
	}
	return max(room, finestRoom*gapAbove(l.high))
}

// gapAbove is the distance from v to the next larger number.
func gapAbove(v float64) float64 { return math.Nextafter(v, math.Inf(1)) - v }
