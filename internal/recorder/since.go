package recorder

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseSince parses a point in time that the user typed. Valid texts are a duration before
// now, such as 90m, 2h or 7d, a date such as 2026-11-20, and a time in RFC 3339 format. A
// date means midnight at the start of the day, in the time zone of the parameter now. The
// message of the error is written for the user.
func ParseSince(sinceText string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(sinceText, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n <= 36500 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(sinceText); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, sinceText, now.Location()); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, sinceText); err == nil {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%.100q is not a time: give a duration such as 90m, 2h or 7d, a date such as 2026-11-20, or a time such as 2026-11-20T14:00:00Z", sinceText)
}
