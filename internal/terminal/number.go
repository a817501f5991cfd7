package terminal

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Percent writes a part of 1 as a percentage, rounded down: 100 % means that all
// is done.
func Percent(fraction float64) string {
	return fmt.Sprintf("%3d%%", int(math.Floor(fraction*100+1e-9)))
}

// Number writes a count without needless digits. Number rounds off the small steps that
// the server adds to order messages between two counts.
func Number(f float64) string {
	absolute, rounded := math.Abs(f), math.Round(f)
	if absolute < 1e15 && (f == rounded || absolute >= 1000 || absolute >= 1 && math.Abs(f-rounded) < 0.001) {
		return strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// Elapsed writes a duration with few digits: tenths of a second only below 10 s.
func Elapsed(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Plural writes a number and a noun: "1 tab", "2 tabs".
func Plural(n int, noun string) string { return CountWithVerb(n, noun, noun+"s") }

// CountWithVerb writes a number and the words that agree with it: "1 call waits", "2 calls
// wait".
func CountWithVerb(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}
