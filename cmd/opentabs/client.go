package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/clienttoken"
)

func newClientCmd(p *program) *cobra.Command {
	return groupCommands(&cobra.Command{
		Use:   "client",
		Short: "Manage the tokens of MCP clients that connect over HTTP",
		Long: `Manage the tokens of MCP clients that connect over HTTP. Each client has a
separate token, which gives access to /mcp only: calls carry the name of their
client, and you can revoke one token without the others. A client that can start
a program needs no token: let it start "opentabs mcp".`,
		Example: "  opentabs client add laptop\n  opentabs client list\n  opentabs client remove laptop",
	}, newClientAddCmd(p), newClientListCmd(p), newClientRemoveCmd(p))
}

type clientAddOptions struct {
	program *program
	name    string
	json    bool
}

func newClientAddCmd(p *program) *cobra.Command {
	opts := clientAddOptions{program: p}
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Create a token for an MCP client and print it once",
		Long: `Create a token for an MCP client and print it, with the URL and the header that
the client needs. opentabs stores only a hash of the token and cannot print it
again. If the token is lost, remove the client and add it again.`,
		Example: "  opentabs client add laptop\n  opentabs client add laptop --json",
		Args:    requireArgs(1, "the name of the client"),
		RunE:    actionWithArg(&opts.name, func(ctx context.Context) error { return runClientAdd(ctx, opts) }),
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// addedClient is what `client add --json` prints.
type addedClient struct {
	Name   string `json:"name"`
	Token  string `json:"token"`
	URL    string `json:"url"`
	Header string `json:"header"`
}

func runClientAdd(ctx context.Context, opts clientAddOptions) error {
	p := opts.program
	h, err := p.openHome(nil)
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
		return errors.Join(p.out.PrintValue(clientJSON), reloadErr)
	}
	p.out.PrintText(fmt.Sprintf(`The token of the MCP client %s. It is shown only this once:

  %s

Configure the client for Streamable HTTP with
  URL     %s
  header  %s

The token gives access to /mcp only. Revoke it with: opentabs client remove %[1]s`, clientJSON.Name, clientJSON.Token, clientJSON.URL, clientJSON.Header))
	if port == 0 {
		p.out.Notef("the port is 0, so the server selects a port when it starts: set a port, or see the port with `opentabs status`")
	}
	return reloadErr
}

type clientListOptions struct {
	program *program
	json    bool
}

func newClientListCmd(p *program) *cobra.Command {
	opts := clientListOptions{program: p}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the MCP clients that have a token",
		Long: `List the MCP clients that have a token: the beginning of the token, when it was
made and when it was last used (to a minute). The tokens themselves are not
stored, so they cannot be listed.`,
		Example: "  opentabs client list\n  opentabs client list --json",
		Args:    limitArgs(0),
		RunE:    func(*cobra.Command, []string) error { return runClientList(opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runClientList(opts clientListOptions) error {
	p := opts.program
	dirs, err := p.makeDirs()
	if err != nil {
		return err
	}
	clients, err := clienttoken.Open(dirs.ClientsFile()).List()
	if err != nil {
		return err
	}
	if opts.json {
		return p.out.PrintValue(clients)
	}
	if len(clients) == 0 {
		p.out.Notef("no client has a token; make one with `opentabs client add NAME`")
		return nil
	}
	rows := [][]string{{"NAME", "TOKEN", "CREATED", "LAST USED"}}
	for _, c := range clients {
		lastUsed := "never"
		if !c.LastUsed.IsZero() {
			lastUsed = c.LastUsed.Local().Format(time.DateTime)
		}
		rows = append(rows, []string{c.Name, c.FirstChars + "...", c.Created.Local().Format(time.DateTime), lastUsed})
	}
	p.out.PrintTable("", rows)
	return nil
}

type clientRemoveOptions struct {
	program *program
	name    string
}

func newClientRemoveCmd(p *program) *cobra.Command {
	opts := clientRemoveOptions{program: p}
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Revoke the token of an MCP client",
		Long: `Revoke the token of an MCP client. Its sessions, streams, calls and jobs end at
once, and its next request is refused.`,
		Example: "  opentabs client remove laptop",
		Args:    requireArgs(1, "the name of the client"),
		RunE:    actionWithArg(&opts.name, func(ctx context.Context) error { return runClientRemove(ctx, opts) }),
	}
}

func runClientRemove(ctx context.Context, opts clientRemoveOptions) error {
	p := opts.program
	h, err := p.openHome(nil)
	if err != nil {
		return err
	}
	if err := h.RemoveClient(opts.name); err != nil {
		return err
	}
	if err := h.ReloadClients(ctx); err != nil {
		return err
	}
	p.out.Notef("the token of %s is revoked", opts.name)
	return nil
}
