package cli

import (
	"context"

	"opentabs/internal/daemon"
	"opentabs/internal/plugindev"
	"opentabs/internal/toolcall"
)

// RunCall validates a request, runs the requested call on the server, and prints the
// call's result.
func RunCall(ctx context.Context, p *Program, request toolcall.Request) error {
	if err := request.Check(); err != nil {
		return err
	}
	client, err := p.NewClient(ctx)
	if err != nil {
		return err
	}
	return toolcall.Run(ctx, client, daemon.CallCommandClient, request, p.In, p.Out)
}

// RunTypedCall runs a call that the user has typed at the prompt of `opentabs plugin
// dev`. If the call fails, RunTypedCall prints the error as a notice.
func RunTypedCall(ctx context.Context, p *Program, c plugindev.Call) {
	request := toolcall.Request{Tool: c.Tool, Args: c.Words, Input: c.JSON, HasInput: c.JSON != "", Output: "json"}
	if errorText, _ := ExplainError(ctx, RunCall(ctx, p, request)); errorText != "" {
		p.Out.Notef("%s", errorText)
	}
}
