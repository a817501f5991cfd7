package relay

import (
	"bufio"
	"errors"
)

// maxLineBytes is the longest line that a client may send. The daemon's own limit for a
// line is lower, and its error is clearer.
const maxLineBytes = 32 << 20

var errLineTooLong = errors.New("the line is too long")

// readLine returns a copy of the next line with its newline. readLine discards a line
// that is longer than maxLineBytes and returns errLineTooLong. At the end of the input,
// readLine adds a missing newline.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	isTooLong := false
	for {
		part, err := in.ReadSlice('\n')
		isTooLong = isTooLong || len(line)+len(part) > maxLineBytes
		if isTooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case isTooLong && err == nil:
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
