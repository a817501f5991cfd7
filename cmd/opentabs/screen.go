package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// liveBlock is a block of lines at the end of a terminal that is drawn anew in
// its place. Only what changed is written, in one piece, so that it does not
// flicker. Nothing else may be written to the terminal between two drawings.
type liveBlock struct {
	out io.Writer
	// size returns the columns and rows of the terminal, which may change.
	size  func() (columns, rows int)
	shown []string
}

// draw shows lines, which hold nothing that a terminal obeys, instead of those
// that were drawn last. A line is cut at the edge, and what does not fit on the
// screen is left out at the end.
func (b *liveBlock) draw(lines []string) {
	columns, rows := b.size()
	// The cursor stands in the line below the block, and the last column stays
	// free: some terminals would begin a new line.
	lines = lines[:min(len(lines), max(rows-1, 1))]
	fresh := make([]string, len(lines))
	for i, line := range lines {
		fresh[i] = fit(line, max(columns-1, 1))
	}
	home := b.home(columns)
	if slices.Equal(fresh, b.shown) {
		return
	}
	var text strings.Builder
	text.WriteString(home)
	for i, line := range fresh {
		if i >= len(b.shown) || b.shown[i] != line {
			text.WriteString(line + "\x1b[K")
		}
		text.WriteByte('\n')
	}
	if len(b.shown) > len(fresh) {
		text.WriteString("\x1b[J")
	}
	b.shown = fresh
	io.WriteString(b.out, text.String())
}

// clear takes the block off the terminal.
func (b *liveBlock) clear() {
	columns, _ := b.size()
	if text := b.home(columns); text != "" {
		io.WriteString(b.out, text+"\x1b[J")
	}
	b.shown = nil
}

// home moves the cursor to the block's first line. A terminal that has become
// narrower shows a line of the block in several of its own; then all is drawn
// anew.
func (b *liveBlock) home(columns int) string {
	up, broken := 0, false
	for _, line := range b.shown {
		rows := max(1, (textWidth(line)+columns-1)/max(columns, 1))
		up += rows
		broken = broken || rows > 1
	}
	switch {
	case up == 0:
		return ""
	case broken:
		b.shown = make([]string, len(b.shown))
		return fmt.Sprintf("\r\x1b[%dA\x1b[J", up)
	}
	return fmt.Sprintf("\r\x1b[%dA", up)
}
