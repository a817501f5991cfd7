package linefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxLineBytes is the limit for a line. A longer line counts as damaged.
const maxLineBytes = 1 << 20

// Read calls accept for each line of the log at path, the oldest first, without its
// line feed. accept reports whether the line is valid, and must not retain the line.
// files is the number of files that the log keeps. Read returns the number of damaged
// lines.
func Read(path string, files int, accept func(line []byte) bool) (damagedLines int, err error) {
	for n := files - 1; n >= 0; n-- {
		badLines, err := readFile(rotatedPath(path, n), accept)
		damagedLines += badLines
		if err != nil {
			return damagedLines, err
		}
	}
	return damagedLines, nil
}

func readFile(path string, accept func([]byte) bool) (damagedLines int, err error) {
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
		if isTooLong || len(line) > 0 && !accept(line) {
			damagedLines++
		}
		if err != nil {
			return damagedLines, nil
		}
	}
}
