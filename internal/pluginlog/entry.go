package pluginlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"opentabs/wire"
)

// Entry is one entry of one adapter.
type Entry struct {
	// Seq counts the entries of one server from 1; absent in files.
	Seq    uint64        `json:"seq,omitempty"`
	Time   time.Time     `json:"time"`
	Plugin string        `json:"plugin"`
	Level  wire.LogLevel `json:"level"`
	// Message is at most wire.MaxLogChars long.
	Message string `json:"message"`
	// Data is a JSON array of what was logged beside the message; absent if
	// nothing was.
	Data json.RawMessage `json:"data,omitempty"`
	// Browser and Tab are where it was logged.
	Browser string `json:"browser,omitempty"`
	Tab     int    `json:"tab,omitempty"`
	// Dropped is how many entries of the plugin are missing before this one.
	Dropped int `json:"dropped,omitempty"`
}

// levels are all levels, the one that matters least first.
var levels = []wire.LogLevel{wire.LogDebug, wire.LogInfo, wire.LogWarning, wire.LogError}

// ParseLevel returns the level of this name. The error says which there are.
func ParseLevel(text string) (wire.LogLevel, error) {
	if level := wire.LogLevel(text); slices.Contains(levels, level) {
		return level, nil
	}
	return "", fmt.Errorf("%.100q is no level: use debug, info, warning or error", text)
}

// Filter says which entries somebody wants. Its zero value means all.
type Filter struct {
	// Plugin is the name of the only plugin; empty for all.
	Plugin string
	// Level is the least level; empty for all.
	Level wire.LogLevel
}

// Wants reports whether e is one of them.
func (f Filter) Wants(e Entry) bool {
	return (f.Plugin == "" || e.Plugin == f.Plugin) && slices.Index(levels, e.Level) >= slices.Index(levels, f.Level)
}

// maxTextBytes is how much of a message is kept: wire.MaxLogChars of any script.
const maxTextBytes = 3 * wire.MaxLogChars

// newEntry makes an entry of what a browser sent, which may be anything.
func newEntry(browser string, p wire.PluginLogParams, said wire.LogEntry, now time.Time, secrets *redactor) Entry {
	e := Entry{
		Time: now, Plugin: p.Plugin, Level: said.Level, Browser: browser, Tab: p.TabID,
		Message: secrets.Text(cut(strings.ToValidUTF8(said.Message, "\uFFFD"), maxTextBytes)),
	}
	if !slices.Contains(levels, e.Level) {
		e.Level = wire.LogInfo
	}
	if len(said.Data) > 0 && len(said.Data) <= wire.MaxLogBytes {
		e.Data = secrets.JSON(said.Data)
	}
	return e
}

// cut returns the beginning of a text.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}

// line is the entry as it stands in the file.
func (e Entry) line() []byte {
	e.Seq = 0
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(e) != nil { // data that is no JSON is dropped before
		return nil
	}
	return b.Bytes()
}

// bytes is about how much memory the entry takes.
func (e Entry) bytes() int { return 200 + len(e.Message) + len(e.Data) }
