package pluginlog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"opentabs/internal/rawjson"
	"opentabs/internal/redact"
	"opentabs/wire"
)

// Entry is one log entry of an adapter.
type Entry struct {
	// Seq is the sequence number of the log entry, counted from 1 by each server. Log
	// files do not contain Seq.
	Seq    uint64        `json:"seq,omitempty"`
	Time   time.Time     `json:"time"`
	Plugin string        `json:"plugin"`
	Level  wire.LogLevel `json:"level"`
	// Message is the logged text; at most wire.MaxLogChars characters are kept.
	Message string `json:"message"`
	// Data is a JSON array of the logged values that Message does not contain; absent if
	// there are none.
	Data json.RawMessage `json:"data,omitempty"`
	// Stack contains the stack trace of an error that a tool threw, with the innermost
	// frame first. Stack omits stack frames outside of the author's code.
	Stack []string `json:"stack,omitempty"`
	// Browser and Tab identify where the adapter ran.
	Browser string `json:"browser,omitempty"`
	Tab     int    `json:"tab,omitempty"`
	// The field Dropped is the number of the plugin's log entries that were lost before
	// this entry.
	Dropped int `json:"dropped,omitempty"`
}

// The variable levels contains all log levels, the least important first.
var levels = []wire.LogLevel{wire.LogDebug, wire.LogInfo, wire.LogWarning, wire.LogError}

// ParseLevel parses the name of a log level. If the name is unknown, the error of
// ParseLevel lists the names of all log levels.
func ParseLevel(levelName string) (wire.LogLevel, error) {
	if level := wire.LogLevel(levelName); slices.Contains(levels, level) {
		return level, nil
	}
	return "", fmt.Errorf("%.100q is no level: use debug, info, warning or error", levelName)
}

// Filter selects log entries. The zero Filter selects all entries.
type Filter struct {
	// Plugin is the name of a plugin; empty for all plugins.
	Plugin string
	// Level is the minimum log level; empty for all levels.
	Level wire.LogLevel
}

// Matches reports whether the filter selects the log entry e.
func (f Filter) Matches(e Entry) bool {
	return (f.Plugin == "" || e.Plugin == f.Plugin) && slices.Index(levels, e.Level) >= slices.Index(levels, f.Level)
}

// maxTextBytes is the maximum size of a log message: wire.MaxLogChars characters of 3
// bytes.
const maxTextBytes = 3 * wire.MaxLogChars

func newEntry(browser string, p wire.PluginLogParams, sentEntry wire.LogEntry, now time.Time, o Options, secrets *redact.Redactor) Entry {
	e := Entry{
		Time: now, Plugin: p.Plugin, Level: sentEntry.Level, Browser: browser, Tab: p.TabID,
		Message: secrets.Text(truncateText(strings.ToValidUTF8(sentEntry.Message, "\uFFFD"), maxTextBytes)),
	}
	if !slices.Contains(levels, e.Level) {
		e.Level = wire.LogInfo
	}
	if len(sentEntry.Data) > 0 && len(sentEntry.Data) <= wire.MaxLogDataBytes {
		e.Data = secrets.JSON(sentEntry.Data)
	}
	if sentEntry.Stack != "" && o.ResolveStack != nil {
		for _, frame := range o.ResolveStack(p.Plugin, sentEntry) {
			e.Stack = append(e.Stack, secrets.Text(truncateText(strings.ToValidUTF8(frame, "\uFFFD"), maxFrameBytes)))
		}
	}
	return e
}

const maxFrameBytes = 300

func truncateText(logMessage string, maxLength int) string {
	if len(logMessage) <= maxLength {
		return logMessage
	}
	for maxLength > 0 && !utf8.RuneStart(logMessage[maxLength]) {
		maxLength--
	}
	return logMessage[:maxLength] + "…"
}

func (e Entry) encodeLine() []byte {
	e.Seq = 0
	line, err := rawjson.Marshal(e)
	if err != nil { // this error is impossible, because newEntry drops invalid JSON
		return nil
	}
	return append(line, '\n')
}

func (e Entry) approximateBytes() int {
	return 200 + len(e.Message) + len(e.Data) + maxFrameBytes*len(e.Stack)
}
