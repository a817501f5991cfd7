package pluginview

import (
	"fmt"
	"strings"
	"time"

	"opentabs/internal/pluginlog"
	"opentabs/internal/terminal"
)

// LogLines returns the terminal lines for a log entry of a plugin: the entry with its
// data, and the stack frames of an error. If log entries before the given entry are
// missing, the first returned line reports how many.
func LogLines(e pluginlog.Entry) []string {
	timeText, name := e.Time.Local().Format(time.DateTime), terminal.SafeLine(e.Plugin)
	var lines []string
	if e.Dropped > 0 {
		lines = append(lines, fmt.Sprintf("%s  %s: %s missing here", timeText, name, terminal.CountWithVerb(e.Dropped, "entry is", "entries are")))
	}
	return append(lines, EntryLines(fmt.Sprintf("%s  %-7s  %s  ", timeText, e.Level, name), e)...)
}

// EntryLines returns a log entry as lines of text. The first returned line contains the
// prefix, the first line of the entry's message and the entry's data. The following lines
// contain the rest of the message and the stack frames, indented.
func EntryLines(prefix string, e pluginlog.Entry) []string {
	logMessage, details, _ := strings.Cut(e.Message, "\n")
	line := prefix + terminal.SafeLine(logMessage)
	if logData := strings.TrimSuffix(strings.TrimPrefix(string(e.Data), "["), "]"); logData != "" {
		line += "  " + terminal.SafeLine(logData)
	}
	lines := []string{line}
	for detail := range strings.Lines(details) {
		lines = append(lines, "    "+terminal.SafeLine(detail))
	}
	for _, frame := range e.Stack {
		lines = append(lines, "    at "+terminal.SafeLine(frame))
	}
	return lines
}
