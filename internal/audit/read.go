package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"opentabs/internal/linefile"
)

// Entry is one record and the line from which the record was read.
type Entry struct {
	Record
	// Line is the JSON text from the file.
	Line []byte
}

// Read returns the records in the folder dir for which want returns true, oldest first,
// and the number of lines that could not be read. Read returns at most maxEntries records,
// counted from the end; 0 means all.
func Read(dir string, maxEntries int, want func(Record) bool) (entries []Entry, damagedLines int, err error) {
	damagedLines, err = linefile.Read(filepath.Join(dir, fileName), keptFiles, func(line []byte) bool {
		var e Entry
		if json.Unmarshal(line, &e.Record) != nil {
			return false
		}
		if !want(e.Record) {
			return true
		}
		e.Line = bytes.Clone(line)
		entries = append(entries, e)
		if maxEntries > 0 && len(entries) > 2*maxEntries { // drops old entries early to save memory
			entries = append(entries[:0:0], entries[len(entries)-maxEntries:]...)
		}
		return true
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read the audit: %w", err)
	}
	if maxEntries > 0 && len(entries) > maxEntries {
		entries = entries[len(entries)-maxEntries:]
	}
	return entries, damagedLines, nil
}
