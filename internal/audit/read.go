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
	entries, damagedLines, err = linefile.Read(filepath.Join(dir, fileName), keptFiles, maxEntries, func(line []byte) (e Entry, isWanted bool, err error) {
		if err := json.Unmarshal(line, &e.Record); err != nil || !want(e.Record) {
			return e, false, err
		}
		e.Line = bytes.Clone(line)
		return e, true, nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read the audit: %w", err)
	}
	return entries, damagedLines, nil
}
