package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/daemon"
	"opentabs/internal/httpapi"
	"opentabs/internal/mcpclient"
	"opentabs/internal/nearest"
	"opentabs/internal/terminal"
	"opentabs/internal/toolargs"
	"opentabs/internal/version"
	"opentabs/wire"
)

// closeTimeout is how long closing the MCP session may take after a call.
const closeTimeout = time.Second

type callOptions struct {
	program    *program
	tool       string
	args       []string
	json       string
	jsonSet    bool
	browser    string
	tab        int
	noProgress bool
	verbose    bool
	output     string
}

func newCallCmd(p *program) *cobra.Command {
	opts := callOptions{program: p}
	cmd := &cobra.Command{
		Use:   "call TOOL",
		Short: "Call a tool and print its result",
		Long: `Call a tool in the page it belongs to and print its result on stdout. Its
progress goes to stderr: a bar on a terminal, one line per report in a pipe.
Messages are shown if the tool marks them for the user; --verbose shows all
messages. Ctrl-C cancels the call and stops the code in the page.

The tool's schema decides how --arg values are parsed: a string stays as it is,
and numbers, booleans, lists and objects are parsed as JSON. To pass a list item
by item, repeat --arg.`,
		Example: `  opentabs call messages__echo --arg value=hello
  opentabs call messages__export_messages --arg channelId=general > export.json
  opentabs call messages__echo --json '{"value": [1, 2]}'
  opentabs call messages__echo --json @arguments.json
  echo '{"value": 1}' | opentabs call messages__echo --json -`,
		Args: requireArgs(1, "the name of a tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.tool, opts.jsonSet = args[0], cmd.Flags().Changed("json")
			return runCall(cmd.Context(), opts)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&opts.args, "arg", "a", nil, "one argument as `NAME=VALUE`; may be repeated")
	f.StringVar(&opts.json, "json", "", "all arguments as a JSON `OBJECT`, @FILE, or - for stdin")
	f.StringVar(&opts.browser, "browser", "", "run the tool in this browser, by `NAME` or id")
	f.IntVar(&opts.tab, "tab", 0, "run the tool in the tab with this `ID`")
	f.BoolVar(&opts.noProgress, "no-progress", false, "do not show progress")
	f.BoolVarP(&opts.verbose, "verbose", "v", false, "show all messages of the tool, not only those for the user")
	f.StringVarP(&opts.output, "output", "o", "json", "print the result as `json or text`")
	return cmd
}

func runCall(ctx context.Context, opts callOptions) error {
	if err := opts.check(); err != nil {
		return err
	}
	api, token, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	client := mcpclient.New(mcpclient.Options{
		URL: api.URL(httpapi.CommandPath), Token: token, Name: daemon.CommandClient, Version: version.Version, Transport: api.Transport(),
	})
	if _, err := client.Initialize(ctx); err != nil {
		return callError(ctx, err)
	}
	defer func() {
		// If this fails, the session expires on the server.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = client.Close(ctx)
	}()
	tools, err := client.ListTools(ctx)
	if err != nil {
		return callError(ctx, err)
	}
	// Tools that are off are not in the list. A call of such a tool returns the reason.
	tool, missing := findTool(tools, opts.tool)
	if missing != nil {
		if err := brokenPlugin(ctx, api, opts.tool); err != nil {
			return err
		}
		if !strings.Contains(opts.tool, "__") {
			return missing
		}
		tool = mcpclient.Tool{Name: opts.tool}
	}
	args, err := opts.arguments(tool)
	if err != nil {
		return err
	}
	view := opts.view(tool.Name)
	result, err := client.CallTool(ctx, tool.Name, args, func(p mcpclient.Progress) { view.Update(shownProgress(p, opts.verbose)) })
	view.Close()
	var rpc *mcpclient.RPCError
	switch {
	case missing != nil && errors.As(err, &rpc) && rpc.Code == wire.CodeInvalidParams:
		return missing
	case err != nil:
		return callError(ctx, err)
	}
	return opts.print(result)
}

// check validates the flags before the first request to the server.
func (opts callOptions) check() error {
	switch {
	case opts.output != "json" && opts.output != "text":
		return usage("--output is %q: give it json or text", opts.output)
	case opts.jsonSet && opts.args != nil:
		return usage("--arg and --json are both given: use one of them")
	case opts.tab < 0:
		return usage("--tab is %d: give it the id of a tab, as `opentabs status` shows it", opts.tab)
	}
	return nil
}

func (opts callOptions) view(label string) terminal.ProgressView {
	if opts.noProgress {
		return terminal.NoProgress
	}
	return opts.program.out.ShowProgress(label)
}

func findTool(tools []mcpclient.Tool, name string) (mcpclient.Tool, error) {
	names := make([]string, len(tools))
	for i, t := range tools {
		if t.Name == name {
			return t, nil
		}
		names[i] = t.Name
	}
	switch {
	case len(names) == 0:
		return mcpclient.Tool{}, usage("there is no tool %q, and no other tool is on: `opentabs plugin list` shows the plugins and why they are off", name)
	case len(names) <= 20:
		return mcpclient.Tool{}, usage("there is no tool %q%s: use one of %s", name, nearest.Suggestion(name, names), strings.Join(names, ", "))
	}
	return mcpclient.Tool{}, usage("there is no tool %q%s: `opentabs plugin list` shows the tools", name, nearest.Suggestion(name, names))
}

// brokenPlugin returns an error if the plugin of a missing tool can't be loaded.
func brokenPlugin(ctx context.Context, api *httpapi.Client, tool string) error {
	name, _, _ := strings.Cut(tool, "__")
	status, err := api.Status(ctx)
	if err != nil {
		return nil
	}
	for _, f := range status.Failed {
		if f.Name == name && name != "" {
			return &failure{code: exitFailed, err: fmt.Errorf("the plugin %s can't be loaded, so its tools do not run: %s", name, terminal.SafeLine(f.Error))}
		}
	}
	return nil
}

// arguments returns the tool's arguments as a JSON object.
func (opts callOptions) arguments(tool mcpclient.Tool) (json.RawMessage, error) {
	a := toolargs.New(tool)
	var args map[string]json.RawMessage
	var err error
	if opts.jsonSet {
		args, err = toolargs.ReadJSON(opts.json, opts.program.in)
	} else {
		args, err = a.Parse(opts.args)
	}
	if err != nil {
		return nil, err
	}
	if err := a.AddTarget(args, opts.browser, opts.tab); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(args); err != nil {
		return nil, fmt.Errorf("encode the arguments: %w", err)
	}
	return b.Bytes(), nil
}

// callError converts an error of the MCP client to one with a sentence and an exit code.
func callError(ctx context.Context, err error) error {
	var rpc *mcpclient.RPCError
	var status *mcpclient.StatusError
	switch {
	case errors.Is(err, httpapi.ErrForeignServer):
		return err
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return &failure{code: exitInterrupted, err: errors.New("interrupted; the call was cancelled")}
	case errors.Is(err, mcpclient.ErrNoServer):
		return httpapi.ErrNoServer
	case errors.Is(err, mcpclient.ErrSilent):
		return &failure{code: exitFailed, err: errors.New("the server has not responded for 2 min, and the call may have taken effect: stop the server and start it again with `opentabs serve`")}
	case errors.Is(err, mcpclient.ErrNoAnswer):
		return &failure{code: exitCancelled, err: errors.New("the server stopped during the call, which may have taken effect: check the page, then start the server with `opentabs serve` and call again")}
	case errors.As(err, &rpc):
		return &failure{code: exitFailed, err: rpc}
	case errors.As(err, &status):
		return &failure{code: exitFailed, err: status}
	}
	return err
}

// print writes a result to stdout, or returns the failure in it.
func (opts callOptions) print(r mcpclient.Result) error {
	if r.IsError {
		return toolFailure(r)
	}
	out := opts.program.out
	if opts.output == "text" {
		for _, c := range r.Content {
			out.PrintText(contentText(c))
		}
		return nil
	}
	if r.StructuredContent != nil {
		if err := out.PrintJSON(r.StructuredContent); err != nil {
			return err
		}
	}
	for _, c := range r.Content {
		if c.Type == "text" && r.StructuredContent != nil {
			continue // repeats the structured content
		}
		if err := printJSON(out, c); err != nil {
			return err
		}
	}
	return nil
}

// printJSON prints one content block: JSON text unchanged, other text as a JSON string,
// and a block without text as it is.
func printJSON(out *terminal.Output, c mcpclient.Content) error {
	switch {
	case c.Type != "text":
		return out.PrintJSON(c.Raw)
	case json.Valid([]byte(c.Text)):
		return out.PrintJSON([]byte(c.Text))
	}
	return out.PrintValue(c.Text)
}

func contentText(c mcpclient.Content) string {
	if c.Type == "text" {
		return c.Text
	}
	kind := strings.TrimSpace(c.Type + " " + c.MIMEType)
	return fmt.Sprintf("[%s, %d characters; see --output json]", kind, len(c.Raw))
}

// toolFailure returns the error of a failed result. Its text comes from the server, and
// its exit code from the error code in _meta.
func toolFailure(r mcpclient.Result) error {
	var info struct {
		Code    wire.ErrorCode `json:"code"`
		ForUser string         `json:"for_user"`
	}
	code := exitFailed
	if json.Unmarshal(r.Meta["opentabs/error"], &info) == nil {
		if known, ok := exitCodes[info.Code]; ok {
			code = known
		}
	}
	if info.ForUser != "" {
		return &failure{code: code, err: errors.New(info.ForUser)}
	}
	var texts []string
	for _, c := range r.Content {
		texts = append(texts, contentText(c))
	}
	text := strings.Join(texts, "\n")
	if text == "" {
		text = "the tool failed without an error message"
	}
	return &failure{code: code, err: errors.New(text)}
}
