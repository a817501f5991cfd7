package main

import (
	"bufio"
	"errors"
)

// maxLineBytes is the longest line a client may send; the server's own limit is
// lower and its error better.
const maxLineBytes = 32 << 20

var errLineTooLong = errors.New("the line is too long")

// boundedLine returns the next line with its end, in memory of its own. Of a
// line that is too long nothing is kept.
func boundedLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		piece, err := in.ReadSlice('\n')
		tooLong = tooLong || len(line)+len(piece) > maxLineBytes
		if tooLong {
			line = nil
		} else {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case tooLong && err == nil:
			return nil, errLineTooLong
		case err != nil:
			if len(line) > 0 {
				line = append(line, '\n')
			}
			return line, err
		default:
			return line, nil
		}
	}
}
