package setupcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"opentabs/internal/cli"
	"opentabs/internal/clienttoken"
	"opentabs/internal/home"
	"opentabs/internal/setup"
	"opentabs/internal/terminal"
)

// clientSteps are the steps of setup that configure MCP clients, one client after the
// other.
type clientSteps struct {
	program *cli.Program
	home    *home.Home
	writer  setup.Writer
	// questions is nil without a terminal.
	questions *terminal.Questions
	yes       bool
}

// fallbackTitle is the name of the first call's MCP client if no client is set up.
const fallbackTitle = "an MCP client"

// tokenPlaceholder replaces a token in the changes that setup shows.
const tokenPlaceholder = clienttoken.Prefix + "..."

// setUp sets up all clients. After a failure, setUp continues with the next client.
func (s *clientSteps) setUp(ctx context.Context, clients []setup.Client) error {
	if len(clients) == 0 {
		s.program.Out.Notef("setup found none of the MCP clients that it supports: %s; `opentabs setup --client NAME` sets up one of them, and `opentabs setup --print` shows what other clients need", strings.Join(clientIDs(), ", "))
	}
	var failures []error
	for _, c := range clients {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.setUpOne(ctx, c); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", c.Title, err))
		}
	}
	return errors.Join(failures...)
}

func (s *clientSteps) setUpOne(ctx context.Context, c setup.Client) error {
	out := s.program.Out
	isKnown, err := s.isSetUp(c)
	if err != nil {
		return err
	}
	if isKnown {
		out.Notef("%s is set up already", c.Title)
		return nil
	}
	preview, err := s.change(c, tokenPlaceholder)
	if err != nil {
		return err
	}
	if !s.yes {
		out.PrintText(preview.Diff())
		isConfirmed := s.questions.Confirm(ctx, fmt.Sprintf("Add opentabs to %s? [Y/n] ", c.Title))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !isConfirmed {
			out.Notef("%s stays as it is", c.Title)
			return nil
		}
	}
	token, isNew, err := s.tokenFor(ctx, c)
	if err != nil {
		return err
	}
	change, err := s.change(c, token)
	if err != nil {
		return err
	}
	backup, err := s.writer.Write(change)
	if err != nil && isNew {
		err = errors.Join(err, s.home.RemoveClient(c.ID))
	}
	if err != nil {
		return err
	}
	out.Notef("%s: opentabs is in %s", c.Title, c.File)
	if backup != "" {
		out.Notef("%s: the earlier content is in %s", c.Title, backup)
	}
	command, err := commandOf(s.home, s.program.Getenv, token)
	if err != nil {
		return err
	}
	toolCount, err := setup.Verify(ctx, command)
	if err != nil {
		return fmt.Errorf("the configuration of the client is written, but %s mcp does not work: %w; run `opentabs doctor`", command.Path, err)
	}
	out.Notef("%s: the server answers and lists %d tools. %s", c.Title, toolCount, c.RestartNote)
	return nil
}

// isSetUp reports whether the configuration of a client starts this opentabs with a valid
// token.
func (s *clientSteps) isSetUp(c setup.Client) (bool, error) {
	token := setup.CurrentToken(c, clienttoken.Prefix)
	if token == "" || s.tokens().NameOf(token) != c.ID {
		return false, nil
	}
	change, err := s.change(c, token)
	return err == nil && change.IsEmpty(), err
}

func (s *clientSteps) change(c setup.Client, token string) (setup.Change, error) {
	command, err := commandOf(s.home, s.program.Getenv, token)
	if err != nil {
		return setup.Change{}, err
	}
	return setup.NewChange(c, command)
}

// tokenFor returns the token in the configuration of a client if that token is valid.
// Otherwise tokenFor creates a new token, which replaces the earlier token of the client.
func (s *clientSteps) tokenFor(ctx context.Context, c setup.Client) (token string, isNew bool, err error) {
	if token = setup.CurrentToken(c, clienttoken.Prefix); token != "" && s.tokens().NameOf(token) == c.ID {
		return token, false, nil
	}
	if err := s.removeToken(c); err != nil {
		return "", false, err
	}
	if token, err = s.home.AddClient(c.ID); err != nil {
		return "", false, err
	}
	return token, true, s.home.ReloadClients(ctx)
}

