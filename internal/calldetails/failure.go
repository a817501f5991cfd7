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
	// maxLogDelay is the longest expected delay between the end of a call and the arrival of
	// its last log entries. Pages send log entries in batches every 100 ms.
	maxLogDelay = 500 * time.Millisecond
	// maxLogEntries is how many log entries of a call are shown, and maxLogChars is the
	// maximum length of each shown entry.
	maxLogEntries = 20
	maxLogChars   = 1000
	// maxHints is how many hints for the plugin's author are shown, and maxHintChars is
	// the maximum length of each hint.
	maxHints     = 4
	maxHintChars = 500
	maxFrame     = 300 // maximum length of a line of a stack trace, in characters
)

// failureOf returns the stack trace, the hints and the log lines of a failed call, or nil
// if the plugin's log has none of these. The parameter entries is the plugin's log while
// the call ran, oldest first. Log entries do not name their call, so entries of other
// calls in the same tab are included.
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

// findThrown returns the index of the log entry for the error that a call's tool threw,
// and the hint in this entry. If the log has no entry for the error, the returned index
// is -1. The log entry for a thrown error is "TOOL failed: ERROR", with the hint on the
// next line (extension/src/host/failure-log.ts:thrownFailure).
//
// Only the log redacts secrets, so the error in the log can differ from the error of the
// call. If no log entry matches the error exactly, but the tool logged only one failure,
// findThrown returns the entry of this failure.
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

// isSameText reports whether two texts are equal except for white space and hidden
// characters. isSameText compares an error in the log with the error of a call, which can
// differ in white space and hidden characters.
func isSameText(a, b string) bool {
	return plaintext.Line(a, wire.MaxLogChars) == plaintext.Line(b, wire.MaxLogChars)
}

// messageOf returns the text of a log entry, followed by the JSON values that the plugin
// logged with it.
func messageOf(e pluginlog.Entry) string {
	message := e.Message
	if data := strings.TrimSuffix(strings.TrimPrefix(string(e.Data), "["), "]"); data != "" {
		message += "  " + data
	}
	return plaintext.Clean(message, maxLogChars)
}
