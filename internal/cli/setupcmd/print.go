package setupcmd

import (
	"errors"
	"fmt"
	"strings"

	"opentabs/internal/clienttoken"
	"opentabs/internal/setup"
)

// plannedSetup is the output of `opentabs setup --print --json`.
type plannedSetup struct {
	Clients []plannedClient `json:"clients"`
	// Command starts opentabs from any MCP client that setup does not support.
	Command plannedCommand `json:"command"`
}

// plannedClient describes how setup would change the configuration of an MCP client.
type plannedClient struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	File  string `json:"file"`
	// IsSetUp is true if setup would not change the configuration.
	IsSetUp bool   `json:"set_up"`
	Diff    string `json:"diff,omitempty"`
	Error   string `json:"error,omitempty"`
	// The field Lines contains the lines of configuration that the user can add by hand
	// if setup cannot change the client's file. Place describes where in the file the
	// lines belong if the file has other MCP servers on one line.
	Lines string `json:"lines,omitempty"`
	Place string `json:"place,omitempty"`
}

// plannedCommand is a program with its arguments.
type plannedCommand struct {
	Path string   `json:"path"`
	Args []string `json:"args"`
}

func (s *clientSteps) printJSON(clients []setup.Client) error {
	command, err := serverCommand(s.home, s.program.Getenv, clienttoken.Placeholder)
	if err != nil {
		return err
	}
	output := plannedSetup{[]plannedClient{}, plannedCommand{command.Path, command.Args}}
	for _, c := range clients {
		client := plannedClient{ID: c.ID, Title: c.Title, File: c.File}
		if change, err := s.previewChange(c); err != nil {
			client.Error = err.Error()
			if fileErr := (*setup.FileError)(nil); errors.As(err, &fileErr) {
				client.Lines, client.Place = clienttoken.MaskTokens(fileErr.ManualLines), fileErr.ManualLocation
			}
		} else {
			client.IsSetUp, client.Diff = change.isSetUp, change.diff
		}
		output.Clients = append(output.Clients, client)
	}
	return s.program.Out.PrintValue(output)
}

func (s *clientSteps) print(clients []setup.Client, asJSON bool) error {
	if asJSON {
		return s.printJSON(clients)
	}
	terminalOut := s.program.Out
	for _, c := range clients {
		change, err := s.previewChange(c)
		switch {
		case err != nil:
			terminalOut.Notef("%s: %v", c.Title, err)
			s.printManualSteps(c, err)
		case change.isSetUp:
			terminalOut.PrintLine("%s is set up already", c.Title)
		default:
			terminalOut.PrintLine("%s", c.Title)
			terminalOut.PrintText(change.diff)
		}
	}
	command, err := serverCommand(s.home, s.program.Getenv, clienttoken.Placeholder)
	if err != nil {
		return err
	}
	terminalOut.PrintLine("Any other client that starts MCP servers")
	terminalOut.PrintText(fmt.Sprintf("  command    %s\n  arguments  %s\n  A client that supports only HTTP: run `opentabs client add NAME`.", command.Path, strings.Join(command.Args, " ")))
	return nil
}

func (s *clientSteps) printManualSteps(c setup.Client, err error) {
	var fileErr *setup.FileError
	if !s.printsLines || !errors.As(err, &fileErr) || fileErr.ManualLines == "" {
		return
	}
	terminalOut := s.program.Out
	locationText := "in " + c.File
	if fileErr.ManualLocation != "" {
		locationText = fileErr.ManualLocation + ", " + locationText
	}
	terminalOut.PrintLine("To add opentabs to %s by hand, write %s:\n", c.Title, locationText)
	terminalOut.PrintText(clienttoken.MaskTokens(fileErr.ManualLines))
	terminalOut.PrintLine("\nReplace %s by the token that `opentabs client add %s` prints.", clienttoken.Placeholder, c.ID)
}

// plannedUndo is the output of `opentabs setup --undo --json`, with or without --print.
type plannedUndo struct {
	Clients []undoneClient `json:"clients"`
}

// undoneClient describes what undo would do, or has done, for a client.
type undoneClient struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	File  string `json:"file"`
	// Action is how the configuration file would change, or empty for no change.
	Action setup.UndoAction `json:"action,omitempty"`
	// RevokesToken is true if undo would revoke the token of the MCP client.
	RevokesToken bool   `json:"revokes_token"`
	Diff         string `json:"diff,omitempty"`
	Error        string `json:"error,omitempty"`
	undoPlanText string
	err          error
}

func (c undoneClient) isRelevant() bool {
	return c.Action != setup.UndoNothing || c.RevokesToken || c.err != nil
}

func (s *clientSteps) printUndo(clients []setup.Client, asJSON bool) error {
	output := plannedUndo{Clients: []undoneClient{}}
	for _, c := range clients {
		if client := s.planUndo(c); client.isRelevant() {
			output.Clients = append(output.Clients, client)
		}
	}
	terminalOut := s.program.Out
	if asJSON {
		return terminalOut.PrintValue(output)
	}
	for _, c := range output.Clients {
		if c.err != nil {
			terminalOut.Notef("%s: %v", c.Title, c.err)
		}
		if c.undoPlanText != "" {
			terminalOut.PrintLine("%s: %s", c.Title, c.undoPlanText)
		}
		if c.Diff != "" {
			terminalOut.PrintText(c.Diff)
		}
		if c.RevokesToken {
			terminalOut.PrintLine("%s: undo revokes the token of the client", c.Title)
		}
	}
	if len(output.Clients) == 0 {
		terminalOut.Notef(nothingToUndo)
	}
	return nil
}

func (s *clientSteps) planUndo(c setup.Client) undoneClient {
	client := undoneClient{ID: c.ID, Title: c.Title, File: c.File}
	plan, err := s.writer.PlanUndo(c)
	if err == nil {
		client.File, client.Action, client.undoPlanText, client.Diff = plan.File, plan.Action, plan.Plan(), clienttoken.MaskTokens(plan.Diff())
		if !plan.KeepsToken {
			client.RevokesToken, err = s.hasToken(c)
		}
	}
	if err != nil {
		client.err, client.Error = err, err.Error()
	}
	return client
}
