package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLineBytes is the longest line that is read; a longer one is damaged.
const maxLineBytes = 1 << 20

// Entry is one record and the line it was read from.
type Entry struct {
	Record
	// Line is the JSON as it stands in the file.
	Line []byte
}

// Read returns the last records in the folder dir that want takes, oldest first,
// and how many lines could not be read. last is how many at most; 0 is all.
func Read(dir string, last int, want func(Record) bool) (entries []Entry, damaged int, err error) {
	path := filepath.Join(dir, fileName)
	for n := defaultFiles - 1; n >= 0; n-- {
		bad, err := readFile(numbered(path, n), func(e Entry) {
			if !want(e.Record) {
				return
			}
			entries = append(entries, e)
			if last > 0 && len(entries) > 2*last { // keep the garbage small
				entries = append(entries[:0:0], entries[len(entries)-last:]...)
			}
		})
		if err != nil {
			return nil, 0, err
		}
		damaged += bad
	}
	if last > 0 && len(entries) > last {
		entries = entries[len(entries)-last:]
	}
	return entries, damaged, nil
}

// readFile hands each record of a file to take.
func readFile(path string, take func(Entry)) (damaged int, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the audit: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, maxLineBytes)
	for {
		line, err := r.ReadSlice('\n')
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return damaged, fmt.Errorf("read the audit: %w", err)
		}
		line = bytes.TrimSpace(line)
		var e Entry
		switch {
		case tooLong, len(line) > 0 && json.Unmarshal(line, &e.Record) != nil:
			damaged++
		case len(line) > 0:
			e.Line = bytes.Clone(line)
			take(e)
		}
		if err != nil {
			return damaged, nil
		}
	}
}
