package relay

import (
	"bufio"
	"errors"
)

// maxLineBytes is the maximum length of a line from the client. maxLineBytes is more than
// the daemon accepts, because the daemon's error for a long line is clearer than the
// relay's.
const maxLineBytes = 32 << 20

var errLineTooLong = errors.New("the line is too long")

// readLine discards a line longer than maxLineBytes, and returns errLineTooLong. If the last line of the input has no
// newline, readLine adds it.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	isTooLong := false
	for {
		linePart, err := in.ReadSlice('\n')
		isTooLong = isTooLong || len(line)+len(linePart) > maxLineBytes
		if isTooLong {
			line = nil
		} else {
			line = append(line, linePart...)
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
