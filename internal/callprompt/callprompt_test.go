package callprompt

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/httpapi"
	"opentabs/internal/recorder"
	"opentabs/internal/terminal"
	"opentabs/internal/terminal/terminaltest"
	"opentabs/wire"
)

type fakeCalls struct {
	view      dispatch.View
	decisions []httpapi.Decision
	result    httpapi.DecideResponse
	errors    []error
	onDecide  func()
}

func (f *fakeCalls) Get(context.Context, string) (recorder.Record, error) {
	return recorder.Record{View: f.view}, nil
}

func (f *fakeCalls) Decide(ctx context.Context, _ string, d httpapi.Decision) (httpapi.DecideResponse, error) {
	f.decisions = append(f.decisions, d)
	if f.onDecide != nil {
		f.onDecide()
	}
	if ctx.Err() != nil {
		return httpapi.DecideResponse{}, ctx.Err()
	}
	if len(f.errors) > 0 {
		err := f.errors[0]
		f.errors = f.errors[1:]
		return httpapi.DecideResponse{}, err
	}
	return f.result, nil
}

type promptFixture struct {
	calls        *fakeCalls
	screen       *terminaltest.Screen
	typedInput   *io.PipeWriter
	prompter     *Prompter
	wantQuestion bool
	waitingText  string
	withdraw     context.CancelFunc
}

func startQuestion(t *testing.T, kind wire.TicketKind) *promptFixture {
	in, typedInput := io.Pipe()
	f := &promptFixture{
		screen: &terminaltest.Screen{Columns: 80, Rows: 40}, typedInput: typedInput,
		calls: &fakeCalls{
			view: dispatch.View{Snapshot: dispatch.Snapshot{CallID: "call_1", ToolName: "chat__post"}, Waiting: &dispatch.WaitingTicket{
				TicketID: "ticket_1", Kind: kind, Reason: "Client cursor wants to run chat__post", Args: `{"text":"hi"}`, ExpiresAt: time.Now().Add(time.Minute),
			}},
			result: httpapi.DecideResponse{Outcome: wire.DecisionAccepted},
		},
	}
	f.prompter = newPrompter(f.calls, terminal.NewTerminal(f.screen, func() (int, int) { return 80, 40 }), in)
	t.Cleanup(func() { typedInput.Close() })
	f.ask()
	return f
}

func (f *promptFixture) ask() {
	ctx, cancel := context.WithCancel(context.Background())
	f.wantQuestion, f.withdraw = true, cancel
	go func() {
		defer cancel()
		f.waitingText = f.prompter.Ask(ctx, "call_1", "ticket_1")
		f.wantQuestion = false
	}()
	synctest.Wait()
}

func (f *promptFixture) typeLine(delay time.Duration, line string) {
	time.Sleep(delay)
	go io.WriteString(f.typedInput, line+"\n")
	synctest.Wait()
}

func (f *promptFixture) check(t *testing.T, wantQuestion bool, want string) {
	t.Helper()
	got := ""
	if n := len(f.calls.decisions); n > 0 {
		d := f.calls.decisions[n-1]
		got = map[bool]string{true: "allow", false: "deny"}[*d.Allow]
		if d.TicketID != "ticket_1" {
			t.Errorf("ticket ID of the decision = %q, want ticket_1", d.TicketID)
		}
	}
	if f.wantQuestion != wantQuestion || got != want {
		t.Errorf("question open = %t, last decision = %q; want open = %t, decision = %q; terminal:\n%s", f.wantQuestion, got, wantQuestion, want, f.screenText())
	}
}

func (f *promptFixture) screenText() string { return f.screen.String() }

func TestTypedAnswers(t *testing.T) {
	for _, c := range []struct {
		kind         wire.TicketKind
		line         string
		wantQuestion bool
		want         string
	}{
		{wire.TicketPermission, "y", false, "allow"},
		{wire.TicketPermission, " Yes ", false, "allow"},
		{wire.TicketPermission, "n", false, "deny"},
		{wire.TicketPermission, "", false, "deny"},
		{wire.TicketPermission, "yep", true, ""},
		{wire.TicketUser, "y", false, "allow"},
		{wire.TicketUser, "no", false, "deny"},
		{wire.TicketUser, "", true, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := startQuestion(t, c.kind)
			f.typeLine(time.Second, c.line)
			f.check(t, c.wantQuestion, c.want)
			f.withdraw()
			f.typedInput.Close()
		})
	}
}

func TestQuestionShowsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startQuestion(t, wire.TicketPermission)
		for _, want := range []string{"chat__post is waiting for approval", "Client cursor wants", `"text": "hi"`, "Allow this call? [y/N]"} {
			if !strings.Contains(f.screenText(), want) {
				t.Errorf("the terminal does not show %q:\n%s", want, f.screenText())
			}
		}
		f.withdraw()
		f.typedInput.Close()
	})
}

// TestInputBeforeQuestionIsIgnored checks that a line that was typed before a question appeared does not
// answer the question.
func TestInputBeforeQuestionIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startQuestion(t, wire.TicketPermission)
		f.typeLine(100*time.Millisecond, "y")
		f.check(t, true, "")
		f.typeLine(time.Second, "n")
		f.check(t, false, "deny")
		f.typeLine(time.Second, "y") // the user types a line between two questions
		f.calls.decisions = nil
		f.ask()
		f.check(t, true, "")
		f.withdraw()
		f.typedInput.Close()
	})
}

// TestQuestionDecidedOnOtherSurface checks that a decision on another surface ends the question in the
// terminal, and that the terminal shows on which surface.
func TestQuestionDecidedOnOtherSurface(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startQuestion(t, wire.TicketPermission)
		f.calls.view.Decision = &dispatch.Resolution{TicketID: "ticket_1", Allow: true, Surface: "the side panel"}
		f.withdraw()
		synctest.Wait()
		f.check(t, false, "")
		if !strings.Contains(f.screenText(), "opentabs: already allowed by the side panel") {
			t.Errorf("the terminal shows\n%s\nwant a note that the side panel allowed the call", f.screenText())
		}
		f.typedInput.Close()
	})
}

func TestAnswerAfterEarlierDecision(t *testing.T) {
	for want, result := range map[string]httpapi.DecideResponse{
		"already denied by a notification":     {Outcome: wire.DecisionAlreadyMade, By: "a notification"},
		"too late: the call has already ended": {Outcome: wire.DecisionNotPending},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := startQuestion(t, wire.TicketPermission)
			f.calls.result = result
			f.typeLine(time.Second, "y")
			f.check(t, false, "allow")
			if !strings.Contains(f.screenText(), want) {
				t.Errorf("the terminal does not show %q:\n%s", want, f.screenText())
			}
			f.typedInput.Close()
		})
	}
}

// TestQuestionIsRepeatedAfterFailedDecision checks that the terminal repeats the question if the server did not
// receive the decision.
func TestQuestionIsRepeatedAfterFailedDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startQuestion(t, wire.TicketPermission)
		f.calls.errors = []error{errors.New("the server sent no answer")}
		f.typeLine(time.Second, "y")
		f.check(t, true, "allow")
		f.typeLine(time.Second, "n")
		f.check(t, false, "deny")
		f.typedInput.Close()
	})
}

// TestEndOfInputDecidesNothing checks that the end of the terminal's input neither allows nor denies
// the call.
func TestEndOfInputDecidesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startQuestion(t, wire.TicketPermission)
		f.typedInput.Close()
		synctest.Wait()
		f.check(t, false, "")
		if !strings.Contains(strings.Join(strings.Fields(f.screenText()), " "), "the call is still waiting for approval: answer in the side panel, or with `opentabs calls approve call_1`") || f.waitingText != "waiting for approval" {
			t.Errorf("after the end of the input: waiting text = %q; want \"waiting for approval\"; terminal:\n%s", f.waitingText, f.screenText())
		}
	})
}

// TestOwnAnswerPrintsNoNote checks that the terminal prints no note when the user's
// own answer in the terminal closes the question.
func TestOwnAnswerPrintsNoNote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startQuestion(t, wire.TicketPermission)
		f.calls.onDecide = func() {
			f.calls.view.Decision = &dispatch.Resolution{TicketID: "ticket_1", Surface: "the command line"}
			f.withdraw()
		}
		f.typeLine(time.Second, "n")
		f.check(t, false, "deny")
		if strings.Contains(f.screenText(), "already") || f.waitingText != "" {
			t.Errorf("waiting text = %q; want none; want no note with the word already in the terminal:\n%s", f.waitingText, f.screenText())
		}
		f.typedInput.Close()
	})
}
