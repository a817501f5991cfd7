package terminal

import (
	"os"
	"strings"
)

// These constants are escape sequences that set the style of text, in colors that are readable
// on dark and on light terminals.
const (
	styleBold   = "\x1b[1m"
	styleRed    = "\x1b[31m"
	styleGreen  = "\x1b[32m"
	styleYellow = "\x1b[33m"
	styleReset  = "\x1b[0m"
)

var statusWordStyles = []struct{ word, style string }{
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

func hasColor(stdout *os.File, getenv func(string) string) bool {
	return supportsEscapes(stdout) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

func styleOfStatus(cell string) string {
	for _, s := range statusWordStyles {
		if textAfterWord, ok := strings.CutPrefix(cell, s.word); ok && (textAfterWord == "" || textAfterWord[0] == ' ') {
			return s.style
		}
	}
	return ""
}

func colorizeWord(o *Output, word string) string {
	if style := styleOfStatus(word); o.hasStdoutColor && style != "" {
		return style + word + styleReset
	}
	return word
}

// Cells in the first and the last column of a table stay uncolored, because they can contain text from tools and pages.
func colorCells(line string, offset int, tableRow []string, widths []int) string {
	var b strings.Builder
	copiedUntil := 0
	for i, cell := range tableRow {
		endIndex := offset + len(cell)
		if style := styleOfStatus(cell); style != "" && i > 0 && i < len(tableRow)-1 && endIndex <= len(line) && line[offset:endIndex] == cell {
			b.WriteString(line[copiedUntil:offset] + style + cell + styleReset)
			copiedUntil = endIndex
		}
		offset = endIndex + widths[i] - textWidth(cell) + 2
	}
	return b.String() + line[copiedUntil:]
}
