package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"opentabs/internal/linefile"
)

// Entry is one record and the line it was read from.
type Entry struct {
	Record
	// Line is the JSON text from the file.
	Line []byte
}

// Read returns the records in the folder dir for which want returns true, oldest first,
// and the number of lines that could not be read. Read returns at most last records,
// counted from the end; 0 means all.
func Read(dir string, last int, want func(Record) bool) (entries []Entry, damaged int, err error) {
	damaged, err = linefile.Read(filepath.Join(dir, fileName), files, func(line []byte) bool {
		var e Entry
		if json.Unmarshal(line, &e.Record) != nil {
			return false
		}
		if !want(e.Record) {
			return true
		}
		e.Line = bytes.Clone(line)
		entries = append(entries, e)
		if last > 0 && len(entries) > 2*last { // drops old entries early, so that there is less garbage
			entries = append(entries[:0:0], entries[len(entries)-last:]...)
		}
		return true
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read the audit: %w", err)
	}
	if last > 0 && len(entries) > last {
		entries = entries[len(entries)-last:]
	}
	return entries, damaged, nil
}
