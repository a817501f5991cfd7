package terminal

import "strings"

// PrintWrapped prints text for the user, wrapped between words on a terminal. If a line is wrapped,
// each further line begins with the text in indent and with the leading spaces of the original
// line. In a pipe, PrintWrapped prints the text unchanged.
func PrintWrapped(o *Output, indent, paragraph string) {
	if !o.stdout.isTerminal {
		o.PrintText(paragraph)
		return
	}
	columns, _ := o.Size()
	for line := range strings.Lines(escapeText(strings.TrimSuffix(paragraph, "\n") + "\n")) {
		line = strings.TrimSuffix(line, "\n")
		indentation := line[:len(line)-len(strings.TrimLeft(line, " "))]
		o.PrintEscapedLines(wrapLine(line, indentation+indent, columns)...)
	}
}

// wrapLine breaks neither a long word nor a command in backticks, so that the user can copy the command.
func wrapLine(line, indent string, width int) []string {
	var lines []string
	for textWidth(line) > width {
		endIndex := 0
		for i := len(line) - len(strings.TrimLeft(line, " ")); i < len(line); {
			wordLength := strings.IndexByte(line[i:], ' ')
			if wordLength < 0 {
				wordLength = len(line) - i
			}
			if endIndex > 0 && textWidth(line[:i+wordLength]) > width {
				break
			}
			if !isInsideCommand(line, i+wordLength) {
				endIndex = i + wordLength
			}
			i += wordLength
			i += len(line[i:]) - len(strings.TrimLeft(line[i:], " "))
		}
		remainingLine := strings.TrimLeft(line[endIndex:], " ")
		if remainingLine == "" {
			break
		}
		lines, line = append(lines, line[:endIndex]), indent+remainingLine
	}
	return append(lines, line)
}

func isInsideCommand(line string, at int) bool {
	return strings.Count(line[:at], "`")%2 == 1 && strings.Contains(line[at:], "`")
}
