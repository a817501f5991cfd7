package linefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// maxLineBytes is the maximum length of a line, 1 MiB.
const maxLineBytes = 1 << 20

// Read returns the last maxEntries entries of the log at path, oldest first. If
// maxEntries is 0, Read returns all entries. The parameter files is the maximum number of
// log files, as in Options.Files.
//
// The function decode parses one line without its line feed. If decode returns isWanted as true,
// Read returns the entry. The function decode must not keep a reference to the line. If decode
// returns an error, Read counts the line in damagedLines.
func Read[E any](path string, files, maxEntries int, decode func(line []byte) (entry E, isWanted bool, err error)) (entries []E, damagedLines int, err error) {
	acceptLine := func(line []byte) bool {
		entry, isWanted, err := decode(line)
		if err == nil && isWanted {
			entries = append(entries, entry)
		}
		if maxEntries > 0 && len(entries) > 2*maxEntries {
			entries = slices.Clone(entries[len(entries)-maxEntries:])
		}
		return err == nil
	}
	for n := files - 1; n >= 0; n-- {
		badLines, err := readFile(rotatedPath(path, n), acceptLine)
		damagedLines += badLines
		if err != nil {
			return nil, damagedLines, err
		}
	}
	if maxEntries > 0 {
		entries = entries[max(0, len(entries)-maxEntries):]
	}
	return entries, damagedLines, nil
}

func readFile(path string, acceptLine func([]byte) bool) (damagedLines int, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, maxLineBytes)
	for {
		line, err := r.ReadSlice('\n')
		isTooLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return damagedLines, fmt.Errorf("read %s: %w", path, err)
		}
		line = bytes.TrimSpace(line)
		if isTooLong || len(line) > 0 && !acceptLine(line) {
			damagedLines++
		}
		if err != nil {
			return damagedLines, nil
		}
	}
}