// firstCaller returns the first client that is set up, with the command in its
// configuration. If no client is set up, firstCaller returns the command `opentabs mcp`.
func (s *clientSteps) firstCaller(clients []setup.Client) (caller, error) {
	for _, c := range clients {
		configured, err := setup.ReadConfigured(c, clienttoken.Prefix)
		if err == nil && configured.Command.Path != "" && s.tokens().NameOf(configured.Token()) == c.ID {
			return caller{title: c.Title, command: configured.Command}, nil
		}
	}
	command, err := commandOf(s.home, s.program.Getenv, "")
	return caller{title: fallbackTitle, command: command}, err
}

// tokens returns the store with the tokens of MCP clients.
func (s *clientSteps) tokens() *clienttoken.Store { return clienttoken.Open(s.home.ClientsFile()) }

// removeToken removes the token of a client. A client without a token is not an error.
func (s *clientSteps) removeToken(c setup.Client) error {
	clients, err := s.tokens().List()
	if err != nil || !slices.ContainsFunc(clients, func(known clienttoken.Client) bool { return known.Name == c.ID }) {
		return err
	}
	return s.home.RemoveClient(c.ID)
}

// plannedSetup is the output of `opentabs setup --print --json`.
type plannedSetup struct {
	Clients []plannedClient `json:"clients"`
	// Command is the command with which any other client starts opentabs.
	Command plannedCommand `json:"command"`
}

// plannedClient describes how setup would change the configuration of a client.
type plannedClient struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	File  string `json:"file"`
	Diff  string `json:"diff,omitempty"`
	Error string `json:"error,omitempty"`
}

// plannedCommand is a program with its arguments.
type plannedCommand struct {
	Path string   `json:"path"`
	Args []string `json:"args"`
}

// printJSON prints the planned changes of each client's configuration, and the command
// for any other client.
func (s *clientSteps) printJSON(clients []setup.Client) error {
	command, err := commandOf(s.home, s.program.Getenv, tokenPlaceholder)
	if err != nil {
		return err
	}
	planned := plannedSetup{[]plannedClient{}, plannedCommand{command.Path, command.Args}}
	for _, c := range clients {
		client := plannedClient{ID: c.ID, Title: c.Title, File: c.File}
		if change, err := s.change(c, tokenPlaceholder); err != nil {
			client.Error = err.Error()
		} else {
			client.Diff = change.Diff()
		}
		planned.Clients = append(planned.Clients, client)
	}
	return s.program.Out.PrintValue(planned)
}

// print prints the planned changes of each client's configuration, and what any other
// client needs.
func (s *clientSteps) print(clients []setup.Client, asJSON bool) error {
	if asJSON {
		return s.printJSON(clients)
	}
	out := s.program.Out
	for _, c := range clients {
		change, err := s.change(c, tokenPlaceholder)
		if err != nil {
			out.Notef("%s: %v", c.Title, err)
			continue
		}
		out.PrintLine("%s", c.Title)
		out.PrintText(change.Diff())
	}
	command, err := commandOf(s.home, s.program.Getenv, tokenPlaceholder)
	if err != nil {
		return err
	}
	out.PrintLine("Any other client that starts MCP servers")
	out.PrintText(fmt.Sprintf("  command    %s\n  arguments  %s\n  A client that supports only HTTP: run `opentabs client add NAME`.", command.Path, strings.Join(command.Args, " ")))
	return nil
}

// undo removes opentabs from the configurations of the clients.
func (s *clientSteps) undo(ctx context.Context, clients []setup.Client) error {
	out := s.program.Out
	var failures []error
	undone := 0
	for _, c := range clients {
		sentence, err := s.writer.Undo(c)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", c.Title, err))
			continue
		}
		if sentence != "" {
			undone++
			out.Notef("%s: %s", c.Title, sentence)
		}
		failures = append(failures, s.removeToken(c))
	}
	if undone == 0 && errors.Join(failures...) == nil {
		out.Notef("no client is set up, so there is nothing to undo")
	}
	return errors.Join(append(failures, s.home.ReloadClients(ctx))...)
}
