// Package democmd implements the command `opentabs demo`.
package democmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opentabs/browser"
	"opentabs/internal/cli"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

const (
	browserWait         = 6 * time.Second
	browserPollInterval = 200 * time.Millisecond
	cleanupTimeout      = 10 * time.Second
)

type demoOptions struct {
	program *cli.Program
	// The option browser is a browser's name or ID. Without this option, the demo needs exactly
	// one connected browser.
	browser    string
	keepPlugin bool
	yes        bool
	json       bool
}

// New returns the command `opentabs demo`.
func New(p *cli.Program) *cobra.Command {
	opts := demoOptions{program: p}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Try a long call, a stop and an approval in your browser",
		Long: `Try opentabs in your own browser in less than a minute: a long call with its
progress, a call that is stopped, and a call that waits for your approval.

The demo serves an example site on this machine, opens it in a tab of the
connected browser, and enables an example plugin for this site only. At the end,
or at Ctrl-C, the demo closes the tab and removes the plugin and the site.

With --keep, the site and the plugin stay until Ctrl-C, so that your agent can
use them.`,
		Example: `  opentabs demo
  opentabs demo --keep
  opentabs demo --browser Work --yes`,
		Args: cli.LimitArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), opts) },
	}
	f := cmd.Flags()
	f.StringVar(&opts.browser, "browser", "", "use this browser, by `NAME` or start of its id")
	f.BoolVar(&opts.keepPlugin, "keep", false, "keep the site and the plugin until Ctrl-C")
	f.BoolVarP(&opts.yes, "yes", "y", false, "enable the example plugin without asking")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runDemo(ctx context.Context, opts demoOptions) error {
	p := opts.program
	questions := p.Out.NewQuestionReader(p.In)
	if questions == nil && !opts.yes {
		return cli.NewUsageError("there is no terminal for questions: `opentabs demo --help` shows what the demo does, and `opentabs demo --yes` runs it")
	}
	h, err := p.OpenHome(nil)
	if err != nil {
		return err
	}
	client, err := startedServer(ctx, h)
	if err != nil {
		return err
	}
	browserName, err := findBrowser(ctx, client, opts.browser)
	if err != nil {
		return err
	}
	plugin := newDemoPlugin(h, client)
	if err := plugin.checkName(); err != nil {
		return err
	}
	stdout := p.Out
	if opts.json { // texts must not mix with the JSON document on stdout
		redirectedProgram := *p
		redirectedProgram.Out = terminal.WithTextOnStderr(p.Out)
		p = &redirectedProgram
	}
	if !opts.yes && !confirmStart(ctx, p.Out, questions, browserName) {
		p.Out.Notef("the demo was not started; nothing has changed")
		return ctx.Err()
	}
	s, err := startSite(ctx)
	if err != nil {
		return err
	}
	defer s.stop()
	demo := &demo{program: p, client: client, browser: browserName, site: s, questions: questions, result: demoResult{Browser: browserName, Calls: []demoCall{}}}
	err = withExamplePlugin(ctx, plugin, s.url, func() error {
		if err := demo.showCalls(ctx); err != nil {
			return err
		}
		if opts.keepPlugin {
			demo.waitUntilCancelled(ctx)
		}
		return nil
	})
	if err == nil {
		p.Out.PrintText(nextSteps(hasBrowserTools(ctx, p)))
	}
	if !opts.json || ctx.Err() != nil {
		return err
	}
	if err != nil {
		demo.result.Error = err.Error()
	}
	return errors.Join(err, stdout.PrintValue(demo.result))
}

// demoResult is the output of `opentabs demo --json`.
type demoResult struct {
	Browser string     `json:"browser"`
	Calls   []demoCall `json:"calls"`
	// Error is why the demo ended before its last call; empty if the demo has made all
	// calls.
	Error string `json:"error,omitempty"`
}

// demoCall describes one call in the output of `opentabs demo --json`.
type demoCall struct {
	Tool   string    `json:"tool"`
	Status demoState `json:"status"`
	// DurationMs includes the wait for approval.
	DurationMs int64 `json:"duration_ms"`
	// Result is the result of the tool; absent if the call had none.
	Result json.RawMessage `json:"result,omitempty"`
	// Messages is the number of messages that the call exported.
	Messages int `json:"messages,omitempty"`
	// AbortedPage is the number of the last page of messages, whose request the web page
	// aborted.
	AbortedPage int `json:"dropped_part,omitempty"`
}

