package wsbridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"opentabs/internal/plaintext"
	"opentabs/wire"
)

// forwardLog passes the log entries of an adapter to Options.Logs. The browser
// has checked that the plugin is live in the document: its tab list lags
// behind, so the server can't check that. Entries are truncated to the limits
// of package wire.
func (h *Hub) forwardLog(b *browser, l *link, p wire.PluginLogParams) error {
	if h.opts.Logs == nil {
		return nil
	}
	name, current := h.registry.current(b)
	if current != l {
		return nil
	}
	if !h.hasPlugin(p.Plugin) {
		return errors.New("there is no such plugin")
	}
	p.Dropped = max(p.Dropped, 0)
	if more := len(p.Entries) - wire.MaxLogEntries; more > 0 {
		p.Entries, p.Dropped = p.Entries[:wire.MaxLogEntries], p.Dropped+more
	}
	for i := range p.Entries {
		tidyLogEntry(&p.Entries[i])
	}
	h.opts.Logs(b.id, name, p)
	return nil
}

// tidyLogEntry bounds an entry and cleans its texts.
func tidyLogEntry(e *wire.LogEntry) {
	if !slices.Contains([]wire.LogLevel{wire.LogDebug, wire.LogInfo, wire.LogWarning, wire.LogError}, e.Level) {
		e.Level = wire.LogInfo
	}
	e.Message = clean(truncateUnits(e.Message, wire.MaxLogChars), wire.MaxLogChars)
	var data []json.RawMessage
	if len(e.Data) > wire.MaxLogBytes || json.Unmarshal(orEmpty(e.Data), &data) != nil {
		e.Data = nil
		return
	}
	if len(data) > wire.MaxLogData {
		e.Data = slices.Concat([]byte("["), bytes.Join(rawBytes(data[:wire.MaxLogData]), []byte(",")), []byte("]"))
	}
	e.Data = plaintext.CleanJSON(e.Data)
}

func rawBytes(all []json.RawMessage) [][]byte {
	out := make([][]byte, len(all))
	for i, one := range all {
		out[i] = one
	}
	return out
}

// truncateUnits shortens s to at most n UTF-16 units, at the end of a
// character.
func truncateUnits(s string, n int) string {
	if len(s) <= n {
		return s
	}
	units := 0
	for i, r := range s {
		if units++; r > 0xffff {
			units++
		}
		if units > n {
			return s[:i]
		}
	}
	return s
}
