package recorder

import (
	"bytes"
	"io"
)

const blockBytes = 64 << 10

// readBackward reads the lines of a file backward, starting at the offset endOffset. The callback visitItem receives
// each line and the line's offset, last line first, until visitItem returns false. The line that readBackward passes
// to visitItem is valid only until visitItem returns, because the memory is reused.
func readBackward(file io.ReaderAt, endOffset int64, visitItem func(line []byte, startOffset int64) bool) error {
	var fileContent []byte
	startOffset := endOffset
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
			if i < 0 && startOffset > 0 {
				break
			}
			if !visitItem(body[i+1:], startOffset+int64(i+1)) || i < 0 {
				return nil
			}
			fileContent = fileContent[:i+1]
		}
		if startOffset == 0 {
			return nil
		}
		size := min(blockBytes, startOffset)
		startOffset -= size
		joinedContent := make([]byte, int(size)+len(fileContent))
		if _, err := file.ReadAt(joinedContent[:size], startOffset); err != nil {
			return err
		}
		copy(joinedContent[size:], fileContent)
		fileContent = joinedContent
	}
}
