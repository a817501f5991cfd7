package wsbridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"opentabs/internal/plaintext"
	"opentabs/wire"
)

// logged hands on what an adapter has logged. The browser has seen to it that the
// plugin is live in that document: it tells of tabs a little later than of what
// happens in them. Entries are cut to the limits of package wire.
func (b *browser) logged(l *link, p wire.PluginLogParams) error {
	if b.hub.opts.Logs == nil {
		return nil
	}
	b.hub.mu.Lock()
	_, known := b.hub.hashes[p.Plugin]
	b.hub.mu.Unlock()
	b.mu.Lock()
	name, current := b.name, b.link == l
	b.mu.Unlock()
	if !current {
		return nil
	}
	if !known {
		return errors.New("there is no such plugin")
	}
	p.Dropped = max(p.Dropped, 0)
	if more := len(p.Entries) - wire.MaxLogEntries; more > 0 {
		p.Entries, p.Dropped = p.Entries[:wire.MaxLogEntries], p.Dropped+more
	}
	for i := range p.Entries {
		tidyEntry(&p.Entries[i])
	}
	b.hub.opts.Logs(b.id, name, p)
	return nil
}

// tidyEntry cuts an entry to what it may be, and cleans its texts.
func tidyEntry(e *wire.LogEntry) {
	if !slices.Contains([]wire.LogLevel{wire.LogDebug, wire.LogInfo, wire.LogWarning, wire.LogError}, e.Level) {
		e.Level = wire.LogInfo
	}
	e.Message = clean(cutUnits(e.Message, wire.MaxLogChars), wire.MaxLogChars)
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

// cutUnits shortens s to at most n UTF-16 units, at the end of a character.
func cutUnits(s string, n int) string {
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
