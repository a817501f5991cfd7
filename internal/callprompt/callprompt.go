// Package callprompt lets the user allow or deny waiting calls in the terminal.
//
// [New] returns a [Prompter] for the terminal of a command. [Prompter.Ask] asks the user about one call and sends the
// answer to the server. Other surfaces, such as the side panel, show the same question as the terminal, and the user's
// first answer counts.
package callprompt

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/callview"
	"opentabs/internal/httpapi"
	"opentabs/internal/recorder"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

// A line typed within minReadTime, before a question is readable, was probably meant for another program.
const minReadTime = 500 * time.Millisecond

// The interface calls has the methods of [httpapi.CallsClient] that a [Prompter] needs. In tests,
// a fake implementation replaces the HTTP client.
type calls interface {
	Get(ctx context.Context, callID string) (recorder.Record, error)
	Decide(ctx context.Context, callID string, d httpapi.Decision) (httpapi.DecideResponse, error)
}

// Prompter asks the user of a terminal about waiting calls, one question at a time. A
// Prompter is safe for concurrent use.
type Prompter struct {
	calls       calls
	terminalOut *terminal.Output
	inputReader io.Reader

	questionSemaphore chan struct{} // questionSemaphore is a semaphore that contains one element while a question is open
	startReader       sync.Once
	typedLines        chan string // typedLines receives each line that the user types, and is closed at the end of the input
}

// New returns a [Prompter] that reads the user's answers from inputReader. If inputReader
// or stderr is not a terminal, New returns nil.
func New(server httpapi.CallsClient, terminalOut *terminal.Output, inputReader io.Reader) *Prompter {
	if !terminal.IsTerminal(inputReader) || !terminal.HasErrorTerminal(terminalOut) {
		return nil
	}
	return newPrompter(server, terminalOut, inputReader)
}

func newPrompter(server calls, terminalOut *terminal.Output, inputReader io.Reader) *Prompter {
	return &Prompter{calls: server, terminalOut: terminalOut, inputReader: inputReader, questionSemaphore: make(chan struct{}, 1), typedLines: make(chan string)}
}

// A question ignores a line that the user typed before the question appeared.
func (p *Prompter) readLines() {
	defer close(p.typedLines)
	scanner := bufio.NewScanner(p.inputReader)
	for scanner.Scan() {
		p.typedLines <- scanner.Text()
	}
}

// Ask shows a waiting call and asks the user for a decision. If the user decides on another
// surface, the caller cancels ctx, and Ask withdraws the question. If the terminal's input
// has ended, Ask returns what the call still waits for, such as "waiting for approval". If
// the terminal's input is still open, Ask returns "".
func (p *Prompter) Ask(ctx context.Context, callID, ticketID string) (waitingText string) {
	select {
	case p.questionSemaphore <- struct{}{}:
		defer func() { <-p.questionSemaphore }()
	case <-ctx.Done(): // the user decided elsewhere before the question was shown
		return ""
	}
	v, err := p.calls.Get(ctx, callID)
	if err != nil || v.Waiting == nil || v.Waiting.TicketID != ticketID { // the user decided elsewhere while the terminal showed another question
		return ""
	}
	p.startReader.Do(func() { go p.readLines() })
	p.terminalOut.Notef("%s", strings.Join(callview.TicketLines(v.View, time.Now()), "\n"))
	question := question{p, v.View, ticketID}
	for {
		allow, hasAnswer := question.readAnswer(ctx)
		if ctx.Err() != nil {
			question.printWithdrawnQuestion(ctx)
			return ""
		}
		if !hasAnswer {
			waitingText := callview.WaitingText(*v.Waiting)
			p.terminalOut.Notef("the call is still %s: answer in the side panel, or with `opentabs calls approve %s`", waitingText, callID)
			return waitingText
		}
		if question.decide(ctx, allow) {
			return ""
		}
	}
}

// The type question is an open question in the terminal about one waiting call.
type question struct {
	prompter *Prompter
	view     dispatch.View
	ticketID string
}

func (q question) readAnswer(ctx context.Context) (allow, hasAnswer bool) {
	isUserAction := q.view.Waiting.Kind == wire.TicketUser
	prompt := "Allow this call? [y/N] "
	if isUserAction {
		prompt = "Is it done? [y/n] "
	}
	for {
		shownAt := time.Now()
		terminal.ShowQuestion(q.prompter.terminalOut, prompt)
		var line string
		var isOpen bool
		select {
		case <-ctx.Done():
			return false, false
		case line, isOpen = <-q.prompter.typedLines:
		}
		switch decision := strings.ToLower(strings.TrimSpace(line)); {
		case !isOpen:
			terminal.EndQuestion(q.prompter.terminalOut)
			return false, false
		case time.Since(shownAt) < minReadTime:
			q.prompter.terminalOut.Notef("answered too quickly: read the question, then type y or n")
		case decision == "y", decision == "yes":
			return true, true
		case decision == "n", decision == "no", decision == "" && !isUserAction:
			return false, true
		default:
			q.prompter.terminalOut.Notef("type y or n")
		}
	}
}

// The method decide returns false if sending the decision failed, so that the caller asks the
// user again.
func (q question) decide(ctx context.Context, allow bool) bool {
	decision := httpapi.Decision{Allow: &allow, TicketID: q.ticketID}
	if allow {
		decision.Scope = wire.ScopeOnce
	}
	terminalOut := q.prompter.terminalOut
	// A decision cancels ctx, so the request that sends the decision to the server must not depend on ctx.
	decideCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), decideTimeout)
	defer cancel()
	result, err := q.prompter.calls.Decide(decideCtx, q.view.CallID, decision)
	switch {
	case ctx.Err() != nil && err != nil:
		q.printWithdrawnQuestion(ctx)
	case err != nil:
		terminalOut.Notef("the decision was not sent: %v", err)
		return false
	case result.Outcome == wire.DecisionAlreadyMade:
		terminalOut.Notef("%s", formatEarlierDecision(result.Allowed, result.By))
	case result.Outcome != wire.DecisionAccepted:
		terminalOut.Notef("too late: the call has already ended")
	}
	return true
}

const decideTimeout = 10 * time.Second

const lookUpTimeout = 2 * time.Second

func (q question) printWithdrawnQuestion(ctx context.Context) {
	terminalOut := q.prompter.terminalOut
	terminal.EndQuestion(terminalOut)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookUpTimeout)
	defer cancel()
	v, err := q.prompter.calls.Get(ctx, q.view.CallID)
	switch {
	case err == nil && v.Decision != nil && v.Decision.TicketID == q.ticketID:
		terminalOut.Notef("%s", formatEarlierDecision(v.Decision.Allow, v.Decision.Surface))
	default:
		terminalOut.Notef("no answer is needed: the call no longer waits for approval")
	}
}

func formatEarlierDecision(isAllowed bool, surface string) string {
	decision := "denied"
	if isAllowed {
		decision = "allowed"
	}
	return fmt.Sprintf("already %s by %s", decision, terminal.SafeLine(surface))
}
