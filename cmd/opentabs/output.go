package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
)

// The rules of output, which stand in this file alone:
//
//   - stdout carries what was asked for and nothing else, so that it can be
//     piped. In `opentabs mcp` that is MCP messages.
//   - stderr carries what is said to a person: lines that begin with
//     "opentabs:", the progress bar, and the server's log.
//   - A terminal gets text that people read, a pipe gets the same facts in
//     plain lines, --json gets JSON: indented on a terminal, one line in a pipe.
//   - Nothing that came from a tool or a page is written to a terminal as it is
//     (visible.go), nor to stderr or a log, which somebody will look at in one.
//     A result in a pipe is exact, as what reads it needs it.

// output is where a command writes.
type output struct {
	stdout, stderr io.Writer
	// written is stdout; a failed write fails the command in the end.
	written *watchedWriter
	// terminal and errTerminal say whether stdout and stderr are terminals.
	terminal, errTerminal bool
	// live says whether stdout is a terminal in which the cursor can be moved up.
	live bool
	// size returns the columns and rows of the terminal behind stdout, errSize of
	// that behind stderr.
	size, errSize func() (columns, rows int)
	glyphs        glyphs
	color         bool
}

// The size of a terminal that does not tell.
const (
	fallbackColumns = 80
	fallbackRows    = 24
)

func newOutput(stdout, stderr io.Writer, getenv func(string) string) *output {
	written := &watchedWriter{w: stdout}
	o := &output{stdout: written, written: written, stderr: stderr, glyphs: asciiGlyphs}
	o.size, o.terminal = terminalOf(stdout)
	o.errSize, o.errTerminal = terminalOf(stderr)
	if f, ok := stdout.(*os.File); ok {
		o.live = o.terminal && obeysEscapes(f)
	}
	if getenv("TERM") == "dumb" { // it cannot go back in a line
		o.errTerminal, o.live = false, false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(name)); locale != "" {
			if strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8") {
				o.glyphs = unicodeGlyphs
			}
			break
		}
	}
	o.color = o.errTerminal && getenv("NO_COLOR") == ""
	return o
}

// watchedWriter remembers the first error of a write, such as that of a full
// disk. It is safe for concurrent use.
type watchedWriter struct {
	w io.Writer

	mu  sync.Mutex // guards err and the writes
	err error
}

// Write implements io.Writer. After a failed write all others fail: what is
// written then could not be told from all of it.
func (w *watchedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.w.Write(p)
	w.err = err
	return n, err
}

// failure is the first failed write as the command's error.
func (w *watchedWriter) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		return nil
	}
	return fmt.Errorf("write the output: %w", w.err)
}

// terminalOf reports whether w is a terminal, and how to ask for its size.
func terminalOf(w io.Writer) (size func() (columns, rows int), ok bool) {
	f, isFile := w.(*os.File)
	if !isFile {
		return func() (int, int) { return fallbackColumns, fallbackRows }, false
	}
	_, _, ok = terminalSize(f)
	return func() (int, int) {
		columns, rows, _ := terminalSize(f)
		if columns <= 0 {
			columns = fallbackColumns
		}
		if rows <= 0 {
			rows = fallbackRows
		}
		return columns, rows
	}, ok
}

// width is how many columns the terminal behind stdout has, errWidth that behind
// stderr.
func (o *output) width() int {
	columns, _ := o.size()
	return columns
}

func (o *output) errWidth() int {
	columns, _ := o.errSize()
	return columns
}

// say tells a person something. Further lines are set in, so that no text can
// look like another line of ours.
func (o *output) say(format string, args ...any) {
	text := visibleText(fmt.Sprintf(format, args...))
	fmt.Fprintf(o.stderr, "opentabs: %s\n", strings.ReplaceAll(text, "\n", "\n  "))
}

// ask asks a person something; the answer comes on the same line.
func (o *output) ask(question string) {
	fmt.Fprintf(o.stderr, "opentabs: %s", visibleText(question))
}

