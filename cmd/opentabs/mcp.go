package main

import (
	"context"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/relay"
	"opentabs/internal/setup"
)

type mcpOptions struct{ program *cli.Program }

func newMCPCmd(p *cli.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve MCP on stdin and stdout, for clients that start servers",
		Long: `Serve MCP on stdin and stdout. This process relays messages to the opentabs
server of this machine, which it starts if none runs, so that several clients
share the browsers. When that server restarts, the client's session continues:
calls that ran end with an error, everything else continues.

The log of a server that this command starts is serve.log in the state
directory.`,
		Example: `  opentabs mcp

In the configuration of an MCP client:
  {"mcpServers": {"opentabs": {"command": "opentabs", "args": ["mcp"]}}}`,
		Args: cli.LimitArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runMCP(cmd.Context(), mcpOptions{program: p}) },
	}
}

func runMCP(ctx context.Context, opts mcpOptions) error {
	p := opts.program
	h, err := p.OpenHome(nil)
	if err != nil {
		return err
	}
	return relay.Run(ctx, relay.Options{Home: h, In: p.In, Out: p.Out.Stdout(), Notef: p.Out.Notef, ClientToken: p.Getenv(setup.TokenVariable)})
}
