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

// clientSteps are the steps of `opentabs setup` that configure MCP clients.
type clientSteps struct {
	program *cli.Program
	home    *home.Home
	writer  setup.Writer
	// The field questions is nil if stdin is not a terminal.
	questions   *terminal.QuestionReader
	yes         bool
	printsLines bool
	result      *setupResult
}

const unknownClientTitle = "an MCP client"

func (s *clientSteps) setUpClients(ctx context.Context, clients []setup.Client) error {
	if len(clients) == 0 {
		s.program.Out.Notef("setup found none of the MCP clients that it supports: %s; `opentabs setup --client NAME` sets up one of them, and `opentabs setup --print` shows what other clients need", strings.Join(setup.ClientIDs(), ", "))
	}
	var failures []error
	for _, c := range clients {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		result := newClientResult(c)
		err := s.setUpClient(ctx, c, &result)
		if err != nil {
			result.State, result.Error = clientFailed, err.Error()
		}
		s.result.Clients = append(s.result.Clients, result)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", c.Title, err))
			s.printManualSteps(c, err)
		}
	}
	return errors.Join(failures...)
}

func (s *clientSteps) setUpClient(ctx context.Context, c setup.Client, result *clientResult) error {
	terminalOut := s.program.Out
	preview, err := s.previewChange(c)
	if err != nil {
		return err
	}
	if preview.isSetUp {
		result.State = clientUnchanged
		terminalOut.Notef("%s is set up already", c.Title)
		return nil
	}
	if !s.yes {
		terminalOut.PrintText(preview.diff)
		isConfirmed := s.questions.Confirm(ctx, fmt.Sprintf("Add opentabs to %s? [Y/n] ", c.Title))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !isConfirmed {
			result.State = clientDeclined
			terminalOut.Notef("%s stays as it is", c.Title)
			return nil
		}
	}
	token, backup, err := s.write(ctx, c)
	if err != nil {
		return err
	}
	if token == "" { // another setup process created the token first
		result.State = clientUnchanged
		terminalOut.Notef("%s is set up already", c.Title)
		return nil
	}
	result.State, result.Backup = clientWritten, backup
	terminalOut.Notef("%s: opentabs is in %s", c.Title, c.File)
	if backup != "" {
		terminalOut.Notef("%s: the earlier content is in %s", c.Title, backup)
	}
	command, err := serverCommand(s.home, s.program.Getenv, token)
	if err != nil {
		return err
	}
	toolCount, err := setup.Verify(ctx, command)
	if err != nil {
		return fmt.Errorf("the configuration of the client is written, but %s mcp does not work: %w; run `opentabs doctor`", command.Path, err)
	}
	result.ToolCount = toolCount
	terminalOut.Notef("%s: the server answers and lists %d tools. %s", c.Title, toolCount, c.RestartNote)
	return nil
}

// The method write waits while another setup process writes the configuration. If the configuration changed meanwhile,
// the method write returns an empty token.
func (s *clientSteps) write(ctx context.Context, c setup.Client) (token, backup string, err error) {
	unlock, err := s.writer.Lock()
	if err != nil {
		return "", "", err
	}
	defer unlock()
	if preview, err := s.previewChange(c); err != nil || preview.isSetUp {
		return "", "", err
	}
	token, isNew, err := s.tokenFor(ctx, c)
	if err != nil {
		return "", "", err
	}
	change, err := s.change(c, token)
	if err == nil {
		backup, err = s.writer.Write(change)
	}
	if err != nil && isNew {
		err = errors.Join(err, s.home.RemoveClient(c.ID))
	}
	return token, backup, err
}

// The type changePreview describes what setup would change in the configuration of an MCP
// client.
type changePreview struct {
	isSetUp bool
	// The field diff is the planned change as a unified diff with masked tokens.
	diff string
}

