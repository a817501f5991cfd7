package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Block is a block of lines at the end of a terminal that is redrawn in place. Draw
// writes only the changed lines, in one write, so that the terminal does not flicker.
// Between two calls of Draw, the program must write nothing else to the terminal.
type Block struct {
	out io.Writer
	// The field size returns the current columns and rows of the terminal.
	size       func() (columns, rows int)
	shownLines []string
}

// NewBlock returns an empty block on stdout. Call NewBlock only if [Output.CanRedraw]
// returns true.
func (o *Output) NewBlock() *Block {
	return &Block{out: o.stdout, size: o.stdout.size}
}

// Draw replaces the content of the block with lines, which must contain no unsafe control
// characters. Draw truncates lines at the edge of the terminal. If the terminal has too
// few rows, Draw omits the last lines.
func (b *Block) Draw(lines []string) {
	columns, rows := b.size()
	// The last column of the terminal stays free, because some terminals wrap a full line.
	lines = lines[:min(len(lines), max(rows-1, 1))]
	newLines := make([]string, len(lines))
	for i, line := range lines {
		newLines[i] = truncateColumns(line, max(columns-1, 1))
	}
	toFirstLine := b.moveToFirstLine(columns)
	if slices.Equal(newLines, b.shownLines) {
		return
	}
	var text strings.Builder
	text.WriteString(toFirstLine)
	for i, line := range newLines {
		if i >= len(b.shownLines) || b.shownLines[i] != line {
			text.WriteString(line + "\x1b[K")
		}
		text.WriteByte('\n')
	}
	if len(b.shownLines) > len(newLines) {
		text.WriteString("\x1b[J")
	}
	b.shownLines = newLines
	io.WriteString(b.out, text.String())
}

// Clear removes the block from the terminal.
func (b *Block) Clear() {
	columns, _ := b.size()
	if text := b.moveToFirstLine(columns); text != "" {
		io.WriteString(b.out, text+"\x1b[J")
	}
	b.shownLines = nil
}

// If lines of the block have wrapped because the terminal became narrower, the escape sequence of moveToFirstLine
// clears the block.
func (b *Block) moveToFirstLine(columns int) string {
	linesUp, isWrapped := 0, false
	for _, line := range b.shownLines {
		rows := max(1, (textWidth(line)+columns-1)/max(columns, 1))
		linesUp += rows
		isWrapped = isWrapped || rows > 1
	}
	switch {
	case linesUp == 0:
		return ""
	case isWrapped:
		b.shownLines = make([]string, len(b.shownLines))
		return fmt.Sprintf("\r\x1b[%dA\x1b[J", linesUp)
	}
	return fmt.Sprintf("\r\x1b[%dA", linesUp)
}