// demoState describes how a call of the demo has ended.
type demoState string

const (
	demoDone      demoState = "done"
	demoCancelled demoState = "cancelled"
	demoDenied    demoState = "denied"
)

// withExamplePlugin removes the example plugin even after an error or an interrupt.
func withExamplePlugin(ctx context.Context, plugin demoPlugin, siteURL string, action func() error) (err error) {
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
		defer cancel()
		if removeErr := plugin.remove(ctx); removeErr != nil {
			err = errors.Join(err, fmt.Errorf("remove the example plugin: %w; run `opentabs plugin remove %s`", removeErr, pluginName))
		}
	}()
	if err := plugin.remove(ctx); err != nil { // an interrupted demo can have left its plugin behind
		return err
	}
	if err := plugin.enable(ctx, siteURL); err != nil {
		return err
	}
	return action()
}

func startedServer(ctx context.Context, h *home.Home) (*httpapi.Client, error) {
	client, err := h.Client(ctx)
	if errors.Is(err, httpapi.ErrNoServer) {
		if err = h.StartServer(ctx); err == nil {
			client, err = h.Client(ctx)
		}
	}
	return client, err
}

func findBrowser(ctx context.Context, client *httpapi.Client, wantedBrowser string) (string, error) {
	deadline := time.Now().Add(browserWait)
	for {
		serverStatus, err := client.Status(ctx)
		if err != nil {
			return "", err
		}
		var names []string
		for _, b := range serverStatus.Browsers {
			if b.Connected && (wantedBrowser == "" || wire.MatchesBrowser(wantedBrowser, b.ID, b.Name)) {
				names = append(names, b.Name)
			}
		}
		switch {
		case len(names) == 1:
			return names[0], nil
		case len(names) > 1:
			return "", cli.NewUsageError("several browsers are connected: %s; name one with --browser", strings.Join(names, ", "))
		case time.Now().After(deadline) && wantedBrowser != "":
			return "", cli.NewUsageError("no browser %q is connected: `opentabs status` shows the browsers", wantedBrowser)
		case time.Now().After(deadline):
			return "", errors.New("no browser is connected: run `opentabs setup`, which connects your browser, then run `opentabs demo` again")
		}
		select {
		case <-time.After(browserPollInterval):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func confirmStart(ctx context.Context, terminalOut *terminal.Output, questions *terminal.QuestionReader, browserName string) bool {
	terminalOut.PrintText(fmt.Sprintf(`The demo runs in the browser %s.
Until it ends, it
  - serves an example chat on this machine, http://%s
  - opens the chat in a new tab
  - enables the plugin %q for this site only, with these tools:
      %s    runs without approval
      %s      needs your approval
      compare_channels   needs your approval
Then it removes the plugin and closes the tab.`, terminal.SafeLine(browserName), siteHost, pluginName, exportTool, countTool))
	return questions.Confirm(ctx, "Start the demo? [Y/n] ")
}

// askYesNo returns at once; the channel receives nothing if ctx ends before the user answers.
func askYesNo(ctx context.Context, questions *terminal.QuestionReader, question string) <-chan bool {
	confirmations := make(chan bool, 1)
	go func() {
		isConfirmed := questions.Confirm(ctx, question)
		if ctx.Err() == nil {
			confirmations <- isConfirmed
		}
	}()
	return confirmations
}

func nextSteps(hasBrowserTools bool) string {
	hint := `
The example plugin and its site are removed. Next:`
	if !hasBrowserTools {
		hint += `
  opentabs browser tools on     let agents use any page, after your approval`
	}
	return hint + `
  opentabs plugin search        find plugins for the sites that you use
  opentabs calls --follow       watch what agents do`
}

func hasBrowserTools(ctx context.Context, p *cli.Program) bool {
	permissions, err := p.OpenPolicy(ctx)
	if err != nil {
		return false
	}
	currentPermissions, err := permissions.Permissions(browser.Name)
	return err == nil && currentPermissions.Permission != wire.PermissionOff
}

func countMessages(result json.RawMessage) int {
	var exportResult struct {
		Count int `json:"count"`
	}
	_ = json.Unmarshal(result, &exportResult) // the count is 0 if the result has another form
	return exportResult.Count
}
