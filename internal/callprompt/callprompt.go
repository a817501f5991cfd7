// Package callprompt asks the user of a terminal about calls that wait for approval.
//
// [New] returns a [Prompter] for the terminal of a command. [Prompter.Ask] asks about one
// ticket and sends the user's answer to the server. Other surfaces show the same ticket
// at the same time; the first decision counts. After a decision elsewhere, Ask prints
// which surface decided.
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

// minReadTime is how long a question must be visible before an answer counts. The user
// may have typed an earlier line for another program.
const minReadTime = 500 * time.Millisecond

// calls has the requests that a Prompter sends to the server. [httpapi.CallsClient]
// implements calls.
type calls interface {
	Get(ctx context.Context, callID string) (recorder.Record, error)
	Decide(ctx context.Context, callID string, d httpapi.Decision) (httpapi.Decided, error)
}

// Prompter asks the user about one ticket at a time. Prompter is safe for concurrent use.
type Prompter struct {
	calls calls
	out   *terminal.Output
	in    io.Reader

	questionSlot chan struct{} // has a token while a question is open
	startRead    sync.Once
	typedLines   chan string // lines that the user types; closed at the end of the input
}

// New returns a prompter that reads the user's answers from in. New returns nil unless in
// and stderr are terminals.
func New(server httpapi.CallsClient, out *terminal.Output, in io.Reader) *Prompter {
	if !terminal.IsTerminal(in) || !terminal.HasErrorTerminal(out) {
		return nil
	}
	return newPrompter(server, out, in)
}

func newPrompter(server calls, out *terminal.Output, in io.Reader) *Prompter {
	return &Prompter{calls: server, out: out, in: in, questionSlot: make(chan struct{}, 1), typedLines: make(chan string)}
}

// readLines sends the lines of the input to p.lines. A line that the user types while no
// question is open waits until the next question, which drops the line.
func (p *Prompter) readLines() {
	defer close(p.typedLines)
	scanner := bufio.NewScanner(p.in)
	for scanner.Scan() {
		p.typedLines <- scanner.Text()
	}
}

// Ask shows a ticket and asks the user for a decision. Ask returns when the user has
// answered, when the user has decided elsewhere (ctx ends), or when the input has ended.
func (p *Prompter) Ask(ctx context.Context, callID, ticketID string) {
	select {
	case p.questionSlot <- struct{}{}:
		defer func() { <-p.questionSlot }()
	case <-ctx.Done(): // the user decided before the question was shown
		return
	}
	v, err := p.calls.Get(ctx, callID)
	if err != nil || v.Waiting == nil || v.Waiting.TicketID != ticketID { // the user decided while another question was shown
		return
	}
	p.startRead.Do(func() { go p.readLines() })
	p.out.Notef("%s", strings.Join(callview.TicketLines(v.View, time.Now()), "\n"))
	question := question{p, v.View, ticketID}
	for {
		allow, isAnswered := question.readAnswer(ctx)
		if ctx.Err() != nil {
			question.printWithdrawal(ctx)
			return
		}
		if !isAnswered {
			p.out.Notef("no answer in this terminal; decide in the side panel, or with `opentabs calls approve %s`", callID)
			return
		}
		if question.decide(ctx, allow) {
			return
		}
	}
}

// question is a ticket about which the terminal asks the user.
type question struct {
	prompter *Prompter
	view     dispatch.View
	ticketID string
}

// readAnswer repeats the question until the user types yes or no. isAnswered is false if
// the input or ctx has ended.
func (q question) readAnswer(ctx context.Context) (allow, isAnswered bool) {
	isAction := q.view.Waiting.Kind == wire.TicketUser
	text := "Allow this call? [y/N] "
	if isAction {
		text = "Is it done? [y/n] "
	}
	for {
		shownAt := time.Now()
		terminal.ShowQuestion(q.prompter.out, text)
		var line string
		var isOpen bool
		select {
		case <-ctx.Done():
			return false, false
		case line, isOpen = <-q.prompter.typedLines:
		}
		switch answer := strings.ToLower(strings.TrimSpace(line)); {
		case !isOpen:
			terminal.EndQuestion(q.prompter.out)
			return false, false
		case time.Since(shownAt) < minReadTime:
			q.prompter.out.Notef("the line was typed before the question was shown")
		case answer == "y", answer == "yes":
			return true, true
		case answer == "n", answer == "no", answer == "" && !isAction:
			return false, true
		default:
			q.prompter.out.Notef("type y or n")
		}
	}
}

// decide sends the user's decision to the server, and prints its effect. decide returns
// false if the server did not receive the decision and the call may still wait.
func (q question) decide(ctx context.Context, allow bool) bool {
	decision := httpapi.Decision{Allow: &allow, TicketID: q.ticketID}
	if allow {
		decision.Scope = wire.ScopeOnce
	}
	out := q.prompter.out
	result, err := q.prompter.calls.Decide(ctx, q.view.CallID, decision)
	switch {
	case ctx.Err() != nil && err != nil:
		q.printWithdrawal(ctx)
	case err != nil:
		out.Notef("the decision was not sent: %v", err)
		return false
	case result.Outcome == wire.DecisionAlreadyMade:
		out.Notef("%s", formatEarlierDecision(result.Allowed, result.By))
	case result.Outcome != wire.DecisionAccepted:
		out.Notef("too late: the call has already ended")
	}
	return true
}

// lookUpTimeout limits the request that finds out which surface made a decision.
const lookUpTimeout = 2 * time.Second

// printWithdrawal prints why the open question no longer needs an answer.
func (q question) printWithdrawal(ctx context.Context) {
	out := q.prompter.out
	terminal.EndQuestion(out)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookUpTimeout)
	defer cancel()
	v, err := q.prompter.calls.Get(ctx, q.view.CallID)
	switch {
	case err == nil && v.Decision != nil && v.Decision.TicketID == q.ticketID:
		out.Notef("%s", formatEarlierDecision(v.Decision.Allow, v.Decision.Surface))
	default:
		out.Notef("no answer is needed: the call no longer waits for approval")
	}
}

// formatEarlierDecision returns the sentence about a decision that another surface made.
func formatEarlierDecision(isAllowed bool, surface string) string {
	decision := "denied"
	if isAllowed {
		decision = "allowed"
	}
	return fmt.Sprintf("already %s by %s", decision, terminal.SafeLine(surface))
}
