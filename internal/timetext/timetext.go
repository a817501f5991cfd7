// Package timetext writes durations in a short form.
package timetext

import (
	"strings"
	"time"
)

// Short writes a duration without its zero parts: 5m and 24h, not 5m0s and 24h0m0s.
// [time.ParseDuration] parses the text.
func Short(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = strings.TrimSuffix(text, zero[1:])
		}
	}
	return text
}

// OnDay returns " (on 2026-01-31)" for the local day of at; empty for the zero time.
func OnDay(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " (on " + at.Local().Format(time.DateOnly) + ")"
}
