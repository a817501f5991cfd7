package pluginview

import (
	"fmt"
	"strings"
	"time"

	"opentabs/internal/pluginlog"
	"opentabs/internal/terminal"
)

// LogLines returns the lines of a log entry: a note about missing entries before it, and
// the entry with its data.
func LogLines(e pluginlog.Entry) []string {
	timeText, name := e.Time.Local().Format(time.DateTime), terminal.SafeLine(e.Plugin)
	var lines []string
	if e.Dropped > 0 {
		lines = append(lines, fmt.Sprintf("%s  %s: %s missing here", timeText, name, terminal.CountWithVerb(e.Dropped, "entry is", "entries are")))
	}
	line := fmt.Sprintf("%s  %-7s  %s  %s", timeText, e.Level, name, terminal.SafeLine(e.Message))
	if data := strings.TrimSuffix(strings.TrimPrefix(string(e.Data), "["), "]"); data != "" {
		line += "  " + terminal.SafeLine(data)
	}
	return append(lines, line)
}
