package calldetails

import (
	"slices"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/plaintext"
	"opentabs/internal/pluginlog"
	"opentabs/wire"
)

const (
	// maxLogDelay is how long after the end of a call its last log entries may arrive. Pages
	// send their entries every 100 ms.
	maxLogDelay = 500 * time.Millisecond
	// maxLogEntries and maxLogChars limit the log of a call.
	maxLogEntries = 20
	maxLogChars   = 1000
	// maxHints limits the advice for the author, maxHintChars one advice.
	maxHints     = 4
	maxHintChars = 500
	maxFrame     = 300 // characters
)

// failureOf returns what the log of a plugin has about a failed call; nil if it has
// nothing. entries are the entries of the plugin while the call ran, oldest first. Entries
// do not name their call, so entries of other calls in the same tab are included.
func failureOf(v *dispatch.View, entries []pluginlog.Entry) *wire.CallFailure {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e pluginlog.Entry) bool {
		return e.Tab != v.TabID || e.Browser != v.BrowserName
	})
	var f wire.CallFailure
	thrown, hint := findThrown(v, entries)
	if thrown >= 0 {
		for _, frame := range entries[thrown].Stack {
			f.Stack = append(f.Stack, plaintext.Line(frame, maxFrame))
		}
		entries = entries[:thrown]
	}
	for _, e := range entries {
		if advice, ok := strings.CutPrefix(e.Message, v.Tool+": "); ok && e.Level == wire.LogWarning {
			f.Hints = append(f.Hints, plaintext.Line(advice, maxHintChars))
			continue
		}
		f.Log = append(f.Log, wire.CallLogEntry{AtMs: float64(e.Time.UnixMicro()) / 1000, Level: e.Level, Message: messageOf(e)})
	}
	if hint != "" {
		f.Hints = append(f.Hints, plaintext.Line(hint, maxHintChars))
	}
	f.Hints = f.Hints[max(0, len(f.Hints)-maxHints):]
	f.Log = f.Log[max(0, len(f.Log)-maxLogEntries):]
	if len(f.Stack)+len(f.Hints)+len(f.Log) == 0 {
		return nil
	}
	return &f
}

// findThrown returns the entry with the error that the tool of a call threw, and the advice
// in this entry; -1 if there is none. If no entry has the error of the call, the only error
// of the tool is returned: the log lacks secrets that the error may have. Such an entry is "TOOL failed: ERROR", with the
// advice on the next line (extension/src/host/failure-log.ts:thrownFailure).
func findThrown(v *dispatch.View, entries []pluginlog.Entry) (int, string) {
	index, candidates := -1, 0
	for i, e := range slices.Backward(entries) {
		text, ok := strings.CutPrefix(e.Message, v.Tool+" failed: ")
		if !ok {
			continue
		}
		if isSameText(text, v.Error) {
			return i, ""
		}
		if end := strings.LastIndexByte(text, '\n'); end >= 0 && isSameText(text[:end], v.Error) {
			return i, text[end+1:]
		}
		index, candidates = i, candidates+1
	}
	if candidates > 1 {
		return -1, ""
	}
	return index, ""
}

// isSameText compares two texts without their white space and hidden characters, which the
// log and the error of a call treat differently.
func isSameText(a, b string) bool {
	return plaintext.Line(a, wire.MaxLogChars) == plaintext.Line(b, wire.MaxLogChars)
}

// messageOf returns the message of an entry with its data.
func messageOf(e pluginlog.Entry) string {
	message := e.Message
	if data := strings.TrimSuffix(strings.TrimPrefix(string(e.Data), "["), "]"); data != "" {
		message += "  " + data
	}
	return plaintext.Clean(message, maxLogChars)
}
