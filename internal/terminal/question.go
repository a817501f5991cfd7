package terminal

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// QuestionReader reads the user's answers to questions from a terminal.
type QuestionReader struct {
	terminalOut *Output
	in          *os.File
	lines       *bufio.Reader
}

// NewQuestionReader returns a QuestionReader that reads the answers from in, or nil if in is not a
// terminal.
func (o *Output) NewQuestionReader(in any) *QuestionReader {
	if !IsTerminal(in) {
		return nil
	}
	file := in.(*os.File)
	return &QuestionReader{terminalOut: o, in: file, lines: bufio.NewReader(file)}
}

// HasErrorTerminal reports whether stderr is a terminal, where questions are displayed.
func HasErrorTerminal(o *Output) bool { return o.stderr.isTerminal }

// ShowQuestion writes a question to stderr without a line break, so that the user's answer appears
// on the same line.
func ShowQuestion(o *Output, question string) {
	fmt.Fprint(o.stderr, wrapQuestion(o, question))
}

const minAnswerColumns = 5

func wrapQuestion(o *Output, question string) string {
	questionText := "opentabs: " + escapeText(question)
	if !o.stderr.isTerminal {
		return questionText
	}
	columns, _ := o.stderr.size()
	trimmedLine := strings.TrimRight(questionText, " ")
	lines := wrapLine(trimmedLine, "  ", columns-minAnswerColumns)
	return strings.Join(lines, "\n") + questionText[len(trimmedLine):]
}

// EndQuestion ends the line of a question that received no answer.
func EndQuestion(o *Output) { fmt.Fprintln(o.stderr) }

// Ask writes a question to stderr and returns the line that the user types. If secret is true, the typed text is
// hidden. If ctx ends before the user answers, for example by Ctrl-C, Ask returns the error of ctx.
func (q *QuestionReader) Ask(ctx context.Context, question string, secret bool) (string, error) {
	type typedAnswer struct {
		input string
		err   error
	}
	terminalState, terminalErr := term.GetState(int(q.in.Fd()))
	typedAnswers := make(chan typedAnswer, 1)
	fmt.Fprint(q.terminalOut.stderr, wrapQuestion(q.terminalOut, question))
	go func() { // reading from a terminal cannot be cancelled
		input, err := q.read(secret)
		typedAnswers <- typedAnswer{input, err}
	}()
	select {
	case a := <-typedAnswers:
		return a.input, a.err
	case <-ctx.Done():
		if secret && terminalErr == nil {
			_ = term.Restore(int(q.in.Fd()), terminalState)
		}
		fmt.Fprintln(q.terminalOut.stderr)
		return "", ctx.Err()
	}
}

// Confirm asks a yes-no question and returns true for yes, which is the default. If ctx
// ends or the terminal's input is closed before the user answers, Confirm returns false.
func (q *QuestionReader) Confirm(ctx context.Context, question string) bool {
	isConfirmed, err := q.Ask(ctx, question, false)
	word := strings.ToLower(strings.TrimSpace(isConfirmed))
	return word == "y" || word == "yes" || err == nil && word == ""
}

func (q *QuestionReader) read(secret bool) (string, error) {
	if !secret || q.lines.Buffered() > 0 { // the terminal has already displayed text that was typed ahead
		line, err := q.lines.ReadString('\n')
		if err != nil { // without an answer, the terminal is still on the line of the question
			EndQuestion(q.terminalOut)
		}
		return line, err
	}
	password, err := term.ReadPassword(int(q.in.Fd()))
	fmt.Fprintln(q.terminalOut.stderr)
	return string(password), err
}
