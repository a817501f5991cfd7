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

// lineTooLong is the error for a line that was over the limit and has been
// skipped.
type lineTooLong struct {
	// id is the ID of the request in the line, nil if it is unknown.
	id json.RawMessage
}

// Error implements error.
func (*lineTooLong) Error() string { return "the line is too long" }

// lineReader reads lines of a limited length.
type lineReader struct {
	r   *bufio.Reader
	max int64
}

func newLineReader(in io.Reader, limit int64) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(in, 64<<10), max: limit}
}

// nextLine returns the next line that is not blank, without its end; the caller owns it.
// A line over the limit is skipped and returns *lineTooLong; nextLine may be called
// again. The last line may have no line end.
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
	var line, tail []byte
	var id json.RawMessage
	var size int64
	for {
		piece, err := l.r.ReadSlice('\n')
		size += int64(len(piece))
		switch {
		case size <= l.max:
			line = append(line, piece...)
		case tail == nil: // this piece exceeds the limit
			id = idAtStart(append(line, piece...))
			line = nil
			fallthrough
		default:
			tail = lastOf(tail, piece)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && size == 0:
			return nil, err
		case size > l.max:
			if id == nil {
				id = idAtEnd(tail)
			}
			return nil, &lineTooLong{id: id}
		}
		// After a part of a line, the next read returns the error again.
		return bytes.TrimRight(line, "\r\n"), nil
	}
}

// lastOf returns the last bytes of tail and piece, as many as idAtEnd needs.
func lastOf(tail, piece []byte) []byte {
	all := append(tail, piece...)
	if extra := len(all) - idSearched; extra > 0 {
		all = append(all[:0], all[extra:]...)
	}
	return all
}

// lineWriter writes messages as lines, each whole. lineWriter is safe for concurrent
// use.
type lineWriter struct {
	w      deadlineWriter
	failed chan struct{} // closed at the first failed write

	mu  sync.Mutex // guards err and keeps lines whole
	err error      // the first failed write
}

// newLineWriter writes to out. If out has write deadlines, a client that does
// not read fails a write after writeTimeout.
func newLineWriter(out io.Writer) *lineWriter {
	limit, _ := out.(writeLimit)
	return &lineWriter{w: deadlineWriter{w: out, limit: limit, timeout: writeTimeout}, failed: make(chan struct{})}
}

// write writes the output of f as one line. After a failed write all others fail,
// because the client may have received half a line.
func (l *lineWriter) write(f func(*bufio.Writer)) error { return l.writePadded(0, f) }

// writePadded is like write, and pads the line with spaces to at least least bytes. JSON
// allows spaces after a value.
func (l *lineWriter) writePadded(least int, f func(*bufio.Writer)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	counted := countingWriter{w: l.w}
	l.err = writeBuffered(&counted, func(b *bufio.Writer) {
		f(b)
		for left := least - 1 - counted.n - b.Buffered(); left > 0; left -= len(spaces) {
			_, _ = b.WriteString(spaces[:min(left, len(spaces))]) // Flush returns the error
		}
		b.WriteByte('\n')
	})
	if l.err != nil {
		close(l.failed)
	}
	return l.err
}

// spaces is the padding of lines.
var spaces = strings.Repeat(" ", 4<<10)

// countingWriter counts what is written through it.
type countingWriter struct {
	w io.Writer
	n int
}

// Write implements io.Writer.
func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += n
	return n, err
}

// writeMessage writes one message.
func (l *lineWriter) writeMessage(m []byte) error {
	return l.write(func(b *bufio.Writer) { b.Write(m) })
}

// writeError returns the error of the first failed write, nil if there is none.
func (l *lineWriter) writeError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
