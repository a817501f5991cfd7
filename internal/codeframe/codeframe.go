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
	if fileInfo, err := os.Stat(file); err != nil || fileInfo.Size() > maxFileBytes || !fileInfo.Mode().IsRegular() {
		return nil
	}
	sourceCode, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return formatFrame(string(sourceCode), line, column)
}

func parseLocation(location string) (file string, line, column int, ok bool) {
	pathAndLine, columnText, _ := cutAtLastSeparator(location, ":")
	file, lineText, _ := cutAtLastSeparator(pathAndLine, ":")
	line, lineErr := strconv.Atoi(lineText)
	column, columnErr := strconv.Atoi(columnText)
	return file, line, column, file != "" && lineErr == nil && columnErr == nil && line > 0 && column > 0
}

func cutAtLastSeparator(document, separator string) (textBefore, textAfter string, found bool) {
	i := strings.LastIndex(document, separator)
	if i < 0 {
		return document, "", false
	}
	return document[:i], document[i+len(separator):], true
}

// The parameters line and column count from 1.
func formatFrame(sourceCode string, line, column int) []string {
	sourceLines := strings.Split(sourceCode, "\n")
	if line > len(sourceLines) {
		return nil
	}
	firstLine, lastLine := max(line-contextLines, 1), min(line+contextLines, len(sourceLines))
	if lastLine == len(sourceLines) && sourceLines[lastLine-1] == "" && lastLine > line {
		lastLine-- // the file ends with a line feed
	}
	width := len(strconv.Itoa(lastLine))
	lineRunes := []rune(sourceLines[line-1])
	caretColumn := len([]rune(expandTabs(string(lineRunes[:min(column-1, len(lineRunes))]))))
	startIndex := max(caretColumn-maxColumns+10, 0) // first shown column
	var lines []string
	for lineNumber := firstLine; lineNumber <= lastLine; lineNumber++ {
		lineMark := ' '
		if lineNumber == line {
			lineMark = '>'
		}
		visibleLine := []rune(expandTabs(strings.TrimRight(sourceLines[lineNumber-1], "\r")))
		visibleLine = visibleLine[min(startIndex, len(visibleLine)):]
		if len(visibleLine) > maxColumns {
			visibleLine = append(visibleLine[:maxColumns-3:maxColumns-3], []rune("...")...)
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%c %*d | %s", lineMark, width, lineNumber, terminal.SafeCode(string(visibleLine))), " "))
		if lineNumber == line {
			lines = append(lines, fmt.Sprintf("  %*s | %s^", width, "", strings.Repeat(" ", caretColumn-startIndex)))
		}
	}
	return lines
}

func expandTabs(sourceCode string) string { return strings.ReplaceAll(sourceCode, "\t", "  ") }
