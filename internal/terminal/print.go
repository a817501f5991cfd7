package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"opentabs/internal/rawjson"
)

// Notef writes a notice for the user to stderr. All lines after the first are indented,
// so that no text in a notice can imitate another notice. On a terminal, long lines are
// wrapped between words.
func (o *Output) Notef(format string, args ...any) {
	notice := "opentabs: " + strings.ReplaceAll(escapeText(fmt.Sprintf(format, args...)), "\n", "\n  ")
	if o.stderr.isTerminal {
		columns, _ := o.stderr.size()
		var lines []string
		for line := range strings.SplitSeq(notice, "\n") {
			lines = append(lines, wrapLine(line, "  ", columns)...)
		}
		notice = strings.Join(lines, "\n")
	}
	fmt.Fprintf(o.stderr, "%s\n", notice)
}

// ShowPrompt writes the prompt for a line of input to stderr, such as "name> ".
func (o *Output) ShowPrompt(name string) {
	fmt.Fprintf(o.stderr, "%s> ", escapeText(name))
}

// ClearPrompt removes the prompt from the terminal. If stderr is not a terminal,
// ClearPrompt does nothing.
func (o *Output) ClearPrompt() {
	if o.stderr.isTerminal {
		fmt.Fprint(o.stderr, "\r\x1b[K")
	}
}

// PrintLine formats one line of the command's result and writes it to stdout.
func (o *Output) PrintLine(format string, args ...any) {
	o.PrintText(fmt.Sprintf(format, args...))
}

// PrintText writes a text of the command's result to stdout, and adds a newline if the text does
// not end with one. If stdout is a terminal, PrintText escapes control characters in the text.
func (o *Output) PrintText(paragraph string) {
	if o.stdout.isTerminal {
		paragraph = escapeText(paragraph)
	}
	io.WriteString(o.stdout, strings.TrimSuffix(paragraph, "\n")+"\n")
}

// PrintEscapedLines writes lines unchanged to stdout. The caller must already have escaped the control
// characters in the lines.
func (o *Output) PrintEscapedLines(lines ...string) {
	for _, line := range lines {
		io.WriteString(o.stdout, line+"\n")
	}
}

// PrintJSON writes JSON to stdout, indented on a terminal. PrintJSON does not change
// numbers or the order of members.
func (o *Output) PrintJSON(jsonText []byte) error { return o.printJSON(jsonText, o.stdout.isTerminal) }

// PrintJSONLine writes JSON to stdout on one line, even on a terminal.
func (o *Output) PrintJSONLine(jsonText []byte) error { return o.printJSON(jsonText, false) }

func (o *Output) printJSON(jsonText []byte, isIndented bool) error {
	var b bytes.Buffer
	var err error
	if isIndented {
		err = json.Indent(&b, jsonText, "", "  ")
	} else {
		err = json.Compact(&b, jsonText)
	}
	if err != nil {
		return fmt.Errorf("print the result: it is not JSON: %w", err)
	}
	b.WriteByte('\n')
	resultJSON := b.Bytes()
	if o.stdout.isTerminal {
		resultJSON = []byte(escapeJSON(b.String()))
	}
	_, err = o.stdout.Write(resultJSON)
	return err
}

// PrintJSONList writes JSON texts to stdout as one JSON array. If stdout is a pipe, each element of
// the array is on a separate line.
func PrintJSONList(o *Output, elements [][]byte) error {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, element := range elements {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		if err := json.Compact(&b, element); err != nil {
			return fmt.Errorf("print the result: the result is not JSON: %w", err)
		}
	}
	if len(elements) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	if o.stdout.isTerminal {
		return o.PrintJSON(b.Bytes())
	}
	_, err := o.stdout.Write(b.Bytes())
	return err
}

// PrintValue encodes v as JSON and writes it to stdout, indented on a terminal.
func (o *Output) PrintValue(v any) error { return o.printValue(v, o.stdout.isTerminal) }

// PrintValueLine encodes v as JSON and writes it to stdout on one line, even on a
// terminal.
func (o *Output) PrintValueLine(v any) error { return o.printValue(v, false) }

func (o *Output) printValue(v any, isIndented bool) error {
	encodedJSON, err := rawjson.Marshal(v)
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return o.printJSON(encodedJSON, isIndented)
}

const paragraphColumns = 80

// PrintParagraph writes a paragraph to stdout that begins with label and continues with
// paragraph. On a terminal, PrintParagraph wraps the paragraph at 80 columns, and begins each
// line after the first with indent. On a terminal, PrintParagraph also colors a state such as
// "ok" at the beginning of label. In a pipe, PrintParagraph writes the paragraph as one line.
func (o *Output) PrintParagraph(label, indent, paragraph string) {
	columns, _ := o.Size()
	limit := min(columns, paragraphColumns)
	line, linePrefix := label, label
	var lines []string
	for word := range strings.FieldsSeq(SafeLine(paragraph)) {
		if line != linePrefix && o.stdout.isTerminal && textWidth(line)+1+textWidth(word) > limit {
			lines = append(lines, line)
			line, linePrefix = indent, indent
		}
		if line != linePrefix {
			line += " "
		}
		line += word
	}
	lines = append(lines, line)
	if word, _, _ := strings.Cut(label, " "); word != "" {
		lines[0] = colorizeWord(o, word) + lines[0][len(word):]
	}
	o.PrintEscapedLines(lines...)
}
