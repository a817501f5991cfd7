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

// maxLineBytes is the longest line that is read; a longer one is damaged.
const maxLineBytes = 1 << 20

// Read hands each line of the log at path to take, the oldest first, without its
// end; take reports whether it can read it and does not keep it. files is how
// many files are kept. It returns how many lines could not be read.
func Read(path string, files int, take func(line []byte) bool) (damaged int, err error) {
	for n := files - 1; n >= 0; n-- {
		bad, err := readFile(numbered(path, n), take)
		damaged += bad
		if err != nil {
			return damaged, err
		}
	}
	return damaged, nil
}

func readFile(path string, take func([]byte) bool) (damaged int, err error) {
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
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return damaged, fmt.Errorf("read %s: %w", path, err)
		}
		line = bytes.TrimSpace(line)
		if tooLong || len(line) > 0 && !take(line) {
			damaged++
		}
		if err != nil {
			return damaged, nil
		}
	}
}