func (s *clientSteps) previewChange(c setup.Client) (changePreview, error) {
	token := s.validToken(c)
	if token == "" {
		change, err := s.change(c, clienttoken.Placeholder)
		return changePreview{diff: clienttoken.MaskTokens(change.Diff())}, err
	}
	change, err := s.change(c, token)
	if err != nil || change.IsEmpty() {
		return changePreview{isSetUp: err == nil}, err
	}
	return changePreview{diff: clienttoken.MaskTokens(change.Diff())}, nil
}

func (s *clientSteps) validToken(c setup.Client) string {
	token := setup.FindClientToken(c, clienttoken.Prefix)
	if token == "" || s.tokens().NameOf(token) != c.ID {
		return ""
	}
	return token
}

func (s *clientSteps) change(c setup.Client, token string) (setup.Change, error) {
	command, err := serverCommand(s.home, s.program.Getenv, token)
	if err != nil {
		return setup.Change{}, err
	}
	return setup.PlanChange(c, command)
}

// tokenFor returns a valid token from the configuration, or creates a token and revokes the client's earlier one.
func (s *clientSteps) tokenFor(ctx context.Context, c setup.Client) (token string, isNew bool, err error) {
	if token = s.validToken(c); token != "" {
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

// If no client is set up, findCallingClient returns the command `opentabs mcp`.
func (s *clientSteps) findCallingClient(clients []setup.Client) (callingClient, error) {
	for _, c := range clients {
		configured, err := setup.ReadConfigured(c, clienttoken.Prefix)
		if err == nil && configured.Command.Path != "" && s.tokens().NameOf(configured.Token()) == c.ID {
			return callingClient{title: c.Title, command: configured.Command}, nil
		}
	}
	command, err := serverCommand(s.home, s.program.Getenv, "")
	return callingClient{title: unknownClientTitle, command: command}, err
}

func (s *clientSteps) tokens() *clienttoken.Store { return clienttoken.Open(s.home.ClientsFile()) }

func (s *clientSteps) hasToken(c setup.Client) (bool, error) {
	clients, err := s.tokens().List()
	return slices.ContainsFunc(clients, func(knownClient clienttoken.Client) bool { return knownClient.Name == c.ID }), err
}

func (s *clientSteps) removeToken(c setup.Client) error {
	hasToken, err := s.hasToken(c)
	if err != nil || !hasToken {
		return err
	}
	return s.home.RemoveClient(c.ID)
}

const nothingToUndo = "no client is set up, so there is nothing to undo"

func (s *clientSteps) undo(ctx context.Context, clients []setup.Client, asJSON bool) error {
	terminalOut := s.program.Out
	var failures []error
	undoneCount, results := 0, plannedUndo{Clients: []undoneClient{}}
	for _, c := range clients {
		result, undoReport, err := s.undoClient(c)
		if result.isRelevant() {
			results.Clients = append(results.Clients, result)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", c.Title, err))
			continue
		}
		if undoReport != "" {
			undoneCount++
			terminalOut.Notef("%s: %s", c.Title, undoReport)
		}
		failures = append(failures, result.err)
	}
	if undoneCount == 0 && errors.Join(failures...) == nil {
		terminalOut.Notef(nothingToUndo)
	}
	failures = append(failures, s.home.ReloadClients(ctx))
	if asJSON {
		failures = append(failures, terminalOut.PrintValue(results))
	}
	return errors.Join(failures...)
}

// undoClient returns a sentence about the change for the user, empty if nothing changed.
func (s *clientSteps) undoClient(c setup.Client) (result undoneClient, undoReport string, err error) {
	unlock, err := s.writer.Lock()
	if err != nil {
		return undoneClient{ID: c.ID, Title: c.Title, File: c.File, err: err, Error: err.Error()}, "", err
	}
	defer unlock()
	result = s.planUndo(c)
	if undoReport, err = s.writer.Undo(c); err != nil {
		result.err, result.Error = err, err.Error()
	} else if result.RevokesToken {
		result.err = errors.Join(result.err, s.removeToken(c))
	}
	return result, undoReport, err
}
