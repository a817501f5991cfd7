// Package toolcall calls one tool from the command line: it reads arguments, shows
// progress, and prints the result.
package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"opentabs/internal/callprompt"
	"opentabs/internal/httpapi"
	"opentabs/internal/idempotency"
	"opentabs/internal/mcpclient"
	"opentabs/internal/nearest"
	"opentabs/internal/rawjson"
	"opentabs/internal/terminal"
	"opentabs/internal/usererr"
	"opentabs/internal/version"
	"opentabs/wire"
	"strings"
	"time"
)

const closeTimeout = time.Second

// Request is a call that the user requests on the command line.
type Request struct {
	Tool string
	// The field Args contains the tool's arguments in the form NAME=VALUE. If HasInput is
	// true, Input replaces Args: a JSON object, @FILE to read the object from a file, or
	// - to read it from stdin.
	Args     []string
	Input    string
	HasInput bool
	// Browser and Tab select the page in which the tool runs. An empty Browser means any
	// browser, and a Tab of 0 means any tab.
	Browser string
	Tab     int
	// NoProgress hides the progress of the call. Verbose shows messages of the tool that are not for the user.
	NoProgress, Verbose bool
	// IdempotencyKey prevents a repeated request from running the tool twice. If
	// HasIdempotencyKey is false, IdempotencyKey is ignored.
	IdempotencyKey    string
	HasIdempotencyKey bool
	// Output is the format of the result: "json" or "text".
	Output string
	// CanAskUser makes the terminal ask the user to approve the call. While CanAskUser is
	// true, no other code may read stdin.
	CanAskUser bool
}

// ErrInterrupted is the error of [Run] and [Call] if the context ended during the call.
var ErrInterrupted = errors.New("interrupted; the call was cancelled")

// ResultLostError is the error of a repeated request whose tool already ran for the same
// idempotency key, but whose result is not stored.
type ResultLostError struct {
	// CallID is the ID of the call that ran the tool.
	CallID string
}

// Error returns the error text for the user, which explains why the result is lost.
func (e *ResultLostError) Error() string {
	return "the tool was not called again: " + e.CallID + ", which has the same key, is done, but its result is not stored. " +
		"The setting recordResults is off, or the result has secrets, is long or arrived after a lost link"
}

// Failure is the error of a call that failed. Code is the error code from the tool's
// result, or empty if the result has none.
type Failure struct {
	Code    wire.ErrorCode
	message string
}

// NewFailure returns a Failure whose Error method returns the given sentence for the user.
func NewFailure(code wire.ErrorCode, errorText string) *Failure { return &Failure{code, errorText} }

// Error returns the text that explains the failure to the user.
func (f *Failure) Error() string { return f.message }

// Run calls a tool as [Call] does, and prints the result to stdout. Run returns the same
// errors as [Call].
func Run(ctx context.Context, api *httpapi.Client, client string, r Request, inputReader io.Reader, terminalOut *terminal.Output) error {
	result, err := Call(ctx, api, client, r, inputReader, terminalOut)
	if err != nil {
		return err
	}
	return printResult(terminalOut, result, r.Output == "text")
}

