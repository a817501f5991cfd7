package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/clienttoken"
)

func newClientCmd(p *cli.Program) *cobra.Command {
	return cli.GroupCommands(&cobra.Command{
		Use:   "client",
		Short: "Manage the tokens and timeouts of MCP clients",
		Long: `Manage the tokens of MCP clients. Each client has a separate token, which gives
access to MCP only: calls carry the name of their client, and you can revoke one
token without the others. "opentabs setup" creates the tokens of the clients
that it configures. A client that starts "opentabs mcp" without a token works
too, but its calls are listed under the name "stdio client".

"opentabs client timeout" shows and changes how long clients wait for a call.`,
		Example: "  opentabs client add laptop\n  opentabs client list\n  opentabs client remove laptop",
	}, newClientAddCmd(p), newClientListCmd(p), newClientRemoveCmd(p), newClientTimeoutCmd(p))
}

type clientAddOptions struct {
	program *cli.Program
	name    string
	json    bool
}

func newClientAddCmd(p *cli.Program) *cobra.Command {
	opts := clientAddOptions{program: p}
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Create a token for an MCP client and print it once",
		Long: `Create a token for an MCP client and print it, with the URL and the header that
the client needs. opentabs stores only a hash of the token and cannot print it
again. If the token is lost, remove the client and add it again.`,
		Example: "  opentabs client add laptop\n  opentabs client add laptop --json",
		Args:    cli.RequireArgs(1, "the name of the client"),
		RunE:    cli.ActionWithArg(&opts.name, func(ctx context.Context) error { return runClientAdd(ctx, opts) }),
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// addedClient is the output of `opentabs client add --json`.
type addedClient struct {
	Name   string `json:"name"`
	Token  string `json:"token"`
	URL    string `json:"url"`
	Header string `json:"header"`
}

func runClientAdd(ctx context.Context, opts clientAddOptions) error {
	p := opts.program
	h, err := p.OpenHome(nil)
	if err != nil {
		return err
	}
	token, err := h.AddClient(opts.name)
	if err != nil {
		return err
	}
	port := h.Settings.Port
	if server, err := h.FindServer(ctx); err == nil {
		port = server.Port
	}
	reloadErr := h.ReloadClients(ctx) // the token is printed even if the reload fails
	clientJSON := addedClient{
		Name: opts.name, Token: token, URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", port), Header: "Authorization: Bearer " + token,
	}
	if opts.json {
		return errors.Join(p.Out.PrintValue(clientJSON), reloadErr)
	}
	p.Out.PrintText(fmt.Sprintf(`The token of the MCP client %s. It is shown only this once:

  %s

Configure the client for Streamable HTTP with
  URL     %s
  header  %s

The token gives access to /mcp only. Revoke it with: opentabs client remove %[1]s`, clientJSON.Name, clientJSON.Token, clientJSON.URL, clientJSON.Header))
	if port == 0 {
		p.Out.Notef("the port is 0, so the server selects a port when it starts: set a port, or see the port with `opentabs status`")
	}
	return reloadErr
}

type clientListOptions struct {
	program *cli.Program
	json    bool
}

func newClientListCmd(p *cli.Program) *cobra.Command {
	opts := clientListOptions{program: p}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the MCP clients that have a token",
		Long: `List the MCP clients that have a token: the beginning of the token, when it was
made and when it was last used (to a minute). The tokens themselves are not
stored, so they cannot be listed.`,
		Example: "  opentabs client list\n  opentabs client list --json",
		Args:    cli.LimitArgs(0),
		RunE:    func(*cobra.Command, []string) error { return runClientList(opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runClientList(opts clientListOptions) error {
	p := opts.program
	dirs, err := p.MakeDirs()
	if err != nil {
		return err
	}
	clients, err := clienttoken.Open(dirs.ClientsFile()).List()
	if err != nil {
		return err
	}
	if opts.json {
		return p.Out.PrintValue(clients)
	}
	if len(clients) == 0 {
		p.Out.Notef("no client has a token; make one with `opentabs client add NAME`")
		return nil
	}
	tableRows := [][]string{{"NAME", "TOKEN", "CREATED", "LAST USED"}}
	for _, c := range clients {
		lastUsed := "never"
		if !c.LastUsed.IsZero() {
			lastUsed = c.LastUsed.Local().Format(time.DateTime)
		}
		tableRows = append(tableRows, []string{c.Name, c.FirstChars + "...", c.Created.Local().Format(time.DateTime), lastUsed})
	}
	p.Out.PrintTable("", tableRows, "CREATED", "TOKEN")
	return nil
}

type clientRemoveOptions struct {
	program *cli.Program
	name    string
	json    bool
}

func newClientRemoveCmd(p *cli.Program) *cobra.Command {
	opts := clientRemoveOptions{program: p}
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Revoke the token of an MCP client",
		Long: `Revoke the token of an MCP client. Its sessions, streams, calls and jobs end at
once, and its next request is refused.`,
		Example: "  opentabs client remove laptop",
		Args:    cli.RequireArgs(1, "the name of the client"),
		RunE:    cli.ActionWithArg(&opts.name, func(ctx context.Context) error { return runClientRemove(ctx, opts) }),
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

// removedClient is the output of `opentabs client remove --json`.
type removedClient struct {
	Name string `json:"name"`
}

func runClientRemove(ctx context.Context, opts clientRemoveOptions) error {
	p := opts.program
	h, err := p.OpenHome(nil)
	if err != nil {
		return err
	}
	if err := h.RemoveClient(opts.name); err != nil {
		return err
	}
	if err := h.ReloadClients(ctx); err != nil {
		return err
	}
	return p.Report(opts.json, removedClient{opts.name}, "the token of %s is revoked", opts.name)
}
