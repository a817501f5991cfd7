package main

import (
	"context"

	"github.com/spf13/cobra"

	"opentabs/internal/home"
)

type mcpOptions struct{ program *program }

func newMCPCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve MCP on stdin and stdout, for MCP clients that start their servers",
		Long: `Serve MCP on stdin and stdout. This process only passes messages on to the server
of this machine, which it starts if there is none, so that many clients share the
browsers. When that server is restarted, the client's session goes on: calls that
ran end with an error, everything else continues.

The log of a server started here is serve.log in the state directory.`,
		Example: `  opentabs mcp

In the configuration of an MCP client:
  {"mcpServers": {"opentabs": {"command": "opentabs", "args": ["mcp"]}}}`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runMCP(cmd.Context(), mcpOptions{program: p}) },
	}
}

func runMCP(ctx context.Context, opts mcpOptions) error {
	p := opts.program
	h, err := p.open(nil)
	if err != nil {
		return err
	}
	r := newRelay(relayOptions{
		in: p.in, out: p.out.Stdout(), say: p.out.Notef,
		join:  func(ctx context.Context) (session, error) { return joinServer(ctx, h) },
		start: func(ctx context.Context) error { return h.StartServer(ctx) },
	})
	// A client ends its server with SIGTERM after it has closed stdin; both
	// are the regular end.
	return r.run(ctx)
}

// joinServer opens a session with the server that runs; httpapi.ErrNoServer if
// there is none.
func joinServer(ctx context.Context, h *home.Home) (session, error) {
	client, err := h.Client(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := client.Stdio(ctx)
	if err != nil {
		return nil, err
	}
	return conn, nil
}