// prompt asks for a line of input, unprompt takes that off the terminal again.
func (o *output) prompt(name string) {
	fmt.Fprintf(o.stderr, "%s> ", visibleText(name))
}

func (o *output) unprompt() {
	if o.errTerminal {
		fmt.Fprint(o.stderr, "\r\x1b[K")
	}
}

// answered ends the line of a question whose answer the terminal does not show.
func (o *output) answered() { fmt.Fprintln(o.stderr) }

// line writes one line of what was asked for.
func (o *output) line(format string, args ...any) {
	o.text(fmt.Sprintf(format, args...))
}

// text writes what was asked for, ended by a line end.
func (o *output) text(text string) {
	if o.terminal {
		text = visibleText(text)
	}
	io.WriteString(o.stdout, strings.TrimSuffix(text, "\n")+"\n")
}

// raw writes a JSON text, whose numbers and order stay as they are.
func (o *output) raw(text []byte) error {
	var b bytes.Buffer
	var err error
	if o.terminal {
		err = json.Indent(&b, text, "", "  ")
	} else {
		err = json.Compact(&b, text)
	}
	if err != nil {
		return fmt.Errorf("print the result: it is not JSON: %w", err)
	}
	if o.terminal {
		b = *bytes.NewBufferString(visibleJSON(b.String()))
	}
	b.WriteByte('\n')
	_, err = o.stdout.Write(b.Bytes())
	return err
}

// jsonLine writes a JSON text on one line, on a terminal too.
func (o *output) jsonLine(text []byte) error {
	pipe := *o
	pipe.terminal = false
	if o.terminal {
		text = []byte(visibleJSON(string(text)))
	}
	return pipe.raw(text)
}

// value writes v as JSON.
func (o *output) value(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("print the answer: %w", err)
	}
	return o.raw(b.Bytes())
}

// table writes rows whose columns stand below each other, each after indent. The last column is
// cut at the edge of a terminal; a pipe gets all of it.
func (o *output) table(indent string, rows [][]string) {
	for _, row := range rows {
		for i, cell := range row {
			indent := len(cell) - len(strings.TrimLeft(cell, " "))
			row[i] = cell[:indent] + oneLine(cell)
		}
	}
	lines := aligned(rows, nil)
	for i, line := range lines {
		lines[i] = strings.TrimRight(indent+line, " ")
		if o.terminal {
			lines[i] = fit(lines[i], o.width())
		}
	}
	o.inert(lines)
}

// lastColumn is how much of the last column a terminal should have room for.
const lastColumn = 24

// narrowTable is table, but on a terminal that is too narrow for it columns are
// left out, the first one of drop first. rows[0] has their names.
func (o *output) narrowTable(indent string, rows [][]string, drop ...string) {
	for _, name := range drop {
		if !o.terminal || tableWidth(indent, rows) <= o.width() {
			break
		}
		if i := slices.Index(rows[0], name); i >= 0 {
			for n, row := range rows {
				rows[n] = slices.Delete(slices.Clone(row), i, i+1)
			}
		}
	}
	o.table(indent, rows)
}

// tableWidth is how many columns of a terminal rows need.
func tableWidth(indent string, rows [][]string) int {
	width := len(indent)
	for i := range rows[0] {
		widest := 0
		for _, row := range rows {
			widest = max(widest, textWidth(row[i]))
		}
		if i == len(rows[0])-1 {
			return width + min(widest, lastColumn)
		}
		width += widest + 2
	}
	return width
}

// inert writes lines that hold nothing a terminal obeys.
func (o *output) inert(lines []string) {
	for _, line := range lines {
		io.WriteString(o.stdout, line+"\n")
	}
}

// aligned returns rows of inert cells as lines in which the columns stand below
// each other; those that right says stand at the right.
func aligned(rows [][]string, right []bool) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], textWidth(cell))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			gap := strings.Repeat(" ", widths[i]-textWidth(cell))
			if i < len(right) && right[i] {
				cell, gap = gap+cell, ""
			}
			b.WriteString(cell + gap + "  ")
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}
