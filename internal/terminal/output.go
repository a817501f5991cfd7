package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// Output writes to the standard output and the standard error of a command.
type Output struct {
	stdout, stderr stream
	// checkedStdout is the writer to which stdout writes. If a write to stdout fails, the command
	// fails.
	checkedStdout         *checkedWriter
	glyphSet              Glyphs
	canRedraw             bool
	color, hasStdoutColor bool
}

// The type stream is either stdout or stderr.
type stream struct {
	io.Writer
	isTerminal bool
	size       func() (columns, screenRows int)
}

// A terminal that does not report its size is assumed to have 80 columns and 24 rows.
const (
	fallbackColumns = 80
	fallbackRows    = 24
)

// New returns an Output that writes to stdout and stderr. The argument getenv is [os.Getenv], except in tests.
func New(stdout, stderr io.Writer, getenv func(string) string) *Output {
	o := &Output{
		stdout: newStream(stdout), stderr: newStream(stderr), checkedStdout: &checkedWriter{w: stdout}, glyphSet: localeGlyphs(getenv),
	}
	o.stdout.Writer = o.checkedStdout
	if f, ok := stdout.(*os.File); ok {
		o.canRedraw = o.stdout.isTerminal && supportsEscapes(f)
		o.hasStdoutColor = o.stdout.isTerminal && hasColor(f, getenv)
	}
	if getenv("TERM") == "dumb" { // a dumb terminal cannot move its cursor back
		o.stderr.isTerminal, o.canRedraw = false, false
	}
	o.color = o.stderr.isTerminal && getenv("NO_COLOR") == ""
	return o
}

// NewTerminal returns an Output for tests that writes to w as if w were a terminal without colors. The function size
// returns the current columns and rows of the simulated terminal.
func NewTerminal(w io.Writer, size func() (columns, screenRows int)) *Output {
	terminalStream := stream{Writer: w, isTerminal: true, size: size}
	return &Output{stdout: terminalStream, stderr: terminalStream, checkedStdout: &checkedWriter{w: w}, glyphSet: ASCIIGlyphs, canRedraw: true}
}

// WithTextOnStderr returns an output that writes texts and tables to stderr, for a command
// whose only output on stdout is one JSON document.
func WithTextOnStderr(o *Output) *Output {
	redirectedOutput := *o
	redirectedOutput.stdout, redirectedOutput.canRedraw, redirectedOutput.hasStdoutColor = o.stderr, false, false
	return &redirectedOutput
}

func newStream(w io.Writer) stream {
	s := stream{Writer: w, isTerminal: IsTerminal(w)}
	s.size = func() (columns, screenRows int) {
		if s.isTerminal {
			columns, screenRows, _ = term.GetSize(int(w.(*os.File).Fd()))
		}
		if columns <= 0 {
			columns = fallbackColumns
		}
		if screenRows <= 0 {
			screenRows = fallbackRows
		}
		return columns, screenRows
	}
	return s
}

func localeGlyphs(getenv func(string) string) Glyphs {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(name)); locale != "" {
			if strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8") {
				return unicodeGlyphs
			}
			break
		}
	}
	return ASCIIGlyphs
}

// IsTerminal reports whether a command's input or output is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// checkedWriter stores the error of the first failed write, for example to a full disk.
// checkedWriter is safe for concurrent use.
type checkedWriter struct {
	w io.Writer

	mu  sync.Mutex // the mutex guards err and serializes writes
	err error
}

// After a failed write, Write fails for all further writes, because a reader could not detect a gap in the output.
func (w *checkedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.w.Write(p)
	w.err = err
	return n, err
}

// WriteError returns the error of the first failed write to stdout, or nil. Commands
// return the error of WriteError as their own error.
func (o *Output) WriteError() error {
	o.checkedStdout.mu.Lock()
	defer o.checkedStdout.mu.Unlock()
	if o.checkedStdout.err == nil {
		return nil
	}
	return fmt.Errorf("write the output: %w", o.checkedStdout.err)
}

// Stdout returns a writer for commands that stream data to stdout.
func (o *Output) Stdout() io.Writer { return o.stdout }

// IsTerminal reports whether stdout is a terminal.
func (o *Output) IsTerminal() bool { return o.stdout.isTerminal }

// CanRedraw reports whether stdout is a terminal on which a [RedrawableBlock] can be drawn.
func (o *Output) CanRedraw() bool { return o.canRedraw }

// Size returns the columns and rows of the terminal, or 80 and 24 if stdout reports no
// size.
func (o *Output) Size() (columns, screenRows int) { return o.stdout.size() }

// Glyphs returns the characters for drawing progress bars, which depend on the locale.
func (o *Output) Glyphs() Glyphs { return o.glyphSet }
