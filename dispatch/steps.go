package dispatch

import "math"

// numberLine chooses the progress of notifications that have no usable number
// of their own. Its steps stay close to the last number of the tool, so that the
// next one still fits above them.
type numberLine struct {
	high float64 // progress of the last notification
	base float64 // where the steps began: the last number of the tool, if there is one
	// counted says that the tool has reported a number; number is the last one,
	// rise the least increase between two, 0 before there is one.
	counted      bool
	number, rise float64
	total        float64 // the total that steps are a part of, 0 if none is known
}

const (
	// stepPart is the size of a step as a part of the total.
	stepPart = 1e-6
	// roomPart is how far steps may go above a number of the tool, as a part of the
	// total. They keep their size for half of it and shrink in the other half.
	roomPart = 1e-3
	// roomSteps is how many whole steps that room has at least.
	roomSteps = 500
	// finestRoom is the least room, in distances between neighbouring numbers.
	finestRoom = 1 << 20
)

// report notes a number of the tool before it is sent.
func (l *numberLine) report(progress float64) {
	if rise := progress - l.number; rise > 0 && (l.rise == 0 || rise < l.rise) {
		l.rise = rise
	}
	l.counted, l.number = true, progress
}

// send notes a number of the tool that is sent.
func (l *numberLine) send(progress float64) { l.high, l.base = progress, progress }

// step advances by a small step and returns the new progress, which is below
// ceiling. It reports false if there is no number in between.
func (l *numberLine) step(ceiling float64) (float64, bool) {
	next := l.next(ceiling)
	if next <= l.high { // the room is used up
		l.base = l.high
		next = l.next(ceiling)
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

// next returns the progress one step above high, or high if the room above base
// is used up.
func (l *numberLine) next(ceiling float64) float64 {
	room := min(l.room(), ceiling-l.base)
	used := l.high - l.base
	if used >= room {
		return l.high
	}
	whole := max(l.scale()*stepPart, 16*gapAbove(l.high))
	first := min(whole, room/roomSteps)
	if used > room/2 {
		// The room that is left is in inverse proportion to the number of steps, so
		// that millions of them fit.
		left := (room - used) / (room / 2)
		return l.high + first*left*left
	}
	if first == whole { // a multiple has fewer digits than a sum
		if next := l.base + (math.Round(used/first)+1)*l.scale()/(1/stepPart); next > l.high && next < l.base+room {
			return next
		}
	}
	return l.high + first
}

// scale is what steps are a part of: the total, or 1 if none is known.
func (l *numberLine) scale() float64 {
	switch {
	case l.total > 0:
		return l.total
	case l.number > 0:
		return min(l.number, 1)
	default:
		return 1
	}
}

// room is how far above base the steps may go. The tool's next number is
// expected beyond it: the next whole number if it counts in whole ones, or one
// as far away as the closest two so far.
func (l *numberLine) room() float64 {
	room := l.scale() * roomPart
	if l.counted && l.number == math.Trunc(l.number) && l.total == math.Trunc(l.total) {
		room = min(room, 0.5)
	}
	if l.rise > 0 {
		room = min(room, l.rise/2)
	}
	return max(room, finestRoom*gapAbove(l.high))
}

// gapAbove is the distance from v to the next larger number.
func gapAbove(v float64) float64 { return math.Nextafter(v, math.Inf(1)) - v }
