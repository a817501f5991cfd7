package setupcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"opentabs/browser"
	"opentabs/dispatch"
	"opentabs/internal/callview"
	"opentabs/internal/cli"
	"opentabs/internal/httpapi"
	"opentabs/internal/humanize"
	"opentabs/internal/setup"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

const (
	// firstCallTimeout limits how long the first call may take, including the user's
	// approval.
	firstCallTimeout     = 3 * time.Minute
	approvalPollInterval = 100 * time.Millisecond
	maxShownTabs         = 5
	listTabsTool         = "browser_tabs"
)

// callingClient is the MCP client whose configured command setup runs to make the first
// call.
type callingClient struct {
	title   string
	command setup.Command
}

// firstCall is a call at the end of setup that lists the user's open tabs. Like an
// agent's calls, the first call needs the user's approval.
type firstCall struct {
	program   *cli.Program
	client    *httpapi.Client
	questions *terminal.QuestionReader
	caller    callingClient
	result    *firstCallResult
}

// callOutcome is the result or the error of the call that setup makes at its end.
type callOutcome struct {
	output string
	err    error
}

func (f firstCall) run(ctx context.Context) error {
	terminalOut := f.program.Out
	terminalOut.PrintText(fmt.Sprintf("\nThe first call, as %s makes it: list your open tabs.", f.caller.title))
	callCtx, stop := context.WithTimeout(ctx, firstCallTimeout)
	defer stop()
	startedAt := time.Now()
	callOutcomes := make(chan callOutcome, 1)
	go func() {
		output, err := setup.CallTool(callCtx, f.caller.command, listTabsTool, map[string]any{"action": "list"})
		callOutcomes <- callOutcome{output, err}
	}()
	result, err := f.waitForEnd(callCtx, callOutcomes, startedAt)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case callCtx.Err() != nil:
		f.result.State = callTimedOut
		terminalOut.Notef("no answer within %s, so setup has cancelled the call; run `opentabs setup` again for the first call", humanize.Duration(firstCallTimeout))
		return nil
	case err != nil:
		f.result.State, f.result.Error = callFailed, err.Error()
		return fmt.Errorf("the first call failed: %w; run `opentabs doctor`", err)
	}
	f.showLines(result)
	return nil
}

// waitForEnd returns an empty string if the user denies the call.
func (f firstCall) waitForEnd(ctx context.Context, callOutcomes <-chan callOutcome, startedAt time.Time) (string, error) {
	hasAskedUser := false
	for {
		select {
		case o := <-callOutcomes:
			return o.output, o.err
		case <-time.After(approvalPollInterval):
		}
		if hasAskedUser {
			continue
		}
		calls, err := f.client.Calls.List(ctx)
		if err != nil {
			return "", err
		}
		for _, c := range calls {
			if c.Waiting == nil || c.Created.Before(startedAt) || !isFirstCall(c) {
				continue
			}
			hasAskedUser = true
			isAllowed := f.questions.Confirm(ctx, "The call is waiting for your approval. Allow it once? [Y/n] ")
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			_, err := callview.Decide(ctx, f.client.Calls, c.CallID, callview.Choice{Allow: isAllowed, Scope: wire.ScopeOnce})
			var decidedErr *callview.AlreadyDecidedError
			if err != nil && !errors.As(err, &decidedErr) { // the user decided in the side panel first
				return "", err
			}
			if !isAllowed {
				return "", nil
			}
		}
	}
}

// isFirstCall checks the argument `action`, because an agent can call the tool with another action.
func isFirstCall(c dispatch.View) bool {
	var args struct{ Action string }
	return c.Plugin == browser.Name && c.Tool == listTabsTool && c.ClaimedName == setup.ClientName &&
		json.Unmarshal([]byte(c.Waiting.Args), &args) == nil && args.Action == "list"
}

func (f firstCall) showLines(output string) {
	terminalOut := f.program.Out
	var tabs []string
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "tab ") {
			tabs = append(tabs, line)
		}
	}
	f.result.State, f.result.Tabs = callDone, tabs
	switch {
	case output == "":
		f.result.State = callDenied
		terminalOut.PrintLine("Denied. The agent received no data.")
	case len(tabs) == 0:
		terminalOut.PrintLine("It works: the agent got an answer, but no tab is open.")
	default:
		terminalOut.PrintLine("It works: the agent got %s.", terminal.CountNoun(len(tabs), "tab"))
		var tableRows [][]string
		for _, tab := range tabs[:min(len(tabs), maxShownTabs)] {
			tableRows = append(tableRows, []string{tab})
		}
		terminalOut.PrintTable("  ", tableRows) // shortens long titles and addresses on a terminal
		if hiddenTabCount := len(tabs) - maxShownTabs; hiddenTabCount > 0 {
			terminalOut.PrintLine("  and %d more", hiddenTabCount)
		}
	}
	terminalOut.PrintText(fmt.Sprintf(`
opentabs is ready. Ask %s, for example:
  "Summarize the page in front of me with opentabs."
It asks you before it reads a site. Approve in the window of the opentabs
button in the toolbar of Chrome. Or run: opentabs calls approve`, f.agent()))
}

func (f firstCall) agent() string {
	if f.caller.title == unknownClientTitle {
		return "your agent"
	}
	return f.caller.title
}
