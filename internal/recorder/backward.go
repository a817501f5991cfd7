package recorder

import (
	"bytes"
	"io"
)

const blockBytes = 64 << 10

// readBackward reads the lines of a file backward, starting at the offset end. The callback visit receives each line
// and the line's offset, last line first, until visit returns false. The line that readBackward passes to visit is
// valid only until visit returns, because the memory is reused.
func readBackward(file io.ReaderAt, endOffset int64, visit func(line []byte, start int64) bool) error {
	var fileContent []byte
	start := endOffset
	hasEnd := false
	for {
		for {
			if !hasEnd {
				i := bytes.LastIndexByte(fileContent, '\n')
				if i < 0 {
					break
				}
				fileContent, hasEnd = fileContent[:i+1], true
			}
			body := fileContent[:len(fileContent)-1]
			i := bytes.LastIndexByte(body, '\n')
			if i < 0 && start > 0 {
				break
			}
			if !visit(body[i+1:], start+int64(i+1)) || i < 0 {
				return nil
			}
			fileContent = fileContent[:i+1]
		}
		if start == 0 {
			return nil
		}
		size := min(blockBytes, start)
		start -= size
		longer := make([]byte, int(size)+len(fileContent))
		if _, err := file.ReadAt(longer[:size], start); err != nil {
			return err
		}
		copy(longer[size:], fileContent)
		fileContent = longer
	}
}
