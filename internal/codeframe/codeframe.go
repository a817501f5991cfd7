// Package codeframe formats the source lines around a position, in the style of a
// compiler error.
package codeframe

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"opentabs/internal/terminal"
)

const (
	contextLines = 2
	maxColumns   = 64
	maxFileBytes = 4 << 20
)

// ReadCodeFrame returns the source lines around a location, such as src/tools/export.ts:31:11,
// of a file in the directory dir. If the file has no line with that number, ReadCodeFrame
// returns nil.
func ReadCodeFrame(dir, location string) []string {
	file, line, column, ok := parseLocation(location)
	if !ok || !filepath.IsLocal(filepath.FromSlash(file)) {
		return nil
	}
	file = filepath.Join(dir, filepath.FromSlash(file))
	if info, err := os.Stat(file); err != nil || info.Size() > maxFileBytes || !info.Mode().IsRegular() {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return formatFrame(string(text), line, column)
}

func parseLocation(location string) (file string, line, column int, ok bool) {
	rest, columnText, _ := cutAtLast(location, ":")
	file, lineText, _ := cutAtLast(rest, ":")
	line, lineErr := strconv.Atoi(lineText)
	column, columnErr := strconv.Atoi(columnText)
	return file, line, column, file != "" && lineErr == nil && columnErr == nil && line > 0 && column > 0
}

func cutAtLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

// The arguments line and column count from 1.
func formatFrame(text string, line, column int) []string {
	sourceLines := strings.Split(text, "\n")
	if line > len(sourceLines) {
		return nil
	}
	first, last := max(line-contextLines, 1), min(line+contextLines, len(sourceLines))
	if last == len(sourceLines) && sourceLines[last-1] == "" && last > line {
		last-- // the file ends with a line feed
	}
	width := len(strconv.Itoa(last))
	before := []rune(sourceLines[line-1])
	caret := len([]rune(expandTabs(string(before[:min(column-1, len(before))]))))
	start := max(caret-maxColumns+10, 0) // the variable start is the first shown column
	var lines []string
	for number := first; number <= last; number++ {
		mark := ' '
		if number == line {
			mark = '>'
		}
		shown := []rune(expandTabs(strings.TrimRight(sourceLines[number-1], "\r")))
		shown = shown[min(start, len(shown)):]
		if len(shown) > maxColumns {
			shown = append(shown[:maxColumns-3:maxColumns-3], []rune("...")...)
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%c %*d | %s", mark, width, number, terminal.SafeCode(string(shown))), " "))
		if number == line {
			lines = append(lines, fmt.Sprintf("  %*s | %s^", width, "", strings.Repeat(" ", caret-start)))
		}
	}
	return lines
}

func expandTabs(text string) string { return strings.ReplaceAll(text, "\t", "  ") }
