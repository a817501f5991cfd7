package terminal

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

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

// HasErrorTerminal reports whether stderr is a terminal, on which the user can see
// questions.
func HasErrorTerminal(o *Output) bool { return o.stderr.isTerminal }

// ShowQuestion writes a question to stderr, and leaves the cursor behind the question.
func ShowQuestion(o *Output, question string) {
	fmt.Fprintf(o.stderr, "opentabs: %s", safeText(question))
}

// EndQuestion starts a new line after a question that gets no answer.
func EndQuestion(o *Output) { fmt.Fprintln(o.stderr) }

// Ask writes a question to stderr and returns the line that the user types, and hides the
// typed text if the answer is a secret. If ctx ends first, for example by Ctrl-C, Ask
// returns the error of ctx, and the terminal shows input again.
func (q *Questions) Ask(ctx context.Context, question string, secret bool) (string, error) {
	type answer struct {
		text string
		err  error
	}
	before, stateErr := term.GetState(int(q.in.Fd()))
	answers := make(chan answer, 1)
	fmt.Fprintf(q.out.stderr, "opentabs: %s", safeText(question))
	go func() { // reading from a terminal cannot be cancelled
		text, err := q.read(secret)
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		return a.text, a.err
	case <-ctx.Done():
		if secret && stateErr == nil {
			_ = term.Restore(int(q.in.Fd()), before)
		}
		fmt.Fprintln(q.out.stderr)
		return "", ctx.Err()
	}
}

// Confirm asks a question whose default answer is yes. Confirm returns false if ctx ends
// or the user closes the terminal's input before answering.
func (q *Questions) Confirm(ctx context.Context, question string) bool {
	answer, err := q.Ask(ctx, question, false)
	word := strings.ToLower(strings.TrimSpace(answer))
	return word == "y" || word == "yes" || err == nil && word == ""
}

// read returns the next line that the user types.
func (q *Questions) read(secret bool) (string, error) {
	if !secret || q.lines.Buffered() > 0 { // the terminal has already shown text that was typed ahead
		return q.lines.ReadString('\n')
	}
	text, err := term.ReadPassword(int(q.in.Fd()))
	fmt.Fprintln(q.out.stderr) // the terminal did not show the line end after the secret
	return string(text), err
}
