package inbound

import (
	"bytes"
	"encoding/json"
	"slices"

	"opentabs/internal/plaintext"
	"opentabs/wire"
)

// CleanLogEntry limits the size of a log entry and cleans its texts.
func CleanLogEntry(e *wire.LogEntry) {
	if !slices.Contains([]wire.LogLevel{wire.LogDebug, wire.LogInfo, wire.LogWarning, wire.LogError}, e.Level) {
		e.Level = wire.LogInfo
	}
	e.Message = CleanText(truncateUTF16(e.Message, wire.MaxLogChars), wire.MaxLogChars)
	e.Stack, e.StackOrigin = truncateUTF16(e.Stack, wire.MaxStackChars), truncateUTF16(e.StackOrigin, wire.MaxStackChars)
	var data []json.RawMessage
	if len(e.Data) == 0 || len(e.Data) > wire.MaxLogDataBytes || json.Unmarshal(e.Data, &data) != nil {
		e.Data = nil
		return
	}
	if len(data) > wire.MaxLogArgs {
		e.Data = slices.Concat([]byte("["), bytes.Join(toByteSlices(data[:wire.MaxLogArgs]), []byte(",")), []byte("]"))
	}
	e.Data = plaintext.CleanJSON(e.Data)
}

func toByteSlices(values []json.RawMessage) [][]byte {
	valuesJSON := make([][]byte, len(values))
	for i, valueJSON := range values {
		valuesJSON[i] = valueJSON
	}
	return valuesJSON
}

func truncateUTF16(s string, n int) string {
	if len(s) <= n {
		return s
	}
	utf16UnitCount := 0
	for i, r := range s {
		if utf16UnitCount++; r > 0xffff {
			utf16UnitCount++
		}
		if utf16UnitCount > n {
			return s[:i]
		}
	}
	return s
}
