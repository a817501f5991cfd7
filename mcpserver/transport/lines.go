package transport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
)

// lineTooLong is the error for a line that exceeded the size limit and was skipped.
type lineTooLong struct {
	// The field id is the ID of the request in the skipped line, or nil if the ID is
	// unknown.
	id json.RawMessage
}

// The method Error implements error.
func (*lineTooLong) Error() string { return "the line is too long" }

// lineReader reads lines of a limited length.
type lineReader struct {
	r        *bufio.Reader
	maxBytes int64
}

func newLineReader(inputReader io.Reader, limit int64) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(inputReader, 64<<10), maxBytes: limit}
}

// nextLine returns the next line that is not blank, which the caller may keep and change. If a line exceeds the limit,
// nextLine skips the line and returns a *lineTooLong error.
func (l *lineReader) nextLine() ([]byte, error) {
	for {
		line, err := l.readLine()
		if err == nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		return line, err
	}
}

func (l *lineReader) readLine() ([]byte, error) {
	var line, lineEnd []byte
	var id json.RawMessage
	var size int64
	for {
		chunk, err := l.r.ReadSlice('\n')
		size += int64(len(chunk))
		switch {
		case size <= l.maxBytes:
			line = append(line, chunk...)
		case lineEnd == nil: // the line exceeds the size limit
			id = findIDAtStart(append(line, chunk...))
			line = nil
			fallthrough
		default:
			lineEnd = lastBytes(lineEnd, chunk)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && size == 0:
			return nil, err
		case size > l.maxBytes:
			if id == nil {
				id = findIDAtEnd(lineEnd)
			}
			return nil, &lineTooLong{id: id}
		}
		// If a read error ended the line, the next read returns the error again.
		return bytes.TrimRight(line, "\r\n"), nil
	}
}

func lastBytes(lineEnd, chunk []byte) []byte {
	lineEndBytes := append(lineEnd, chunk...)
	if excessCount := len(lineEndBytes) - idSearchBytes; excessCount > 0 {
		lineEndBytes = append(lineEndBytes[:0], lineEndBytes[excessCount:]...)
	}
	return lineEndBytes
}

// lineWriter writes messages as lines and never mixes two lines. A lineWriter is safe for
// concurrent use.
type lineWriter struct {
	w           deadlineWriter
	writeFailed chan struct{} // writeFailed is closed at the first failed write

	mu  sync.Mutex // the mutex guards err and keeps lines whole
	err error      // the field err is the error of the first failed write
}

// If out supports write deadlines, a write to a client that does not read fails after writeTimeout.
func newLineWriter(outWriter io.Writer) *lineWriter {
	limit, _ := outWriter.(writeDeadliner)
	return &lineWriter{w: deadlineWriter{w: outWriter, deadlineSetter: limit, timeout: writeTimeout}, writeFailed: make(chan struct{})}
}

// After a failed write, all further writes fail, because the client may have received
// half a line.
func (l *lineWriter) write(f func(*bufio.Writer)) error { return l.writePadded(0, f) }

// writePadded pads with spaces to at least minLineBytes bytes, which JSON allows after a value.
func (l *lineWriter) writePadded(minLineBytes int, f func(*bufio.Writer)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	byteCounter := countingWriter{w: &l.w}
	l.err = writeBuffered(&byteCounter, func(b *bufio.Writer) {
		f(b)
		for paddingLength := minLineBytes - 1 - byteCounter.n - b.Buffered(); paddingLength > 0; paddingLength -= len(padding) {
			_, _ = b.WriteString(padding[:min(paddingLength, len(padding))]) // Flush returns the error of a failed write
		}
		b.WriteByte('\n')
	})
	if l.err != nil {
		close(l.writeFailed)
	}
	return l.err
}

var padding = strings.Repeat(" ", 4<<10)

// countingWriter passes writes on to w and counts their bytes.
type countingWriter struct {
	w io.Writer
	n int
}

// The method Write implements io.Writer.
func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += n
	return n, err
}

func (l *lineWriter) writeMessage(m []byte) error {
	return l.write(func(b *bufio.Writer) { b.Write(m) })
}

func (l *lineWriter) writeError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
