package terminal

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// FormatPercent formats a fraction from 0 to 1 as a percentage, rounded down, so that only
// completed work shows 100%.
func FormatPercent(fraction float64) string {
	return fmt.Sprintf("%3d%%", int(math.Floor(fraction*100+1e-9)))
}

// FormatNumber formats a count: numbers from 1000 as integers, and other numbers with at most 4 significant digits. FormatNumber
// removes the tiny fractions that the server adds to counts to order messages.
func FormatNumber(f float64) string {
	absoluteValue, roundedNumber := math.Abs(f), math.Round(f)
	if absoluteValue < 1e15 && (f == roundedNumber || absoluteValue >= 1000 || absoluteValue >= 1 && math.Abs(f-roundedNumber) < 0.001) {
		return strconv.FormatFloat(roundedNumber, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// Elapsed formats a duration, such as "3.2s" or "45s". Elapsed formats durations below 10
// s with tenths of a second.
func Elapsed(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

// CountNoun formats a number with a noun, such as "1 tab" or "2 tabs".
func CountNoun(n int, noun string) string { return CountWithVerb(n, noun, noun+"s") }

// CountWithVerb formats a number with words that agree with it, such as "1 call waits" or
// "2 calls wait".
func CountWithVerb(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}
