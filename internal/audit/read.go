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

// Verification is the result of the function [Verify], which checks the chain of the
// audit log.
type Verification = linefile.Verification

// Verify checks that no record of the audit log in the folder dir was changed, removed or
// inserted after opentabs wrote the record. Verify cannot check records from versions of
// opentabs whose audit log had no chain. A user who may write the files can replace the
// whole chain, so Verify does not find every forgery.
func Verify(dir string) (Verification, error) {
	v, err := linefile.Verify(filepath.Join(dir, fileName), keptFiles)
	if err != nil {
		return v, fmt.Errorf("verify the audit log: %w", err)
	}
	return v, nil
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
