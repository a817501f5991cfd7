// Package humanize formats sizes, durations and dates for users.
package humanize

import (
	"fmt"
	"strings"
	"time"
)

// Bytes formats a number of bytes with a suitable unit: "900 bytes", "64 KB", "1.2 MB",
// "3.5 GB". A KB is 1,024 bytes.
func Bytes(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.0f KB", float64(n)/(1<<10))
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// ShortDuration formats a duration without trailing zeros, such as "5m" instead of
// "5m0s". [time.ParseDuration] can parse the text that ShortDuration returns.
func ShortDuration(d time.Duration) string {
	durationText := d.String()
	for _, zeroUnits := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(durationText, zeroUnits) {
			durationText = strings.TrimSuffix(durationText, zeroUnits[1:])
		}
	}
	return durationText
}

// FormatDay formats the local date of a time as " (on 2026-01-31)", with a leading space; for
// the zero time, FormatDay returns an empty text.
func FormatDay(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " (on " + at.Local().Format(time.DateOnly) + ")"
}

// Duration formats a duration for use in a sentence: "40 s", "5 min", "2 min 6 s", "1 h
// 30 min".
func Duration(d time.Duration) string {
	switch {
	case d <= 0:
		return "0 s"
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	case d.Round(100*time.Millisecond) < time.Minute:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + " s"
	}
	if d >= time.Hour-time.Second/2 {
		d = d.Round(time.Minute)
		durationText := fmt.Sprintf("%d h", d/time.Hour)
		if minutes := d % time.Hour; minutes > 0 {
			durationText += fmt.Sprintf(" %d min", minutes/time.Minute)
		}
		return durationText
	}
	d = d.Round(time.Second)
	durationText := fmt.Sprintf("%d min", d/time.Minute)
	if seconds := d % time.Minute; seconds > 0 {
		durationText += fmt.Sprintf(" %d s", seconds/time.Second)
	}
	return durationText
}
