package terminal

import (
	"os"
	"strings"
)

// These escape sequences work on dark and on light terminals.
const (
	styleBold   = "\x1b[1m"
	styleRed    = "\x1b[31m"
	styleGreen  = "\x1b[32m"
	styleYellow = "\x1b[33m"
	styleReset  = "\x1b[0m"
)

// wordStyles are the styles of cells that begin with one of these words.
var wordStyles = []struct{ word, style string }{
	{"failed", styleRed},
	{"fail", styleRed},
	{"error", styleRed},
	{"timed out", styleRed},
	{"waiting for", styleYellow},
	{"warn", styleYellow},
	{"done", styleGreen},
	{"ok", styleGreen},
	{"fixed", styleGreen},
}

// hasColor reports whether stdout is a terminal that shows colors, and the user has not
// switched colors off with NO_COLOR.
func hasColor(stdout *os.File, getenv func(string) string) bool {
	return supportsEscapes(stdout) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// styleOf returns the style of a cell; empty if the cell has none.
func styleOf(cell string) string {
	for _, s := range wordStyles {
		if rest, ok := strings.CutPrefix(cell, s.word); ok && (rest == "" || rest[0] == ' ') {
			return s.style
		}
	}
	return ""
}

// colored returns a word such as ok or fail with its color, if stdout shows colors.
func colored(o *Output, word string) string {
	if style := styleOf(word); o.hasStdoutColor && style != "" {
		return style + word + styleReset
	}
	return word
}

// colorCells colors the cells of a line of a table that have a style. offset is where the
// first cell begins in line, in bytes, and widths are the widths of the columns. The first
// and the last column are not colored, because they may have text of tools and pages.
func colorCells(line string, offset int, row []string, widths []int) string {
	var b strings.Builder
	written := 0
	for i, cell := range row {
		end := offset + len(cell)
		if style := styleOf(cell); style != "" && i > 0 && i < len(row)-1 && end <= len(line) && line[offset:end] == cell {
			b.WriteString(line[written:offset] + style + cell + styleReset)
			written = end
		}
		offset = end + widths[i] - textWidth(cell) + 2
	}
	return b.String() + line[written:]
}
