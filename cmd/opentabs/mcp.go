package main

import (
	"context"

	"github.com/spf13/cobra"

	"opentabs/internal/config"
	"opentabs/internal/httpapi"
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
	dirs, err := p.home()
	if err != nil {
		return err
	}
	settings, err := p.settings(dirs, nil)
	if err != nil {
		return err
	}
	r := newRelay(relayOptions{
		in: p.in, out: p.out.Stdout(), say: p.out.Notef,
		join:  func(ctx context.Context) (session, error) { return joinServer(ctx, dirs, settings) },
		start: func(ctx context.Context) error { return startInBackground(ctx, dirs, settings) },
	})
	// A client ends its server with SIGTERM after it has closed stdin; both
	// are the regular end.
	return r.run(ctx)
}

// joinServer opens a session with the server that runs; httpapi.ErrNoServer if
// there is none.
func joinServer(ctx context.Context, dirs config.Dirs, s config.Settings) (session, error) {
	server, err := findServer(ctx, dirs, s)
	if err != nil {
		return nil, stranger(err)
	}
	token, err := dirs.Token()
	if err != nil {
		return nil, err
	}
	conn, err := httpapi.NewClient(server.port, token).Stdio(ctx)
	if err != nil {
		return nil, stranger(err)
	}
	return conn, nil
}
