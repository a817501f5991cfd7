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
	// maxLogDelay is the longest expected delay between the end of a call and the arrival of its last log entries.
	// Pages send log entries in batches every 100 ms.
	maxLogDelay       = 500 * time.Millisecond
	maxLogEntries     = 20
	maxLogChars       = 1000
	maxHints          = 4
	maxHintChars      = 500
	maxStackLineChars = 300 // maxStackLineChars is the maximum length of a line of a stack trace, in characters
)

// explainFailure returns nil if the plugin's log explains nothing about the failed call. Log entries do not name their call,
// so entries of other calls in the same tab are included.
func explainFailure(v *dispatch.View, logEntries []pluginlog.Entry) *wire.CallFailure {
	logEntries = slices.DeleteFunc(slices.Clone(logEntries), func(e pluginlog.Entry) bool {
		return e.Tab != v.TabID || e.Browser != v.BrowserName
	})
	var f wire.CallFailure
	thrownIndex, hint := findThrownEntry(v, logEntries)
	if thrownIndex >= 0 {
		for _, frame := range logEntries[thrownIndex].Stack {
			f.Stack = append(f.Stack, plaintext.Line(frame, maxStackLineChars))
		}
		logEntries = logEntries[:thrownIndex]
	}
	for _, e := range logEntries {
		if advice, ok := strings.CutPrefix(e.Message, v.Tool+": "); ok && e.Level == wire.LogWarning {
			f.Hints = append(f.Hints, plaintext.Line(advice, maxHintChars))
			continue
		}
		f.Log = append(f.Log, wire.CallLogEntry{AtMs: float64(e.Time.UnixMicro()) / 1000, Level: e.Level, Message: formatLogEntry(e)})
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

// The log entry for a thrown error is "TOOL failed: ERROR", with the hint on the next line
// (extension/src/host/failure-log.ts:thrownFailure).
//
// Only the log redacts secrets, so the error in the log can differ from the error of the call. If no log entry matches
// exactly, but the tool logged only one failure, findThrownEntry returns this failure's entry.
func findThrownEntry(v *dispatch.View, logEntries []pluginlog.Entry) (int, string) {
	index, candidates := -1, 0
	for i, e := range slices.Backward(logEntries) {
		errorText, ok := strings.CutPrefix(e.Message, v.Tool+" failed: ")
		if !ok {
			continue
		}
		if isSameText(errorText, v.Error) {
			return i, ""
		}
		if endIndex := strings.LastIndexByte(errorText, '\n'); endIndex >= 0 && isSameText(errorText[:endIndex], v.Error) {
			return i, errorText[endIndex+1:]
		}
		index, candidates = i, candidates+1
	}
	if candidates > 1 {
		return -1, ""
	}
	return index, ""
}

// The log's copy of an error can differ from the call's error in white space and hidden characters.
func isSameText(a, b string) bool {
	return plaintext.Line(a, wire.MaxLogChars) == plaintext.Line(b, wire.MaxLogChars)
}

func formatLogEntry(e pluginlog.Entry) string {
	logMessage := e.Message
	if logData := strings.TrimSuffix(strings.TrimPrefix(string(e.Data), "["), "]"); logData != "" {
		logMessage += "  " + logData
	}
	return plaintext.Clean(logMessage, maxLogChars)
}
