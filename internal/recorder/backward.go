package recorder

import (
	"bytes"
	"io"
)

// blockBytes is how many bytes are read at once.
const blockBytes = 64 << 10

// readBackward calls visit with each line of a file before the offset end, the last line
// first, until visit returns false. start is the offset of the line. An incomplete line at
// the end is skipped. visit must not keep the line.
func readBackward(file io.ReaderAt, end int64, visit func(line []byte, start int64) bool) error {
	// text is the part of the file from offset start that no visited line contains.
	var text []byte
	start := end
	hasEnd := false // set when text ends with a line feed
	for {
		for {
			if !hasEnd {
				i := bytes.LastIndexByte(text, '\n')
				if i < 0 {
					break
				}
				text, hasEnd = text[:i+1], true
			}
			body := text[:len(text)-1]
			i := bytes.LastIndexByte(body, '\n')
			if i < 0 && start > 0 {
				break
			}
			if !visit(body[i+1:], start+int64(i+1)) || i < 0 {
				return nil
			}
			text = text[:i+1]
		}
		if start == 0 {
			return nil
		}
		size := min(blockBytes, start)
		start -= size
		longer := make([]byte, int(size)+len(text))
		if _, err := file.ReadAt(longer[:size], start); err != nil {
			return err
		}
		copy(longer[size:], text)
		text = longer
	}
}
