package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// RedrawableBlock is a block of lines at the end of a terminal that is redrawn in place. Draw
// writes only the changed lines, in one write, so that the terminal does not flicker.
// Between two calls of Draw, the program must write nothing else to the terminal.
type RedrawableBlock struct {
	outWriter io.Writer
	// size returns the current columns and rows of the terminal.
	size       func() (columns, screenRows int)
	shownLines []string
}

// NewRedrawableBlock returns an empty block on stdout. Call NewRedrawableBlock only if [Output.CanRedraw]
// returns true.
func (o *Output) NewRedrawableBlock() *RedrawableBlock {
	return &RedrawableBlock{outWriter: o.stdout, size: o.stdout.size}
}

// Draw replaces the content of the block with lines, which must contain no unsafe control
// characters. Draw truncates lines at the edge of the terminal. If the terminal has too
// few rows, Draw omits the last lines.
func (b *RedrawableBlock) Draw(lines []string) {
	columns, rowCount := b.size()
	// The last column of the terminal stays free, because some terminals wrap a full line.
	lines = lines[:min(len(lines), max(rowCount-1, 1))]
	newLines := make([]string, len(lines))
	for i, line := range lines {
		newLines[i] = truncateColumns(line, max(columns-1, 1))
	}
	moveToStart := b.moveToFirstLine(columns)
	if slices.Equal(newLines, b.shownLines) {
		return
	}
	var drawing strings.Builder
	drawing.WriteString(moveToStart)
	for i, line := range newLines {
		if i >= len(b.shownLines) || b.shownLines[i] != line {
			drawing.WriteString(line + "\x1b[K")
		}
		drawing.WriteByte('\n')
	}
	if len(b.shownLines) > len(newLines) {
		drawing.WriteString("\x1b[J")
	}
	b.shownLines = newLines
	io.WriteString(b.outWriter, drawing.String())
}

// Clear removes the block from the terminal.
func (b *RedrawableBlock) Clear() {
	columns, _ := b.size()
	if escapes := b.moveToFirstLine(columns); escapes != "" {
		io.WriteString(b.outWriter, escapes+"\x1b[J")
	}
	b.shownLines = nil
}

// If lines of the block have wrapped because the terminal became narrower, the escape sequence of moveToFirstLine
// clears the block.
func (b *RedrawableBlock) moveToFirstLine(columns int) string {
	cursorUpLines, isWrapped := 0, false
	for _, line := range b.shownLines {
		rowCount := max(1, (textWidth(line)+columns-1)/max(columns, 1))
		cursorUpLines += rowCount
		isWrapped = isWrapped || rowCount > 1
	}
	switch {
	case cursorUpLines == 0:
		return ""
	case isWrapped:
		b.shownLines = make([]string, len(b.shownLines))
		return fmt.Sprintf("\r\x1b[%dA\x1b[J", cursorUpLines)
	}
	return fmt.Sprintf("\r\x1b[%dA", cursorUpLines)
}
