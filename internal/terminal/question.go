package terminal

import (
	"bufio"
	"fmt"
	"os"

	"golang.org/x/term"
)

// Questions asks the user questions on a terminal.
type Questions struct {
	out   *Output
	in    *os.File
	lines *bufio.Reader
}

// NewQuestions returns questions whose answers are read from in. NewQuestions returns
// nil if in is not a terminal.
func (o *Output) NewQuestions(in any) *Questions {
	if !IsTerminal(in) {
		return nil
	}
	file := in.(*os.File)
	return &Questions{out: o, in: file, lines: bufio.NewReader(file)}
}

// Ask writes a question to stderr and returns the line that the user types, without an
// echo if the answer is a secret.
func (q *Questions) Ask(question string, secret bool) (string, error) {
	fmt.Fprintf(q.out.stderr, "opentabs: %s", safeText(question))
	if !secret || q.lines.Buffered() > 0 { // the terminal has already shown text that was typed ahead
		return q.lines.ReadString('\n')
	}
	text, err := term.ReadPassword(int(q.in.Fd()))
	fmt.Fprintln(q.out.stderr) // the terminal did not show the line end after the secret
	return string(text), err
}