// Call calls a tool of the server, shows the call's progress, and returns the result. The
// string client is the name that the MCP client sends to the server. Arguments and answers to
// questions are read from inputReader. Call returns a *[Failure] if the call failed, and a
// *[ResultLostError] if its result is lost. An invalid request is a [usererr.Error]. If ctx
// ended, Call returns ErrInterrupted.
func Call(ctx context.Context, api *httpapi.Client, client string, r Request, inputReader io.Reader, terminalOut *terminal.Output) (mcpclient.Result, error) {
	options := mcpclient.Options{
		URL: api.URL(httpapi.CommandPath), Token: api.Token(), Name: client, Version: version.Version, Transport: api.Transport(),
	}
	view := &pausableView{view: terminal.NoProgress}
	if r.CanAskUser {
		if prompter := callprompt.New(api.Calls, terminalOut, inputReader); prompter != nil {
			options.ShowForm = func(ctx context.Context, form json.RawMessage) {
				view.pause()
				defer view.resume()
				askUser(ctx, prompter, view, form)
			}
		}
	}
	session := mcpclient.New(options)
	if _, err := session.Initialize(ctx); err != nil {
		return mcpclient.Result{}, callError(ctx, err)
	}
	defer func() {
		// An error of Close is ignored, because a session that is not closed expires on the server.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = session.Close(ctx)
	}()
	tools, err := session.ListTools(ctx)
	if err != nil {
		return mcpclient.Result{}, callError(ctx, err)
	}
	// The server does not list a tool that is off. The client calls an unlisted tool anyway,
	// because the server then returns the reason why the tool is off.
	tool, missingToolErr := findTool(tools, r.Tool)
	if missingToolErr != nil {
		if err := brokenPlugin(ctx, api, r.Tool); err != nil {
			return mcpclient.Result{}, err
		}
		tool = mcpclient.Tool{Name: r.Tool}
	}
	args, err := r.readArguments(tool, inputReader)
	if err != nil {
		return mcpclient.Result{}, err
	}
	if !r.NoProgress {
		view.start(terminalOut, tool.Name)
	}
	result, err := session.CallToolWithKey(ctx, tool.Name, args, r.IdempotencyKey, func(p mcpclient.Progress) { view.update(toTerminalProgress(p, r.Verbose)) })
	view.close()
	var rpcErr *mcpclient.RPCError
	switch {
	case missingToolErr != nil && errors.As(err, &rpcErr) && rpcErr.Code == wire.CodeInvalidParams:
		return mcpclient.Result{}, missingToolErr
	case err != nil:
		return mcpclient.Result{}, callError(ctx, err)
	case result.Meta["opentabs/resultLost"] != nil:
		return mcpclient.Result{}, &ResultLostError{terminal.SafeLine(rawjson.Unquote(result.Meta["opentabs/replayed"]))}
	case result.IsError:
		return mcpclient.Result{}, readFailure(result)
	}
	if rawJSON, isReplayed := result.Meta["opentabs/replayed"]; isReplayed {
		terminalOut.Notef("the tool was not called again: this is the result of %s, which has the same key", terminal.SafeLine(rawjson.Unquote(rawJSON)))
	}
	return result, nil
}

// Check validates the flags of the request, as far as this is possible without a server.
// Call Check before [Run] or [Call].
func (r Request) Check() error {
	switch {
	case r.Output != "json" && r.Output != "text":
		return usererr.Errorf("--output is %q: give it json or text", r.Output)
	case r.HasInput && r.Args != nil:
		return usererr.Errorf("--arg and --input are both given: use only one of these flags")
	case r.HasIdempotencyKey && idempotency.CheckKey(r.IdempotencyKey) != nil:
		return usererr.Errorf("--idempotency-key is %.60q: give it 1 to %d printable characters", r.IdempotencyKey, idempotency.MaxKeyChars)
	case r.Tab < 0:
		return usererr.Errorf("--tab is %d: give it the id of a tab, as `opentabs status` shows it", r.Tab)
	}
	return nil
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
		return mcpclient.Tool{}, usererr.Errorf("there is no tool %q, and no other tool is on: `opentabs plugin list` shows the plugins and why they are off", name)
	case len(names) <= 20:
		return mcpclient.Tool{}, usererr.Errorf("there is no tool %q%s: use one of %s", name, nearest.Suggestion(name, names), strings.Join(names, ", "))
	}
	return mcpclient.Tool{}, usererr.Errorf("there is no tool %q%s: `opentabs tools` lists the tools", name, nearest.Suggestion(name, names))
}

func brokenPlugin(ctx context.Context, api *httpapi.Client, tool string) error {
	name, _, _ := strings.Cut(tool, "__")
	serverStatus, err := api.Status(ctx)
	if err != nil {
		return nil
	}
	for _, f := range serverStatus.Failed {
		if f.Name == name && name != "" {
			return fmt.Errorf("the plugin %s can't be loaded, so its tools do not run: %s", name, terminal.SafeLine(f.Error))
		}
	}
	return nil
}

func (r Request) readArguments(tool mcpclient.Tool, inputReader io.Reader) (json.RawMessage, error) {
	a := newArgumentParser(tool)
	var args map[string]json.RawMessage
	var err error
	if r.HasInput {
		args, err = readInput(r.Input, inputReader)
	} else {
		args, err = a.parse(r.Args)
	}
	if err != nil {
		return nil, err
	}
	if err := a.addTargetArguments(args, r.Browser, r.Tab); err != nil {
		return nil, err
	}
	encodedJSON, err := rawjson.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("encode the arguments: %w", err)
	}
	return encodedJSON, nil
}

func callError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, httpapi.ErrPortTaken):
		return err
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return ErrInterrupted
	case errors.Is(err, mcpclient.ErrNoServer):
		return httpapi.ErrNoServer
	case errors.Is(err, mcpclient.ErrServerUnresponsive):
		return errors.New("the server has not responded for 2 min, and the call may have taken effect: stop the server and start it again with `opentabs serve`")
	case errors.Is(err, mcpclient.ErrNoResponse):
		return &Failure{wire.ErrShutdown, "the server stopped during the call, which may have taken effect: check the page, then start the server with `opentabs serve` and call again"}
	}
	return err
}
