package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"opentabs/internal/linefile"
)

// Entry is a record of the audit log, together with its line of JSON in the log file.
type Entry struct {
	Record
	// Line is the record's JSON text, exactly as in the log file and without the line
	// feed.
	Line []byte
}

// Verification is the result of [Verify]: the number of records in the hash chain, and the first
// problem, if any.
type Verification = linefile.Verification

// Verify checks that no record of the audit log in the directory dir was changed, removed
// or inserted. Verify cannot check records of early builds, which did not write a hash
// chain. A user with write access to the log files can replace the whole hash chain, so
// Verify does not detect every forgery.
func Verify(dir string) (Verification, error) {
	v, err := linefile.Verify(filepath.Join(dir, fileName), keptFileCount)
	if err != nil {
		return v, fmt.Errorf("verify the audit log: %w", err)
	}
	return v, nil
}

// Read returns the records of the audit log in the directory dir, oldest first. Read
// returns only records for which the function want returns true. If more than maxEntries
// records match, Read returns the newest maxEntries; 0 means no limit. The result
// damagedLines is the number of lines that are not valid JSON.
func Read(dir string, maxEntries int, want func(Record) bool) (entries []Entry, damagedLines int, err error) {
	entries, damagedLines, err = linefile.Read(filepath.Join(dir, fileName), keptFileCount, maxEntries, func(line []byte) (e Entry, isWanted bool, err error) {
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
