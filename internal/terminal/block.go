package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Block is a block of lines at the end of a terminal that is redrawn in place. Each
// drawing writes only changed lines, in one write, so that the terminal does not
// flicker. Nothing else may be written to the terminal between two drawings.
type Block struct {
	out io.Writer
	// size returns the columns and rows of the terminal, which may change.
	size       func() (columns, rows int)
	shownLines []string
}

// NewBlock returns an empty block on stdout, which must be a terminal for which
// [Output.CanRedraw] is true.
func (o *Output) NewBlock() *Block {
	return &Block{out: o.stdout, size: o.stdout.size}
}

// Draw replaces the block by lines, which are safe for a terminal. Draw cuts each line
// at the edge of the terminal, and omits the last lines if the terminal has too few
// rows.
func (b *Block) Draw(lines []string) {
	columns, rows := b.size()
	// The cursor is in the line below the block, and the last column stays free,
	// because some terminals would wrap the line.
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

// moveToFirstLine returns the escape sequence that moves the cursor to the block's first
// line. If the terminal has become narrower, lines of the block wrap, and the escape
// sequence also clears the whole block.
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
