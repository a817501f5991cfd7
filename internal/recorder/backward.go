package recorder

import (
	"bytes"
	"io"
)

// blockBytes is the size of the blocks in which readBackward reads a file.
const blockBytes = 64 << 10

// readBackward reads the lines of a file backward, starting at the offset end. The
// callback visit receives each line and the line's offset, last line first, until visit
// returns false. An incomplete line at the end of the file is skipped. After visit has
// returned, readBackward reuses the memory of the line.
func readBackward(file io.ReaderAt, end int64, visit func(line []byte, start int64) bool) error {
	// text contains the lines that have been read but not yet visited. start is the file
	// offset at which text begins.
	var text []byte
	start := end
	hasEnd := false // true if text ends with a line feed
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
